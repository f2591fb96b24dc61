"""A request that is not answered in its time ends the load by name, and its rows count as unanswered."""

from __future__ import annotations

import signal

import pytest
from running_load import METERS, begun, make_table, stopped_meanwhile
from third_request import assert_acked, assert_late


def test_a_request_in_time_is_not_touched(load):
    summary = load(rows=2000, rows_per_request=100, null_latency_us=2000, request_timeout_s=60).summary
    assert (summary["rows_acked"], summary["rows_unanswered"]) == (2000, 0)


def test_a_late_request_is_neither_acknowledged_nor_failed(run):
    spec = {"driver": "null", "rows": 4000, "tables": 2, "threads": 2, "rows_per_request": 100}
    outcome = run(spec | {"null_latency_us": 1_000_000_000, "request_timeout_s": 0.3})
    assert_late(outcome, 200)
    assert outcome.summary["rows_acked"] == 0


def test_an_attempt_more_has_its_time_anew(load):
    """The second request has two attempts of 0.6 s: a deadline of 0.9 s for both would have passed."""
    spec = {"rows": 20, "rows_per_request": 10, "null_latency_us": 600_000, "null_fail_every": 2, "retries": 3}
    summary = load(**spec, request_timeout_s=0.9).summary
    assert (summary["rows_acked"], summary["retries"], summary["rows_unanswered"]) == (20, 1, 0)


def test_a_deadline_that_a_method_cannot_keep_means_nothing_to_other_verbs(run):
    outcome = run({"driver": "tdengine", "method": "stmt", "request_timeout_s": 1, "library": "/nowhere"}, "library")
    assert outcome.code == 3


def test_rows_in_flight_of_a_load_that_is_given_up_are_unanswered(program):
    spec = {"driver": "null", "rows": 1000, "rows_per_request": 100, "null_latency_us": 1_000_000_000}
    with begun(program, spec | {"interval_s": 0.1}, said=r'"requests":1\b') as running:
        running.heed(signal.SIGINT)
        running.until('"phase":"drain"')
        running.heed(signal.SIGINT)  # it waits for no request in flight
        outcome = running.end()
    assert (outcome.code, outcome.summary["rows_unanswered"], outcome.summary["rows_acked"]) == (130, 100, 0)


@pytest.mark.parametrize(
    ("method", "rows"),
    [("copy", 10), ("copy", 20_000), ("insert", 20_000)],
    ids=["waiting-for-the-answer", "waiting-for-room", "insert"],
)
def test_a_stopped_postgres_ends_at_the_deadline(program, postgres, method, rows):
    make_table(postgres, METERS)
    outcome = stopped_meanwhile(program, postgres, method=method, rows_per_request=rows)
    assert outcome.summary["rows_acked"] > 0


def test_rows_arrive_whole_under_a_deadline(run, postgres):
    """Requests longer than any buffer on the way, NULLs and text too, through a connection that does not block."""
    make_table(postgres, METERS)
    spec = {**postgres.spec(), "tables": 3, "threads": 2, "rows": 600_000, "rows_per_request": 200_000}
    spec |= {"request_timeout_s": 30}
    assert_acked(run(spec), 600_000)
    assert postgres.query("SELECT count(*), count(DISTINCT (device_id, time)) FROM measurement") == [["600000"] * 2]
    assert_acked(run(spec | {"null_ratio": 0.2, "rows": 30_000, "seed": 2}), 30_000)
