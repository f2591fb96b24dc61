"""Two sweeps at once name each other, and of two writers of one run one is refused."""

import json
import os
import signal

import pytest

from tests.integration.cli import run, start, waited_for

SWEEP = ("sweep", "cpu", "--target", "null", "--cores", "0.5", "--drift-check", "off", "--duration", "2s")
ON = {"SCALE_OTHER_SWEEPS": "on"}
QUICKLY = ("--warmup", "0s", "--window-max", "0", "--connections-check", "off", "--no-metrics", "--json", "-y")


def standing(folder, name, replicates):
    """A sweep that stands still with its run begun, and the run."""
    process = start(*SWEEP, *QUICKLY, "--replicates", replicates, "--results", name, cwd=folder, **ON)
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
    done = run(*SWEEP, *QUICKLY, "--replicates", "1", "--results", "second", cwd=tmp_path, **ON)
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


def test_a_run_has_one_writer_and_the_second_is_refused(sweep, tmp_path):
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
