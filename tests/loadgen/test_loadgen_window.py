"""The window: what counts in it, what only warms up or drains."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest
from hdrh.histogram import HdrHistogram
from loadgen_program import parse, spec_text

pytestmark = pytest.mark.alone  # they measure times
SLOW = {"null_latency_us": 20_000, "rows_per_request": 10}


def test_the_warm_up_is_left_out(load):
    outcome = load(warmup_s=0.3, duration_s=0.5, interval_s=0.1, **SLOW)
    summary = outcome.summary
    assert summary["window_s"] == pytest.approx(0.5, abs=1e-9)
    assert summary["window_end_ns"] - summary["window_start_ns"] == 500_000_000
    assert summary["rows_window"] < summary["rows_acked"]
    assert summary["response"]["count"] * 10 == summary["rows_window"]
    assert summary["rows_per_s"] == pytest.approx(summary["rows_window"] / 0.5)
    assert summary["rows_per_s"] == pytest.approx(500, rel=0.3)
    assert [p["phase"] for p in outcome.of("phase")] == ["warmup", "measure", "drain"]
    phases = [i["phase"] for i in outcome.of("interval")]
    assert phases[:3] == ["warmup"] * 3
    assert phases.count("measure") == 5


def test_phases_have_the_times_of_the_window(load):
    outcome = load(warmup_s=0.1, duration_s=0.2)
    at = {p["phase"]: p["monotonic_ns"] for p in outcome.of("phase")}
    assert at["measure"] == outcome.summary["window_start_ns"] == at["warmup"] + 100_000_000
    assert at["drain"] == outcome.summary["window_end_ns"]


def test_a_request_in_flight_at_the_end_counts_outside(load):
    summary = load(duration_s=0.5, null_latency_us=300_000, rows_per_request=10).summary
    assert (summary["rows_window"], summary["rows_acked"]) == (10, 20)
    assert summary["response"]["count"] == 1
    assert summary["last_ack_ns"] > summary["window_end_ns"]


def test_with_rows_the_window_ends_at_the_last_answer(load):
    summary = load(rows=100, **SLOW).summary
    assert summary["window_end_ns"] == summary["last_ack_ns"]
    assert summary["window_s"] == pytest.approx(0.2, rel=0.3)
    assert summary["rows_window"] == 100


def test_whichever_comes_first(load):
    rows_first = load(rows=50, duration_s=30, **SLOW).summary
    assert rows_first["window_end_ns"] == rows_first["last_ack_ns"]
    time_first = load(rows=100_000, duration_s=0.2, **SLOW).summary
    assert time_first["window_s"] == pytest.approx(0.2, abs=1e-9)
    assert time_first["rows_acked"] < 1000


def test_all_rows_gone_before_the_window_is_an_empty_window(load):
    summary = load(rows=10, warmup_s=5, **SLOW).summary
    assert (summary["rows_acked"], summary["rows_window"]) == (10, 0)
    assert summary["rows_per_s"] is None
    assert summary["cpu_window_s"] is None


def test_cpu_of_the_window_is_that_of_one_busy_thread(load):
    summary = load(warmup_s=0.2, duration_s=0.6).summary
    assert 0.15 < summary["cpu_window_s"] < 0.75
    assert summary["cpu_user_s"] + summary["cpu_system_s"] > summary["cpu_window_s"]
    worker = summary["workers"][0]
    assert worker["make_s"] > worker["send_s"]


def test_all_begin_at_the_given_time(load):
    start = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + 400_000_000
    summary = load(start_at_ns=start, duration_s=0.1).summary
    assert summary["window_start_ns"] == start


def test_a_late_start_is_no_start(load):
    """Its window would lie beside those of the other processes."""
    late = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - 20_000_000
    outcome = load(code=8, start_at_ns=late, rows=10)
    assert outcome.one("error")["code"] == "late"
    assert "after start_at_ns" in outcome.stderr
    assert outcome.of("summary") == []


def test_the_cpu_of_each_worker_is_its_own(load):
    """One that sleeps in its requests has none, one that makes rows as fast as it can has a core's."""
    busy = load(warmup_s=0.2, duration_s=0.6).summary
    asleep = load(warmup_s=0.2, duration_s=0.6, threads=2, tables=2, **SLOW).summary
    (worker,) = busy["workers"]
    assert 0.1 < worker["cpu_s"] <= busy["cpu_window_s"] + 0.01
    assert worker["cpu_s"] < busy["window_s"] + 0.1, "of the window alone"
    assert all(w["cpu_s"] < 0.05 for w in asleep["workers"])
    assert asleep["workers"][0]["send_s"] > 0.5, "which is what waiting looks like"


def test_without_a_window_a_workers_cpu_is_not_known(load):
    assert load(rows=10, warmup_s=5, **SLOW).summary["workers"][0]["cpu_s"] is None


def interrupt(program, spec, how, after_s=0.4, times=1):
    process = subprocess.Popen(
        [program, "load", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(spec_text({"driver": "null", **spec}))
    process.stdin.close()
    process.stdin = None
    for _ in range(times):
        time.sleep(after_s)
        os.kill(process.pid, how)
    stdout, stderr = process.communicate(timeout=20)
    return parse(process.returncode, stdout, stderr)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_load_finishes_its_requests_and_sums_up(program, how):
    spec = {"duration_s": 60, "threads": 2, "tables": 2, **SLOW}
    summary = interrupt(program, spec, how).summary
    assert summary["outcome"] == "interrupted"
    assert summary["rows_acked"] == summary["requests"] * 10 > 0
    assert summary["rows_acked"] - 20 <= summary["rows_window"] <= summary["rows_acked"], "but for those in flight"
    assert abs(summary["window_end_ns"] - summary["last_ack_ns"]) < 3e9, "it ends when the signal came"


def test_an_interrupted_load_has_no_better_rate_than_it_had(program):
    """100 rows at once, then silence: 100 rows until the signal, not until the last answer."""
    spec = {"rows_per_request": 100, "rate": 0.001, "tables": 2, "threads": 2, "duration_s": 60}
    summary = interrupt(program, spec, signal.SIGTERM, after_s=1.5).summary
    assert summary["outcome"] == "interrupted"
    assert summary["rows_window"] == 100
    assert 1 < summary["window_s"] < 10
    assert summary["rows_per_s"] == pytest.approx(100 / summary["window_s"])


def test_what_a_signal_finds_in_flight_counts_outside_the_window(program):
    spec = {"duration_s": 60, "rows_per_request": 10, "null_latency_us": 1_000_000}
    summary = interrupt(program, spec, signal.SIGTERM, after_s=0.5).summary
    assert (summary["rows_window"], summary["rows_acked"]) == (0, 10)


def test_a_load_interrupted_before_its_window_has_none(program):
    spec = {"duration_s": 60, "warmup_s": 0.8, "rows_per_request": 10, "null_latency_us": 1_000_000}
    summary = interrupt(program, spec, signal.SIGTERM, after_s=0.4).summary
    assert (summary["window_s"], summary["rows_per_s"]) == (0, None)
    assert (summary["rows_window"], summary["rows_acked"]) == (0, 10)


def test_an_interrupted_load_has_its_own_code(program):
    assert interrupt(program, {"duration_s": 60, "rate": 10}, signal.SIGINT).code == 130


def test_a_second_signal_does_not_wait_for_a_hanging_request(program):
    spec = {"duration_s": 60, "null_latency_us": 30_000_000}
    begun = time.monotonic()
    outcome = interrupt(program, spec, signal.SIGTERM, times=2)
    assert time.monotonic() - begun < 5
    assert (outcome.code, outcome.summary["outcome"]) == (130, "interrupted")


def test_intervals_tell_what_any_stretch_of_them_needs(load):
    """Their histograms together hold every request, their CPU times together are the process's."""
    outcome = load(warmup_s=0.3, duration_s=1, interval_s=0.1, threads=2, tables=2, **SLOW)
    intervals = outcome.of("interval")
    held = [HdrHistogram.decode(i["response_hdr"]) for i in intervals if i["response_hdr"]]
    assert sum(h.get_total_count() for h in held) == outcome.summary["requests"]
    assert held[3].get_value_at_percentile(50) == pytest.approx(20e6, rel=0.1)
    assert {i["service_hdr"] for i in intervals} == {None}, "in a closed loop it is the same"
    used = outcome.summary["cpu_user_s"] + outcome.summary["cpu_system_s"]
    assert 0 < sum(i["cpu_s"] for i in intervals) <= used + 0.02


def test_in_an_open_loop_both_times_have_their_histogram(load):
    outcome = load(duration_s=0.5, interval_s=0.1, rate=2000, rows_per_request=10)
    for name in ("response_hdr", "service_hdr"):
        held = [HdrHistogram.decode(i[name]).get_total_count() for i in outcome.of("interval") if i[name]]
        assert sum(held) == outcome.summary["requests"]


def test_an_interval_without_a_request_has_no_histogram(load):
    outcome = load(rows=10, interval_s=0.1, null_latency_us=350_000, rows_per_request=10)
    assert [bool(i["response_hdr"]) for i in outcome.of("interval")] == [False, False, False, True]
