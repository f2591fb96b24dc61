"""SIGUSR1 ends the window early, SIGUSR2 the warm-up, each with the interval that runs; the counts stay whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest
from loadgen_program import spec_text


def load(program, seconds_until_signal, number=signal.SIGUSR1, **spec):
    """The events of a load that gets the signal after so many intervals."""
    process = subprocess.Popen(
        [program, "load", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    process.stdin.write(spec_text({"driver": "null", "tables": 10, "threads": 2, "rows_per_request": 100} | spec))
    process.stdin.close()
    events, intervals = [], 0
    for line in process.stdout:
        events.append(json.loads(line))
        intervals += events[-1]["event"] == "interval"
        if events[-1]["event"] == "interval" and intervals == seconds_until_signal:
            process.send_signal(number)
    assert process.wait(timeout=60) == 0
    return events


def whole(seconds):
    """As many intervals; a signal that comes late ends a later one."""
    assert seconds == pytest.approx(round(seconds), abs=0.05)
    return round(seconds)


def assert_counted(events):
    """1,000 requests were due in each second of the window, and the intervals have those that were answered."""
    summary = events[-1]
    due = summary["requests_window"] + summary["overdue"] + summary["in_flight_at_end"]
    assert due == pytest.approx(1000 * summary["window_s"], rel=0.02)
    inside = [e["rows"] for e in events if e["event"] == "interval" and e["phase"] == "measure"]
    assert sum(inside) == pytest.approx(summary["rows_window"], rel=0.2)


def test_the_window_ends_with_the_interval_that_runs(program):
    events = load(program, 3, duration_s=20, warmup_s=1, rate=100_000)
    summary = events[-1]
    assert summary["outcome"] == "ok"
    assert 3 <= whole(summary["window_s"]) < 20
    assert_counted(events)
    assert [e["phase"] for e in events if e["event"] == "phase"] == ["warmup", "measure", "drain"]


def test_before_the_window_it_means_nothing(program):
    assert load(program, 1, duration_s=2, warmup_s=2, rate=1000)[-1]["window_s"] == pytest.approx(2, abs=0.05)


def test_fixed_work_is_done_whole(program):
    summary = load(program, 1, rows=20_000, rate=10_000)[-1]
    assert summary["rows_acked"] == 20_000


def test_the_warm_up_ends_with_the_interval_that_runs(program):
    events = load(program, 1, signal.SIGUSR2, duration_s=2, warmup_s=20, rate=100_000)
    summary, phases = events[-1], {e["phase"]: e["monotonic_ns"] for e in events if e["event"] == "phase"}
    assert 2 <= whole((phases["measure"] - phases["warmup"]) / 1e9) < 20
    assert summary["window_start_ns"] == phases["measure"]
    assert summary["window_s"] == pytest.approx(2, abs=0.05)
    assert_counted(events)


def test_once_the_window_has_begun_it_has_no_warm_up_to_end(program):
    summary = load(program, 2, signal.SIGUSR2, duration_s=2, warmup_s=1, rate=1000)[-1]
    assert summary["window_s"] == pytest.approx(2, abs=0.05)
