"""Ctrl-C twice while the server stands still: everything ends at once, and nothing is left that `clean` does not
find."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.integration.cli import run, start, waited_for
from tests.integration.leftovers import assert_nothing_left, makers_of_segments

SWEEP = ("sweep", "cpu", "--target", "postgres", "--runtime", "process", "--cores", "1", "--replicates", "1")
LOAD = ("--duration", "60s", "--warmup", "0s", "--tables", "20", "--connections-check", "off", "--no-metrics", "-y")
ENDS_S = 12.0  # before the 15 s are over in which a server may heed a signal: one that is stopped heeds none
FREEZER = Path("/sys/fs/cgroup/freezer")


def servers_of(process: subprocess.Popen) -> list[psutil.Process]:
    """PostgreSQL's processes, the first one first."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if child.name() == "postgres":
                    found.append(child)
    return sorted(found, key=lambda child: child.create_time())


@pytest.fixture
def loaded(tmp_path, data_dir):
    """A sweep whose server is under load, and the server's processes."""
    process = start(*SWEEP, *LOAD, "--results", "r", "--data-dir", str(data_dir), cwd=tmp_path)
    waited_for(lambda: list(tmp_path.glob("r/*/trials/*/spec")) and len(servers_of(process)) >= 6, process=process)
    time.sleep(1.0)
    yield process, servers_of(process)
    if process.poll() is None:
        process.kill()
        process.communicate()


def interrupted_twice(process: subprocess.Popen) -> float:
    """The seconds from the second Ctrl-C to the end of the command."""
    process.send_signal(signal.SIGINT)
    time.sleep(1.0)
    assert process.poll() is None
    second = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    return time.monotonic() - second


def test_a_second_ctrl_c_ends_a_sweep_whose_server_is_stopped(loaded, data_dir):
    process, servers = loaded
    assert servers[0].pid in makers_of_segments()
    for server in servers:
        server.send_signal(signal.SIGSTOP)
    assert interrupted_twice(process) < ENDS_S
    assert servers[0].pid not in makers_of_segments()
    assert_nothing_left(data_dir)
    assert list(data_dir.iterdir()) == []


@pytest.mark.skipif(
    not os.access(FREEZER, os.W_OK) and not os.environ.get("SCALE_REQUIRE_ROOT"),
    reason="needs a freezer of cgroup v1 and root",
)
def test_a_server_process_that_does_not_die_keeps_the_record_until_clean_finds_it_gone(loaded, data_dir, only_cleaner):
    """A frozen process of cgroup v1 does not end before it is thawed, as one that waits for a hanging disk."""
    process, servers = loaded
    frozen = FREEZER / f"frozen-{os.getpid()}"  # `scale-*test*` would be a group of a server: test_runtimes.py
    frozen.mkdir()
    try:
        (frozen / "cgroup.procs").write_text(str(servers[-1].pid))
        (frozen / "freezer.state").write_text("FROZEN")
        for server in servers:
            server.send_signal(signal.SIGSTOP)
        assert interrupted_twice(process) < ENDS_S
        assert servers[0].pid in makers_of_segments()
        assert run("clean", "--data-dir", str(data_dir), cwd=data_dir).returncode != 0
        assert servers[0].pid in makers_of_segments()
    finally:
        (frozen / "freezer.state").write_text("THAWED")
        waited_for(lambda: not (frozen / "cgroup.procs").read_text())
        frozen.rmdir()
    assert run("clean", "--data-dir", str(data_dir), cwd=data_dir).returncode == 0
    assert servers[0].pid not in makers_of_segments()
    assert list(data_dir.iterdir()) == []
