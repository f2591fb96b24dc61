"""Sweeps that are interrupted once or twice, or killed, and two at once: what was measured stays, and nothing else does."""

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.integration.cli import (
    assert_measured,
    assert_nothing_left,
    makers_of_segments,
    ours_running,
    records_in,
    run,
    start,
    waited_for,
)

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


OF_NULL = ("sweep", "cpu", "--target", "null", "--cores", "0.5", "--drift-check", "off", "--duration", "2s")
ON = {"SCALE_OTHER_SWEEPS": "on"}
QUICKLY = ("--warmup", "0s", "--window-max", "0", "--connections-check", "off", "--no-metrics", "--json", "-y")


def standing(folder, name, replicates):
    """A sweep that stands still with its run begun, and the run."""
    process = start(*OF_NULL, *QUICKLY, "--replicates", replicates, "--results", name, cwd=folder, **ON)
    found = waited_for(lambda: list(folder.glob(f"{name}/*/trials/*")), process=process)
    process.send_signal(signal.SIGSTOP)
    return process, found[0].parents[1]


@pytest.fixture
def first(tmp_path):
    folder = tmp_path / "a b\n\x1b[31m"
    folder.mkdir()
    process, path = standing(folder, "first", "2")
    yield process, path
    for number in (signal.SIGCONT, signal.SIGINT):
        process.send_signal(number)
    process.communicate(timeout=60)


def test_each_sweep_names_the_other_with_its_run(first, tmp_path):
    process, path = first
    done = run(*OF_NULL, *QUICKLY, "--replicates", "1", "--results", "second", cwd=tmp_path, **ON)
    shown = repr(str(path))
    assert f"another sweep of `scale` runs: process {process.pid}, which writes {shown}" in done.stderr
    (trial,) = json.loads(done.stdout)["trials"]
    meanwhile = f"another sweep of `scale` ran on this machine: process {process.pid}, which writes {shown}"
    assert meanwhile in trial["verdict"]["reasons"], "tests beside this one sweep too"
    second, its_path = standing(tmp_path, "third", "1")
    try:
        process.send_signal(signal.SIGCONT)
        trials = json.loads(process.communicate(timeout=120)[0])["trials"]
    finally:
        second.kill()
        second.communicate()
    said = f"another sweep of `scale` ran on this machine: process {second.pid}, which writes {str(its_path)!r}"
    assert said in trials[-1]["verdict"]["reasons"]
    assert run("verify", str(path), cwd=tmp_path).returncode == 0


WRITING = ("sweep", "cpu", "--target", "null", "--cores", "0.5", "--replicates", "3", "--drift-check", "off")
TIMES = (
    *"--duration 1s --warmup 0s --window-max 0 --rate 20k --connections-check off --no-metrics".split(),
    *"--results r -y".split(),
)


def trials(folder):
    return {path: path.read_bytes() for path in folder.glob("r/*/trials/*/trial.json")}


def status(folder):
    (row,) = json.loads(run("list", "--results", "r", "--json", cwd=folder).stdout)
    return row["status"]


@pytest.fixture
def sweep(tmp_path, data_dir):
    """A sweep of three trials with its first one done, which stands still so that its files do not change."""
    process = start(*WRITING, *TIMES, "--data-dir", str(data_dir), cwd=tmp_path)
    waited_for(lambda: trials(tmp_path), process=process)
    os.kill(process.pid, signal.SIGSTOP)
    yield process
    for number in (signal.SIGCONT, signal.SIGINT):
        process.send_signal(number)
    process.communicate(timeout=60)


def test_a_run_has_one_writer_and_the_second_is_refused(sweep, tmp_path, data_dir, only_cleaner):
    files = {path: path.read_bytes() for path in tmp_path.glob("r/**/*") if path.is_file()}
    assert status(tmp_path) == "running"
    for words in (("resume", "last"), ("report", "last")):
        refused = run(*words, "--results", "r", cwd=tmp_path)
        assert refused.returncode == 2, refused.stderr
        assert f"is being written by process {sweep.pid}, started 2" in refused.stderr
        assert "scale watch" in refused.stderr
    now = {path: path.read_bytes() for path in tmp_path.glob("r/**/*") if path.is_file()}
    changed = {path.name for path in now if now[path] != files.get(path)}
    assert changed <= {"journal.jsonl"}, "what the sweep itself writes"
    done = trials(tmp_path)
    sweep.kill()
    sweep.wait()
    assert status(tmp_path) == "interrupted"
    both = [start("resume", "last", "--results", "r", "--no-metrics", cwd=tmp_path) for _ in range(2)]
    said = [process.communicate(timeout=90)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 2], said
    assert all(trials(tmp_path)[path] == content for path, content in done.items())
    assert len(trials(tmp_path)) == 3
    assert status(tmp_path) == "complete"
    assert run("clean", "--data-dir", str(data_dir), cwd=tmp_path).returncode == 0  # after the kill
    assert_nothing_left(data_dir)
