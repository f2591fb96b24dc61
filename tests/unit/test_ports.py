"""A server's port: with room for its further doors, and none that an outgoing connection could be given meanwhile."""

import resource
import socket
from pathlib import Path

import pytest

from scale_sweep.base.errors import ProvisionError
from scale_sweep.server.runtimes import local


def test_a_free_port_has_free_ports_behind_it_below_those_of_outgoing_connections():
    for _ in range(20):
        port = local.free_port()
        assert port + local.SERVER_PORTS <= int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
        for one in range(port, port + local.SERVER_PORTS):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", one))


def test_ports_of_which_one_is_taken_are_passed_over_until_none_is_free(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        tried = iter([port - 3, 12_345])
        monkeypatch.setattr(local.random, "randrange", lambda *_: next(tried))
        assert local.free_port() == 12_345
        monkeypatch.setattr(local.random, "randrange", lambda *_: port)
        with pytest.raises(ProvisionError, match="free TCP ports"):
            local.free_port()


def test_too_many_open_files_are_not_taken_for_ports_in_use():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (local.SERVER_PORTS, hard))
    try:
        with pytest.raises(ProvisionError, match=rf"open files: .* {local.SERVER_PORTS} \(ulimit -n\)") as error:
            local.free_port()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert "ulimit -n" in error.value.remedy
