"""Controllers of cgroup v2 stay on while a run needs them, with a stand-in for systemd-run."""

from __future__ import annotations

import os

import pytest

from scale_sweep.server.runtimes import controllers
from scale_sweep.server.runtimes.cgroup import Group, pin

STARTS = 'while [ "$1" != setpriv ]; do shift; done; echo "cpu memory" >{base}/cgroup.subtree_control; exec "$@"'


@pytest.fixture
def base(tmp_path, monkeypatch):
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (tmp_path / "cgroup.subtree_control").write_text("memory pids\n")
    monkeypatch.setattr(controllers, "_SYSTEMD", tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def systemd_run(base, does):
    path = base / "systemd-run"
    path.write_text(f"#!/bin/sh\n{does.format(base=base)}\n")
    path.chmod(0o755)


def test_one_idle_unit_keeps_them_until_this_process_ends(base):
    systemd_run(base, STARTS)
    controllers.enable_controllers(base)
    keeper = controllers._keep(base)
    try:
        assert keeper.poll() is None
        (base / "cgroup.subtree_control").write_text("cpu memory\n")
        controllers.enable_controllers(base)
        assert controllers._keep(base) is keeper
    finally:
        keeper.kill()
        keeper.wait()


@pytest.mark.parametrize("enabled", ["memory", "cpuset memory"])
def test_cpuset_stays_as_it_is(base, enabled):
    (base / "cgroup.subtree_control").write_text(enabled)
    systemd_run(base, f'echo "$@" >{{base}}/asked; {STARTS}')
    controllers.enable_controllers(base)
    keeper = controllers._keep(base)
    keeper.kill()
    keeper.wait()
    assert ("cpuset" in (base / "asked").read_text()) == ("cpuset" in enabled)


def test_with_cpuset_a_group_has_the_cpus_of_its_server(tmp_path):
    group = Group(version="v2", paths={"unified": str(tmp_path)})
    pin(group, (0, 2, 3))
    assert not list(tmp_path.iterdir())  # the controller is off
    (tmp_path / "cpuset.cpus").touch()
    pin(group, (0, 2, 3))
    assert (tmp_path / "cpuset.cpus").read_text() == "0,2-3"


def test_without_such_a_unit_no_limit_is_promised(base):
    systemd_run(base, "exit 1")
    with pytest.raises(OSError, match="systemd starts no scope"):
        controllers.enable_controllers(base)


def test_without_systemd_they_are_switched_on_once(base, monkeypatch):
    monkeypatch.setattr(controllers, "_SYSTEMD", base / "none")
    control = base / "cgroup.subtree_control"
    controllers.enable_controllers(base)
    assert control.read_text() == "+cpu"  # memory is on
    control.write_text("cpu memory")
    controllers.enable_controllers(base)
    assert control.read_text() == "cpu memory"
