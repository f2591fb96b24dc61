"""A request that is not answered in its time ends the load by name, and its rows count as unanswered."""

from __future__ import annotations

import signal

import pytest
from running_load import METERS, begun, make_table, stopped_meanwhile
from third_request import assert_late


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


@pytest.mark.parametrize("rows", [10, 20_000], ids=["waiting-for-the-answer", "waiting-for-room"])
def test_a_stopped_postgres_ends_at_the_deadline(program, postgres, rows):
    make_table(postgres, METERS)
    outcome = stopped_meanwhile(program, postgres, rows_per_request=rows)
    assert outcome.summary["rows_acked"] > 0


def test_rows_arrive_whole_under_a_deadline(run, postgres):
    """Requests longer than any buffer on the way, NULLs and text too, through a connection that does not block."""
    make_table(postgres, METERS)
    spec = {**postgres.spec(), "tables": 3, "threads": 2, "rows": 600_000, "rows_per_request": 200_000}
    outcome = run(spec | {"request_timeout_s": 30})
    assert outcome.code == 0, outcome.stderr
    assert outcome.summary["rows_acked"] == 600_000
    assert postgres.query("SELECT count(*), count(DISTINCT (device_id, time)) FROM measurement") == [["600000"] * 2]
    assert run(spec | {"request_timeout_s": 30, "null_ratio": 0.2, "rows": 30_000, "seed": 2}).code == 0


def test_an_sql_error_fails_the_request_only_under_a_deadline(run, postgres):
    make_table(postgres, f"{METERS}, CHECK (device_id <> 2)")
    spec = {**postgres.spec(), "tables": 3, "rows": 3000, "rows_per_request": 100, "request_timeout_s": 30}
    outcome = run(spec)
    assert outcome.code == 6
    summary = outcome.summary
    assert (summary["rows_acked"], summary["rows_failed"], summary["rows_unanswered"]) == (2000, 1000, 0)
    assert outcome.of("error")[-1]["code"] == "23514"
    make_table(postgres, METERS.replace("phase", "other"))
    outcome = run(spec)  # the COPY statement itself is refused, and each connection is good again after it
    assert (outcome.summary["rows_failed"], outcome.summary["errors"]) == (3000, 30)
    assert outcome.of("error")[-1]["code"] == "42703"
