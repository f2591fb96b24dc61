"""Whatever hangs, the program ends: while connecting, in a statement, while loading, and when nobody reads it."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import termios
import time

import pytest
from running_load import ANSWERED, METERS, PATIENCE_S, Running, begun, make_table, stopped
from stub_taos.stub_library import library
from third_request import assert_late

WINDOW = {"tables": 2, "threads": 2, "interval_s": 0.2, "rows_per_request": 100, "drain_s": 1}
STUB = {"driver": "tdengine", "database": "test", "partitions": 4, "tables": 4, "threads": 2, "rows_per_request": 5}
STUB |= {"drain_s": 0.5, "connect_timeout_s": 1}


@pytest.mark.parametrize("more", [{}, {"request_timeout_s": 600}], ids=["left-behind", "by-the-driver"])
def test_a_server_that_stops_in_the_window_has_until_the_drains_end(program, postgres, more):
    make_table(postgres, METERS)
    spec = {**postgres.spec(), **WINDOW, **more, "duration_s": 2}
    with begun(program, spec, said=ANSWERED) as running, stopped(postgres):
        outcome = running.end()
    assert_late(outcome, 200)
    assert outcome.summary["error_kinds"][0]["count"] == 2
    assert outcome.summary["window_s"] == 2
    assert 0 < outcome.summary["rows_acked"] == outcome.summary["rows_window"]


def test_one_fatal_fault_ends_what_hangs_beside_it(program, postgres):
    make_table(postgres, METERS)
    # so seldom that the one that is stopped holds no lock that the other needs
    with begun(program, {**postgres.spec(), **WINDOW, "duration_s": 600, "rate": 1000}) as running:
        found = postgres.query("SELECT pid FROM pg_stat_activity WHERE application_name = 'scale-loadgen'")
        first, second = (int(row[0]) for row in found)
        os.kill(first, signal.SIGSTOP)
        try:
            running.until(r'"backlog_rows":[3-9]\d\d')  # a request waits for the one that is stopped
            postgres.query(f"SELECT pg_terminate_backend({second})")
            outcome = running.end()
        finally:
            os.kill(first, signal.SIGCONT)
    assert (outcome.code, outcome.summary["rows_unanswered"]) == (5, 100)
    codes = {e["code"] for e in outcome.of("error")}
    assert "deadline" in codes and len(codes) > 1, "the broken connection's own code, whichever libpq has for it"


@pytest.mark.parametrize("is_frozen_for_good", [False, True])
def test_a_server_frozen_at_the_windows_end_does_not_look_fast(program, postgres, is_frozen_for_good):
    """The requests that were due then are counted, with the time they waited."""
    make_table(postgres, METERS)
    spec = {**postgres.spec(), **WINDOW, "duration_s": 2, "rate": 20_000, "drain_s": 3}
    with begun(program, spec, said=ANSWERED) as running:
        with stopped(postgres):
            stopped_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            running.until('"summary"' if is_frozen_for_good else '"phase":"drain"')
        outcome = running.end()
    summary = outcome.summary
    assert outcome.code == (5 if is_frozen_for_good else 0), outcome.stderr
    frozen_ns = summary["window_end_ns"] - stopped_ns
    assert summary["overdue"] > frozen_ns / 5_000_000 - 5, "200 requests were due in each second"
    assert summary["in_flight_at_end"] == 2
    assert summary["response"]["count"] == summary["service"]["count"] + summary["overdue"] + 2
    assert summary["response"]["max_us"] > 0.95 * frozen_ns / 1000


def test_a_library_that_does_not_return_is_left_behind_with_the_summary(program):
    spec = STUB | {"library": library(), "duration_s": 1, "method": "stmt"}
    with begun(program, spec, said="", STUB_FAIL="taos_stmt_execute:9+:0xFFFF") as running:
        outcome = running.end()
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["rows_unanswered"]) == (5, 40, 10)
    assert outcome.summary["error_kinds"][0]["code"] == "deadline"


def test_a_server_that_lets_nobody_in_has_its_time(program, postgres):
    make_table(postgres, METERS)
    spec = {**postgres.spec(), "rows": 10, "connect_timeout_s": 2}
    with stopped(postgres), begun(program, spec, said="") as running:
        outcome = running.end()
    assert (outcome.code, outcome.of("summary")) == (4, [])
    assert outcome.one("error")["message"]


@pytest.mark.parametrize(
    ("verb", "call", "words"),
    [
        ("load", "taos_connect:1", "placing the tables"),
        ("load", "taos_connect:2", "1 of 2"),
        ("tables", "taos_connect:2", "creating the tables"),
    ],
)
def test_a_library_that_does_not_connect_has_its_time(program, verb, call, words):
    spec = STUB | {"library": library()} | ({"rows": 10} if verb == "load" else {})
    with begun(program, spec, said="", verb=verb, STUB_FAIL=f"{call}:0xFFFF") as running:
        outcome = running.end()
    error = outcome.one("error")
    assert (outcome.code, error["code"]) == (4, "deadline")
    assert words in error["message"]


def test_a_statement_has_its_time_and_copy_to_stdout_is_refused(run, postgres, tmp_path):
    file = tmp_path / "statements.sql"
    spec = {**postgres.spec(), "statements": file}
    file.write_text("SELECT 1\nSELECT pg_sleep(30)\nSELECT 2\n")
    outcome = run(spec | {"statement_timeout_s": 1}, "sql")
    assert outcome.code == 4
    assert [result["rows"] for result in outcome.of("result")] == [[[1]]]
    assert outcome.one("error")["code"] == "deadline"
    file.write_text("COPY (SELECT generate_series(1, 100000)) TO STDOUT\nSELECT 7\nCOPY (SELECT 1) TO STDOUT\n")
    outcome = run(spec | {"statement_timeout_s": 20}, "sql")
    first, second, third = outcome.of("result")
    assert outcome.code == 6
    assert (first["ok"], first["code"]) == (third["ok"], third["code"]) == (False, "COPY")
    assert second["rows"] == [[7]]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("call", ["taos_connect:1", "taos_connect:2"], ids=["placing", "connecting"])
def test_a_signal_is_heeded_before_the_load(program, call, how):
    spec = STUB | {"library": library(), "rows": 10, "connect_timeout_s": 600}
    with begun(program, spec, said="", STUB_FAIL=f"{call}:0xFFFF") as running:
        running.heed(how)
        outcome = running.end()
    assert (outcome.code, outcome.one("error")["code"]) == (130, "interrupted")


def test_a_signal_is_heeded_while_a_stopped_server_is_asked(program, postgres):
    make_table(postgres, METERS)
    spec = {**postgres.spec(), "rows": 10, "connect_timeout_s": 600}
    with stopped(postgres), begun(program, spec, said="") as running:
        running.heed(signal.SIGTERM)
        assert running.end().code == 130


def fill_pipe(running: Running) -> None:
    """Makes its pipe one of a single buffer, and waits for the first line in it."""
    assert running.process.stdout
    pipe, deadline = running.process.stdout.fileno(), time.monotonic() + PATIENCE_S
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
    while not struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


UNREAD = {"driver": "null", "interval_s": 0.02, "rate": 100_000, "rows_per_request": 100}


def test_who_does_not_read_holds_neither_the_end_nor_a_signal(program):
    with begun(program, UNREAD | {"duration_s": 1}, said="") as running:
        fill_pipe(running)
        assert running.process.wait(PATIENCE_S) == 7
        assert b"standard output is not read" in running.process.stderr.read()
    with begun(program, UNREAD | {"duration_s": 600}, said="") as running:
        fill_pipe(running)
        running.heed(signal.SIGTERM)
        assert running.process.wait(PATIENCE_S) == 130


def test_who_reads_late_reads_everything(program):
    with begun(program, UNREAD | {"duration_s": 1}, said="") as running:
        fill_pipe(running)
        time.sleep(0.7)
        outcome = running.end()
    assert outcome.code == 0, outcome.stderr
    assert len(outcome.of("interval")) >= 20, "the pipe holds eight of them"
    assert sum(i["rows"] for i in outcome.of("interval")) == outcome.summary["rows_acked"]
