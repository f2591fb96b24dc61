"""The window: what counts in it, what only warms up or drains."""

from __future__ import annotations

import signal
import time

import pytest
from hdrh.histogram import HdrHistogram
from running_load import begun

SLOW = {"null_latency_us": 20_000, "rows_per_request": 10}


def test_the_warm_up_is_left_out(load):
    outcome = load(warmup_s=0.3, duration_s=0.5, interval_s=0.1, **SLOW)
    summary = outcome.summary
    assert summary["window_s"] == pytest.approx(0.5, abs=1e-9)
    assert summary["rows_window"] < summary["rows_acked"]
    assert summary["response"]["count"] * 10 == summary["rows_window"]
    assert summary["rows_per_s"] == pytest.approx(summary["rows_window"] / 0.5)
    assert 0 < summary["rows_per_s"] <= 520
    at = {p["phase"]: p["monotonic_ns"] for p in outcome.of("phase")}
    assert list(at) == ["warmup", "measure", "drain"]
    assert at["measure"] == summary["window_start_ns"] == at["warmup"] + 300_000_000
    assert at["drain"] == summary["window_end_ns"] == at["measure"] + 500_000_000
    phases = [i["phase"] for i in outcome.of("interval")]
    assert {"warmup", "measure"} <= set(phases)
    assert phases == sorted(phases, key=list(at).index)


def test_a_request_in_flight_at_the_end_counts_outside(load):
    summary = load(duration_s=1, null_latency_us=600_000, rows_per_request=10).summary
    assert (summary["rows_window"], summary["rows_acked"]) == (10, 20)
    assert summary["response"]["count"] == 1
    assert summary["last_ack_ns"] > summary["window_end_ns"]


def test_the_window_ends_with_the_rows_or_with_the_time(load):
    for more in ({"rows": 100}, {"rows": 100, "duration_s": 30}):
        summary = load(**more, **SLOW).summary
        assert summary["window_end_ns"] == summary["last_ack_ns"]
        assert summary["window_s"] >= 0.2
        assert summary["rows_window"] == 100
    summary = load(rows=100_000, duration_s=0.2, **SLOW).summary
    assert summary["window_s"] == pytest.approx(0.2, abs=1e-9)
    assert summary["rows_acked"] < 1000


def test_held_workers_send_nothing_in_their_times(load):
    """Each row of a held worker was sent before its time, or after."""
    held = load(duration_s=1.5, warmup_s=0.2, interval_s=0.5, threads=2, tables=2, held=1, held_s="0.5-1.0", **SLOW)
    assert held.summary["outcome"] == "ok"
    own = [worker["rows"] for worker in held.summary["workers"]]
    assert 0 < own[1] < own[0]


def test_all_rows_gone_before_the_window_is_an_empty_window(load):
    summary = load(rows=10, warmup_s=5, **SLOW).summary
    assert (summary["rows_acked"], summary["rows_window"]) == (10, 0)
    assert (summary["rows_per_s"], summary["cpu_window_s"], summary["workers"][0]["cpu_s"]) == (None, None, None)


def test_the_cpu_of_the_window_and_of_each_worker_is_their_own(load):
    """A worker that sleeps in its requests has none, one that makes rows as fast as it can has a core's."""
    busy = load(warmup_s=0.2, duration_s=0.6).summary
    asleep = load(warmup_s=0.2, duration_s=0.6, threads=2, tables=2, **SLOW).summary
    assert 0 < busy["cpu_window_s"] < 0.9
    assert busy["cpu_user_s"] + busy["cpu_system_s"] > busy["cpu_window_s"]
    (worker,) = busy["workers"]
    assert worker["make_s"] > worker["send_s"]
    assert 0 < worker["cpu_s"] <= busy["cpu_window_s"] + 0.01
    assert worker["cpu_s"] < busy["window_s"] + 0.1, "of the window alone"
    assert all(w["cpu_s"] < 0.05 for w in asleep["workers"])
    assert asleep["workers"][0]["send_s"] > 0.3, "which is what waiting looks like"


def test_all_begin_at_the_given_time(load):
    start = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + 1_000_000_000
    summary = load(start_at_ns=start, duration_s=0.1).summary
    assert summary["window_start_ns"] == start


def test_a_late_start_is_no_start(load):
    """Its window would lie beside those of the other processes."""
    late = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - 20_000_000
    outcome = load(code=8, start_at_ns=late, rows=10)
    assert outcome.one("error")["code"] == "late"
    assert "after start_at_ns" in outcome.stderr
    assert outcome.of("summary") == []


def interrupt(program, spec, how, intervals=1, times=1):
    """After its first request, and so many intervals of 0.1 s."""
    with begun(program, {"driver": "null", "interval_s": 0.1, **spec}, said=r'"requests":[1-9]') as running:
        for _ in range(intervals - 1):
            running.until('"interval"')
        running.heed(how)
        if times > 1:
            running.until('"phase":"drain"')
            running.heed(how)
        return running.end()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_load_finishes_its_requests_and_sums_up(program, how):
    spec = {"duration_s": 60, "threads": 2, "tables": 2, **SLOW}
    outcome = interrupt(program, spec, how)
    summary = outcome.summary
    assert (outcome.code, summary["outcome"]) == (130, "interrupted")
    assert summary["rows_acked"] == summary["requests"] * 10 > 0
    assert summary["rows_acked"] - 20 <= summary["rows_window"] <= summary["rows_acked"], "but for those in flight"
    assert abs(summary["window_end_ns"] - summary["last_ack_ns"]) < 3e9, "it ends when the signal came"


def test_an_interrupted_load_has_no_better_rate_than_it_had(program):
    """100 rows at once, then silence: 100 rows until the signal, not until the last answer."""
    spec = {"rows_per_request": 100, "rate": 0.001, "tables": 2, "threads": 2, "duration_s": 60}
    summary = interrupt(program, spec, signal.SIGTERM, intervals=15).summary
    assert summary["outcome"] == "interrupted"
    assert summary["rows_window"] == 100
    assert summary["window_s"] > 1
    assert summary["rows_per_s"] == pytest.approx(100 / summary["window_s"])


@pytest.mark.parametrize("warmup_s", [0, 5])
def test_what_a_signal_finds_in_flight_counts_outside_the_window(program, warmup_s):
    """Before its window a load has none."""
    spec = {"duration_s": 60, "warmup_s": warmup_s, "rows_per_request": 10, "null_latency_us": 1_000_000}
    outcome = interrupt(program, spec, signal.SIGTERM)
    assert outcome.code == 130
    assert (outcome.summary["rows_window"], outcome.summary["rows_acked"]) == (0, 10)
    assert not warmup_s or (outcome.summary["window_s"], outcome.summary["rows_per_s"]) == (0, None)


def test_a_second_signal_does_not_wait_for_a_hanging_request(program):
    spec = {"duration_s": 60, "drain_s": 600, "null_latency_us": 1_000_000_000}
    outcome = interrupt(program, spec, signal.SIGTERM, times=2)
    assert (outcome.code, outcome.summary["outcome"]) == (130, "interrupted")


def test_intervals_tell_what_any_stretch_of_them_needs(load):
    """Their histograms together hold every request, their CPU times together are the process's."""
    outcome = load(warmup_s=0.3, duration_s=1, interval_s=0.1, threads=2, tables=2, **SLOW)
    intervals = outcome.of("interval")
    held = [HdrHistogram.decode(i["response_hdr"]) for i in intervals if i["response_hdr"]]
    assert sum(h.get_total_count() for h in held) == outcome.summary["requests"]
    assert all(h.get_value_at_percentile(50) >= 19.8e6 for h in held), "to 1 %"
    assert {i["service_hdr"] for i in intervals} == {None}, "in a closed loop it is the same"
    used = outcome.summary["cpu_user_s"] + outcome.summary["cpu_system_s"]
    assert 0 < sum(i["cpu_s"] for i in intervals) <= used + 0.02
    outcome = load(duration_s=0.5, interval_s=0.1, rate=2000, rows_per_request=10)  # an open loop
    for name in ("response_hdr", "service_hdr"):
        held = [HdrHistogram.decode(i[name]).get_total_count() for i in outcome.of("interval") if i[name]]
        assert sum(held) == outcome.summary["requests"]


def test_an_interval_without_a_request_has_no_histogram(load):
    outcome = load(rows=10, interval_s=0.1, null_latency_us=350_000, rows_per_request=10)
    *before, last = [bool(i["response_hdr"]) for i in outcome.of("interval")]
    assert before and not any(before) and last


# SIGUSR1 ends the window early, SIGUSR2 the warm-up, each with the interval that runs; the counts stay whole.
STEP_S = 0.5  # of an interval


def signalled(program, intervals_until_signal, number=signal.SIGUSR1, **spec):
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
    outcome = signalled(program, 3, duration_s=20, warmup_s=STEP_S, rate=100_000)
    assert outcome.summary["outcome"] == "ok"
    assert 3 <= whole(outcome.summary["window_s"]) < 40
    assert_counted(outcome)
    assert [e["phase"] for e in outcome.of("phase")] == ["warmup", "measure", "drain"]


def test_the_warm_up_ends_with_the_interval_that_runs(program):
    outcome = signalled(program, 1, signal.SIGUSR2, duration_s=1, warmup_s=20, rate=100_000)
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
    outcome = signalled(program, intervals, number, duration_s=1, warmup_s=warmup_s, rate=1000)
    assert outcome.summary["window_s"] == pytest.approx(1, abs=0.05)


def test_fixed_work_is_done_whole(program):
    assert signalled(program, 1, rows=10_000, rate=10_000).summary["rows_acked"] == 10_000
