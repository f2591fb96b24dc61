"""Searches on real servers: rows of all steps are counted, a killed search begins again, `verify` agrees."""

import json
import os
import signal

import pytest

from tests.integration.cli import assert_measured, assert_nothing_left, ours_running, run, start, waited_for
from tests.needs import needs

STEPS_LEAST = 6  # of a machine that is not left alone
SHORT = ("--quick", "--replicates", "1", "--duration", "1s", "--warmup", "1s", "--results", "r")
SEARCH = ("sweep", "cpu", "--cores", "0.5,1", "--target", "postgres", "--runtime", "process", "--slo", "p95 < 100ms")


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]


def assert_searched(folder):
    """Every row of every step was counted; the verdict says which rate held, or why none is known."""
    result = json.loads((folder / "trial.json").read_text())
    m, verdict = result["measurement"], result["verdict"]
    loads = [lines_of(path)[-1] for path in (folder / "loadgen.jsonl", *sorted(folder.glob("step-*.jsonl")))]
    assert len(loads) == 1 + len(m["steps"]) >= 1 + STEPS_LEAST, verdict
    assert m["rows_acked"] == sum(load["rows_acked"] for load in loads)
    assert verdict["kind"] not in ("ABORTED", "LOST_ROWS", "WRONG_ROWS", "WRONG_ANSWER", "ERRORS"), verdict
    assert m["capacity_per_s"] is None and verdict["reasons"][0].startswith("no capacity"), verdict
    if verdict["kind"] == "VALID":
        assert "held for 1 s" in verdict["reasons"][0]
        assert sum(step["usable"] for step in m["steps"]) >= 8
    return result


@pytest.mark.timeout(600)  # about 130 s on a quiet machine, where every search has all its steps
def test_a_killed_search_begins_again_and_finished_levels_stay(tmp_path, data_dir, only_cleaner):
    process = start(*SEARCH, *SHORT, "--data-dir", str(data_dir), cwd=tmp_path)
    (done,) = waited_for(lambda: list(tmp_path.glob("r/*/trials/*/trial.json")), 240)
    first = done.read_bytes()
    run_dir = done.parents[2]
    other = waited_for(lambda: [p for p in run_dir.glob("trials/*/step-02.jsonl") if p.parent != done.parent], 240)[0]
    killed_rates = [line["rate"] for line in lines_of(other.parent / "journal.jsonl") if line["event"] == "step"]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    waited_for(lambda: not ours_running(data_dir))
    assert not (other.parent / "trial.json").exists() and len(killed_rates) >= 2

    again = run("resume", "last", "--results", "r", cwd=tmp_path, timeout_s=400)
    assert_measured(again)
    assert done.read_bytes() == first, "a finished level stays"
    searches = [assert_searched(folder) for folder in (done.parent, other.parent)]
    assert all(s["measurement"]["rows_counted"] == s["measurement"]["rows_acked"] > 0 for s in searches)
    started = [line for line in lines_of(other.parent / "journal.jsonl") if line["event"] == "step"]
    assert len(started) == len(searches[1]["measurement"]["steps"]), "the journal is of the second search alone"

    assert not list(run_dir.glob("trials/*confirm*")), "there is no capacity to confirm"
    verified = run("verify", "last", "--results", "r", cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    report = (run_dir / "report.html").read_text()
    assert "Each search" in report and report.count('data-name="search-') == 2
    assert run("clean", "--data-dir", str(data_dir), cwd=tmp_path).returncode == 0  # after the kill
    assert_nothing_left(data_dir)


@needs("victoria-metrics")
def test_a_mix_of_writes_and_reads_holds_the_limit_of_one_operation(tmp_path, data_dir):
    mix = ("--mix", "write=9,range=1", "--preload", "100k", "--step-ms", "10000", "--operation", "range.span=1h")
    limits = ("--slo", "range.p95 < 60ms, p95 < 100ms, errors < 1%", "--confirm", "off")
    words = ("sweep", "cpu", "--cores", "1", "--target", "victoriametrics", *mix, *limits, *SHORT)
    done = run(*words, "--data-dir", str(data_dir), cwd=tmp_path)
    assert_measured(done)
    (trial,) = tmp_path.glob("r/*/trials/*/trial.json")
    result = assert_searched(trial.parent)
    assert set(result["measurement"]["steps"][0]["values"]) == {"range.p95", "p95", "errors"}
    assert result["measurement"]["rows_counted"] == result["measurement"]["rows_acked"] + 100_000
    assert run("verify", "last", "--results", "r", cwd=tmp_path).returncode == 0
    assert_nothing_left(data_dir)
