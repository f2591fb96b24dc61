"""Open loop: the rate is met, and response time runs from the intended start."""

from __future__ import annotations

import signal
import time

import pytest
from running_load import begun


def due(summary):
    """The requests that were to be sent in the window: also those that a busy machine has not let go in time."""
    return summary["requests_window"] + summary["overdue"] + summary["in_flight_at_end"]


@pytest.mark.parametrize("arrival", ["constant", "poisson"])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_rate_is_met(load, arrival, threads):
    spec = {"rate": 200_000, "tables": 6, "duration_s": 1.5, "rows_per_request": 200}
    summary = load(**spec, arrival=arrival, threads=threads).summary
    tolerance = 0.01 if arrival == "constant" else 0.12
    assert due(summary) == pytest.approx(1500, rel=tolerance)
    assert summary["overdue"] < 750
    assert summary["offered_rows_per_s"] == pytest.approx(200_000)


def test_a_rate_below_one_has_a_request_every_few_seconds(load):
    outcome = load(rate=0.8, rows_per_request=1, threads=2, tables=2, duration_s=3)
    assert (due(outcome.summary), outcome.summary["offered_rows_per_s"]) == (3, pytest.approx(0.8))
    assert max(one["rows"] for one in outcome.of("interval")) == 1  # at 0, 1.25 and 2.5 s


def test_a_process_of_several_offers_its_part_of_the_rate(load):
    part = {"first_worker": 1, "threads": 1, "workers_total": 4}
    summary = load(**part, rate=100_000, tables=8, duration_s=0.5, rows_per_request=100).summary
    assert summary["offered_rows_per_s"] == pytest.approx(25_000)
    assert due(summary) == pytest.approx(125, abs=2)


def test_an_open_loop_that_begins_behind_has_those_requests_due_at_once(load):
    summary = load(rate=1000, rows_per_request=10, threads=2, tables=2, behind_s=0.5, duration_s=0.3).summary
    assert due(summary) == pytest.approx(80, abs=2)
    assert summary["response"]["max_us"] > 450_000 and summary["response"]["p50_us"] > 50_000


def test_poisson_arrivals_bunch(load):
    """With a fixed service time and half the load, only bunched arrivals wait long."""
    spec = {"rate": 5000, "rows_per_request": 10, "null_latency_us": 1000, "duration_s": 1.5}
    bunched = load(**spec, arrival="poisson").summary
    assert bunched["response"]["p90_us"] > 1200
    assert bunched["response"]["mean_us"] > bunched["service"]["mean_us"]


def test_overload_shows_in_the_response_not_in_the_service(load):
    """Offered 1000 requests/s, able to 100: those that were due at the end waited until the end."""
    outcome = load(rate=10_000, rows_per_request=10, null_latency_us=10_000, duration_s=1, interval_s=0.25)
    summary = outcome.summary
    assert due(summary) == pytest.approx(1000, abs=2)
    assert summary["in_flight_at_end"] <= 1
    assert summary["response"]["count"] == due(summary)
    assert summary["response"]["mean_us"] == pytest.approx(500_000, rel=0.2)
    assert summary["response"]["max_us"] > 500_000
    assert summary["service"]["p50_us"] >= 10_000
    assert summary["response"]["p50_us"] > 5 * summary["service"]["p50_us"]
    assert summary["rows_per_s"] < 0.2 * summary["offered_rows_per_s"]
    measured = [i for i in outcome.of("interval") if i["phase"] == "measure"]
    backlog = [i["backlog_rows"] for i in measured]
    assert backlog == sorted(backlog)
    assert backlog[-1] == pytest.approx(9000, rel=0.15)
    assert measured[-1]["service_us_p50"] >= 9_900, "to 1 %"
    assert measured[-1]["response_us_max"] > measured[-1]["service_us_max"] > 0


@pytest.mark.parametrize("arrival", ["constant", "poisson"])
def test_more_due_than_can_be_counted_one_by_one_is_still_counted(load, arrival):
    summary = load(rate=1e9, rows_per_request=1, null_latency_us=200_000, duration_s=0.5, arrival=arrival).summary
    assert summary["overdue"] == pytest.approx(5e8, rel=0.01)
    assert summary["response"]["p50_us"] == pytest.approx(250_000, rel=0.02)


def test_an_answer_that_came_after_the_window_has_its_true_response_time(load):
    """The last one is due 0.25 s before the end of the window; no answer takes less than 0.4 s."""
    summary = load(rate=2, rows_per_request=1, threads=1, null_latency_us=400_000, duration_s=1.25).summary
    assert (summary["in_flight_at_end"], summary["response"]["count"]) == (1, 3)
    assert summary["response"]["min_us"] >= 400_000


def test_its_own_lateness_tells_a_load_generator_that_was_stopped_from_a_server_that_stands_still(program, load):
    spec = {"driver": "null", "rate": 2000, "rows_per_request": 10, "tables": 2, "threads": 2, "duration_s": 3}
    still = load(**spec, null_service_us=100, null_stall_us=1_500_000, null_stall_every_ms=3000).summary
    assert still["response"]["max_us"] > 1_000_000
    assert still["late"]["max_us"] < 500_000, "the time that it waited for an answer is not its own"
    with begun(program, spec) as running:
        running.process.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        running.process.send_signal(signal.SIGCONT)
        stopped = running.end().summary
    assert stopped["late"]["max_us"] > 1_400_000


def test_nothing_is_overdue_when_the_rate_is_easy(load):
    outcome = load(rate=1000, rows_per_request=10, duration_s=1, interval_s=0.2)
    assert due(outcome.summary) == pytest.approx(100, abs=1)
    assert outcome.summary["overdue"] < 50, "those of the last moment, on a busy machine"
    # a busy machine may hold the load generator up at the end of one interval; what it owes is made good by another's
    assert min(i["backlog_rows"] for i in outcome.of("interval")) <= 10


def test_the_backlog_stops_growing_at_the_end(load):
    outcome = load(rate=10_000, rows_per_request=10, null_latency_us=1_500_000, duration_s=0.5, interval_s=0.2)
    drain = [i["backlog_rows"] for i in outcome.of("interval") if i["phase"] == "drain"]
    assert drain
    assert max(drain) <= 5000


def test_a_closed_loop_has_equal_times_and_no_offer(load):
    outcome = load(duration_s=0.3, interval_s=0.1, null_latency_us=5000)
    summary = outcome.summary
    assert (summary["overdue"], summary["in_flight_at_end"], summary["late"]) == (0, 0, None)
    assert summary["response"] == summary["service"]
    assert summary["offered_rows_per_s"] is None
    assert all(i["backlog_rows"] is None for i in outcome.of("interval"))
    assert all(i["service_us_p99"] == i["response_us_p99"] for i in outcome.of("interval"))


def test_quantiles_of_few_samples_are_null(load):
    response = load(rows=250, rows_per_request=1, null_latency_us=200).summary["response"]
    assert response["count"] == 250
    assert response["p95_us"] >= 200
    assert response["p99_us"] is response["p999_us"] is None


def test_a_slow_operation_has_a_99th_percentile_of_several_intervals(load):
    """Each of two operations gets some 250 requests in an interval; 1,000 are needed."""
    spec = {"operations": "write:1,other:1", "ask.other.text": "x", "rows_per_request": 1, "null_latency_us": 500}
    intervals = load(**spec, threads=2, tables=2, requests=6000, interval_s=0.125).of("interval")
    assert all(count < 1000 for i in intervals for count in i["operations"].values())
    for name in ("write", "other"):
        since, known = 0, []
        for interval in intervals:
            since += interval["operations"][name]
            if name in interval["operations_p99_us"]:
                known.append(since)
                since = 0
        assert known
        assert all(requests >= 1000 for requests in known)
        assert since < 1000
