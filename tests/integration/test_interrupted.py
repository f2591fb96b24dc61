"""A sweep that is interrupted once or twice, or killed: what was measured stays, and nothing else does."""

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.integration.cli import assert_measured, run, start, waited_for
from tests.integration.leftovers import assert_nothing_left, makers_of_segments, ours_running, records_in

QUICK = "--target postgres --runtime process --duration 3s --warmup 0s --window-max 0 --tables 20 --connections-check off".split()


def started(folder: Path, data_dir: Path) -> subprocess.Popen[str]:
    return start(
        *"sweep cpu --cores 1".split(),
        *QUICK,
        *"--replicates 2 --results r --data-dir".split(),
        str(data_dir),
        cwd=folder,
    )


def done_trials(folder: Path) -> list[Path]:
    return list(folder.glob("r/*/trials/*/trial.json"))


def loading(folder: Path) -> bool:
    return any((p / "spec").exists() for p in folder.glob("r/*/trials/*") if not (p / "trial.json").exists())


def test_ctrl_c_cleans_up_keeps_what_was_measured_and_says_how_to_resume(tmp_path, data_dir):
    process = started(tmp_path, data_dir)
    waited_for(lambda: done_trials(tmp_path) and loading(tmp_path))
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "scale resume" in err
    assert "Traceback" not in err
    assert_nothing_left(data_dir)
    resumed = run("resume", "last", "--results", "r", "--json", cwd=tmp_path)
    assert_measured(resumed)
    assert len(json.loads(resumed.stdout)["trials"]) == 2


def test_kill_9_loses_at_most_the_running_trial(tmp_path, data_dir, only_cleaner):
    process = started(tmp_path, data_dir)
    waited_for(lambda: done_trials(tmp_path) and loading(tmp_path))
    before = done_trials(tmp_path)[0].read_text()
    (record,) = records_in(data_dir)
    server = record.server_pid
    assert "/dev/shm" not in Path(f"/proc/{server}/maps").read_text()
    assert server in makers_of_segments()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert run("clean", "--data-dir", str(data_dir), cwd=tmp_path).returncode == 0
    waited_for(lambda: not ours_running(data_dir), 90)
    assert server not in makers_of_segments()
    resumed = run("resume", "last", "--results", "r", "--json", cwd=tmp_path)
    assert_measured(resumed)
    assert len(json.loads(resumed.stdout)["trials"]) == 2
    assert before in [p.read_text() for p in done_trials(tmp_path)]
    assert run("verify", "last", "--results", "r", cwd=tmp_path).returncode == 0
    assert_nothing_left(data_dir)


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
