"""A dead server is the cause of a failed trial also where its connections ended a moment before its process."""

import itertools
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from scale_sweep.base.errors import ProvisionError, TargetError
from scale_sweep.measure.trial import waiting
from scale_sweep.measure.trial.waiting import with_cause
from scale_sweep.server.runtimes.cgroup import Group, OutOfMemory, limit_memory, read_out_of_memory
from scale_sweep.server.runtimes.docker_engine import accounting_of, refuse_unpublished

CLOSED = TargetError("it did not answer: Remote end closed connection")
TRIAL = SimpleNamespace(resources=SimpleNamespace(memory_bytes=64 * 2**20))
ORDER = SimpleNamespace(disks=(), disk_free_min_bytes=0, trial=TRIAL, level_words="2 cores")
LOG = "started\nwarned\nwarned again\njava.lang.OutOfMemoryError: Java heap space\n"


def server(questions, *killed, code=None):
    """Alive for so many questions. killed: the processes that each question finds, the last one for ever."""
    counts = [OutOfMemory(killed=count, at_limit=1200 if count > 1 else 0) for count in killed or (0,)]
    alive = itertools.chain([True] * questions, itertools.repeat(False))
    memory = itertools.chain(counts, itertools.repeat(counts[-1]))
    return SimpleNamespace(
        alive=lambda: next(alive),
        out_of_memory=lambda: next(memory),
        exit_code=lambda: code,
        log_tail=lambda lines: LOG,
    )


def told(server):
    """The words of a cause that is the server's own."""
    cause = with_cause(CLOSED, server, ORDER)
    assert isinstance(cause, ProvisionError) and CLOSED.message in cause.message
    return cause.message


def test_a_server_that_dies_is_the_cause_and_its_last_words_say_how_and_why(wording, monkeypatch):
    assert told(server(0)) == told(server(2))
    wording(*(told(server(0, code=code)) for code in (None, -9, -11, 1)))
    monkeypatch.setattr(waiting, "ENDING_S", 0.1)
    assert with_cause(CLOSED, server(1_000), ORDER) is CLOSED, "it lives"


def test_a_published_port_that_the_engine_has_not_is_named():
    ports = {"6030/tcp": [{"HostIp": "127.0.0.1", "HostPort": "6030"}]}
    for found in (None, {}, {"6030/tcp": None}):
        with pytest.raises(ProvisionError, match="port 6030 .*--bridge=none"):
            refuse_unpublished(SimpleNamespace(attrs={"NetworkSettings": {"Ports": found}}), (6030,))
    refuse_unpublished(SimpleNamespace(attrs={"NetworkSettings": {"Ports": ports}}), (6030,))


def test_a_lack_of_memory_comes_first_with_the_limit_the_level_and_the_remedy(wording):
    assert told(server(0, 2)) == told(server(1_000, 2)), "also when the server survives"
    wording(told(server(0, 2)), told(server(0, 0, 1)))


def test_a_process_that_is_ending_has_no_group_that_the_machine_shares():
    child = subprocess.Popen([sys.executable, "-c", ""])
    deadline = time.monotonic() + 50
    while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    found = accounting_of(child.pid)
    child.wait()
    shared = [Path("/sys/fs/cgroup", name) for name in ("cpuacct", "cpu", "memory", "")]
    assert found is None or not {Path(path) for path in found.paths.values()} & set(shared)


def test_both_versions_of_control_groups_count_what_was_killed(tmp_path):
    (tmp_path / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
    (tmp_path / "memory.failcnt").write_text("12\n")
    (tmp_path / "memory.events").write_text("low 0\nhigh 0\nmax 41\noom 1\noom_kill 2\noom_group_kill 0\n")
    assert read_out_of_memory({"memory": str(tmp_path)}) == OutOfMemory(killed=3, at_limit=12)
    assert read_out_of_memory({"unified": str(tmp_path)}) == OutOfMemory(killed=2, at_limit=41)
    assert read_out_of_memory({"memory": str(tmp_path / "gone")}) == read_out_of_memory({}) == OutOfMemory()


def test_a_limit_is_read_back_and_swap_is_closed(tmp_path, monkeypatch):
    group = Group(version="v2", paths={"unified": str(tmp_path)})
    for name in ("memory.max", "memory.swap.max"):
        (tmp_path / name).touch()
    limit_memory(group, 64 * 2**20)
    assert (tmp_path / "memory.swap.max").read_text() == "0"
    (tmp_path / "memory.swap.max").unlink()
    monkeypatch.setattr("scale_sweep.server.runtimes.cgroup._has_swap", lambda: True)
    with pytest.raises(ProvisionError, match="limit of swap"):
        limit_memory(group, 64 * 2**20)
