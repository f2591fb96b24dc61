"""On a real PostgreSQL, threads that wait for a slow server are told from threads that a client library keeps busy: in
both cases all the time passes inside of a send."""

from __future__ import annotations

import json

import pytest
from postgres_server import PostgresServer
from running_load import METERS, make_table

from scale_sweep.judge.figures.resource_use import in_flight, workers_busy
from scale_sweep.loadgen.protocol import parse_line

STEP_S = 0.02  # of sleep in the server, or of CPU in the library (busy_libpq.c), for each request
LOAD = {"tables": 4, "threads": 1, "rows_per_request": 100, "duration_s": 2}
WAITS = "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.02); RETURN NULL; END'"
AFTER = "CREATE TRIGGER wait AFTER INSERT ON measurement FOR EACH STATEMENT EXECUTE FUNCTION wait()"


@pytest.fixture
def waiting(postgres: PostgresServer) -> PostgresServer:
    """Each request ends with a sleep in the server."""
    make_table(postgres, METERS)
    postgres.query(f"DROP FUNCTION IF EXISTS wait; {WAITS}; {AFTER}")
    return postgres


def seen(outcome):
    """The share of the threads' time in sends, and what the runner makes of it."""
    assert outcome.code == 0, outcome.stderr
    (worker,) = outcome.summary["workers"]
    line = parse_line(json.dumps(outcome.summary))
    return worker, in_flight(line), workers_busy(line)


def test_the_threads_of_a_slow_server_wait_and_are_not_busy(run, waiting):
    worker, flying, busy = seen(run({**waiting.spec(), **LOAD}))
    assert worker["cpu_s"] < 0.25 * STEP_S * worker["requests"]
    assert busy < 0.25
    assert flying > 0.5


def test_the_threads_of_a_busy_library_do_not_wait_for_the_server(run, postgres, shared):
    """The server's own libpq, which works before it ends a request."""
    make_table(postgres, METERS)
    outcome = run({**postgres.spec(), **LOAD, "library": shared("busy_libpq.c", *postgres.linked)})
    worker, flying, busy = seen(outcome)
    in_window = outcome.summary["rows_window"] / LOAD["rows_per_request"]
    assert worker["send_s"] > 5 * worker["make_s"], "by the clock alone it would look like waiting"
    assert worker["cpu_s"] > 0.95 * STEP_S * (in_window - 1)
    assert busy == pytest.approx(worker["cpu_s"] / LOAD["duration_s"])
    assert flying < 1.2 - busy
