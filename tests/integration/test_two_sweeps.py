"""Two sweeps at once on one machine: each names the other as a sweep of `scale`, with the path of its run."""

import json
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
