"""A sweep that is interrupted, killed, or loses its database: what was measured stays, and nothing else does."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil

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


def test_a_database_that_dies_aborts_its_trial_and_the_sweep_goes_on(tmp_path, data_dir):
    process = started(tmp_path, data_dir)
    waited_for(lambda: loading(tmp_path))
    time.sleep(1.5)
    for victim in psutil.process_iter(["cmdline"]):
        words = victim.info["cmdline"] or []
        if words and words[0].endswith("bin/postgres") and str(data_dir) in " ".join(words):
            victim.send_signal(signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 10, err
    results = [json.loads(p.read_text()) for p in done_trials(tmp_path)]
    kinds = sorted(r["verdict"]["kind"] for r in results)
    assert len(kinds) == 2
    assert "ABORTED" in kinds
    aborted = next(r for r in results if r["verdict"]["kind"] == "ABORTED")
    assert "the server ended during the trial" in aborted["verdict"]["reasons"][0]
    assert aborted["measurement"]["rows_per_s"] is None or aborted["measurement"]["rows_per_s"] > 0
    assert_nothing_left(data_dir)
