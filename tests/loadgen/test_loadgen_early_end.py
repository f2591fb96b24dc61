"""SIGUSR1 ends the window early, SIGUSR2 the warm-up, each with the interval that runs; the counts stay whole."""

from __future__ import annotations

import signal

import pytest
from running_load import begun

STEP_S = 0.5  # of an interval


def load(program, intervals_until_signal, number=signal.SIGUSR1, **spec):
    """The outcome of a load that gets the signal after so many intervals."""
    spec = {"driver": "null", "tables": 10, "threads": 2, "rows_per_request": 100, "interval_s": STEP_S} | spec
    with begun(program, spec, said="") as running:
        for _ in range(intervals_until_signal):
            running.until('"interval"')
        running.process.send_signal(number)
        outcome = running.end()
    assert outcome.code == 0
    return outcome


def whole(seconds):
    """As many intervals; a signal that comes late ends a later one."""
    assert seconds / STEP_S == pytest.approx(round(seconds / STEP_S), abs=0.1)
    return round(seconds / STEP_S)


def assert_counted(outcome):
    """1,000 requests were due in each second of the window, and the intervals have those that were answered."""
    summary = outcome.summary
    due = summary["requests_window"] + summary["overdue"] + summary["in_flight_at_end"]
    assert due == pytest.approx(1000 * summary["window_s"], rel=0.02)
    inside = [e["rows"] for e in outcome.of("interval") if e["phase"] == "measure"]
    assert sum(inside) == pytest.approx(summary["rows_window"], rel=0.2)


def test_the_window_ends_with_the_interval_that_runs(program):
    outcome = load(program, 3, duration_s=20, warmup_s=STEP_S, rate=100_000)
    assert outcome.summary["outcome"] == "ok"
    assert 3 <= whole(outcome.summary["window_s"]) < 40
    assert_counted(outcome)
    assert [e["phase"] for e in outcome.of("phase")] == ["warmup", "measure", "drain"]


def test_the_warm_up_ends_with_the_interval_that_runs(program):
    outcome = load(program, 1, signal.SIGUSR2, duration_s=1, warmup_s=20, rate=100_000)
    phases = {e["phase"]: e["monotonic_ns"] for e in outcome.of("phase")}
    assert 2 <= whole((phases["measure"] - phases["warmup"]) / 1e9) < 40
    assert outcome.summary["window_start_ns"] == phases["measure"]
    assert outcome.summary["window_s"] == pytest.approx(1, abs=0.05)
    assert_counted(outcome)


@pytest.mark.parametrize(
    ("intervals", "number", "warmup_s"), [(1, signal.SIGUSR1, 1), (2, signal.SIGUSR2, STEP_S)], ids=["before", "after"]
)
def test_what_is_not_running_is_not_ended(program, intervals, number, warmup_s):
    """No window before it has begun, and no warm-up after that."""
    outcome = load(program, intervals, number, duration_s=1, warmup_s=warmup_s, rate=1000)
    assert outcome.summary["window_s"] == pytest.approx(1, abs=0.05)


def test_fixed_work_is_done_whole(program):
    assert load(program, 1, rows=10_000, rate=10_000).summary["rows_acked"] == 10_000
