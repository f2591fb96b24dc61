"""Whatever hangs, the program ends: while connecting, in a statement, while loading, and when nobody reads it."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from loadgen_program import Outcome, parse, spec_text
from postgres_server import PostgresServer
from running_load import METERS, begun, make_table, signal_all
from stub_taos.stub_library import library

WINDOW = {"tables": 2, "threads": 2, "interval_s": 0.2, "rows_per_request": 100, "drain_s": 1}
STUB = {"driver": "tdengine", "database": "test", "partitions": 4, "tables": 4, "threads": 2, "rows_per_request": 5}
STUB |= {"drain_s": 0.5, "connect_timeout_s": 1}


@contextmanager
def stopped(server: PostgresServer) -> Iterator[None]:
    """The server takes connections, and answers nothing on any."""
    signal_all(server, signal.SIGSTOP)
    try:
        yield
    finally:
        signal_all(server, signal.SIGCONT)


@contextmanager
def started(program: Path, spec: dict[str, object], verb: str = "load", **settings: str) -> Iterator[subprocess.Popen]:
    with subprocess.Popen(
        [program, verb, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | settings,
    ) as process:
        assert process.stdin
        process.stdin.write(spec_text(spec))
        process.stdin.close()
        process.stdin = None
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen, seconds: float) -> Outcome:
    stdout, stderr = process.communicate(timeout=seconds)
    return parse(process.returncode, stdout, stderr)


@pytest.mark.parametrize("more", [{}, {"request_timeout_s": 60}], ids=["left-behind", "by-the-driver"])
def test_a_server_that_stops_in_the_window_has_until_the_drains_end(program, postgres, more):
    make_table(postgres, METERS)
    with begun(program, {**postgres.spec(), **WINDOW, **more, "duration_s": 2}) as end, stopped(postgres):
        began = time.monotonic()
        outcome = end()
    assert time.monotonic() - began < 8
    summary = outcome.summary
    assert (outcome.code, summary["outcome"], summary["rows_unanswered"]) == (5, "fatal", 200), outcome.stderr
    assert [(kind["code"], kind["count"]) for kind in summary["error_kinds"]] == [("deadline", 2)]
    assert summary["window_s"] == 2
    assert 0 < summary["rows_acked"] == summary["rows_window"]


def test_one_fatal_fault_ends_what_hangs_beside_it(program, postgres):
    make_table(postgres, METERS)
    # so seldom that the one that is stopped holds no lock that the other needs
    with begun(program, {**postgres.spec(), **WINDOW, "duration_s": 60, "rate": 1000}) as end:
        found = postgres.query("SELECT pid FROM pg_stat_activity WHERE application_name = 'scale-loadgen'")
        first, second = (int(row[0]) for row in found)
        os.kill(first, signal.SIGSTOP)
        try:
            postgres.query(f"SELECT pg_terminate_backend({second})")
            began = time.monotonic()
            outcome = end()
        finally:
            os.kill(first, signal.SIGCONT)
    assert time.monotonic() - began < 8
    assert (outcome.code, outcome.summary["rows_unanswered"]) == (5, 100)
    codes = {e["code"] for e in outcome.of("error")}
    assert "deadline" in codes and len(codes) > 1, "the broken connection's own code, whichever libpq has for it"


@pytest.mark.parametrize("is_frozen_for_good", [False, True])
def test_a_server_frozen_at_the_windows_end_does_not_look_fast(program, postgres, is_frozen_for_good):
    """For the last half of the window: the requests that were due then are counted, with the time they waited."""
    make_table(postgres, METERS)
    spec = {**postgres.spec(), **WINDOW, "duration_s": 3, "rate": 20_000, "interval_s": 1, "drain_s": 4}
    with begun(program, spec) as end:
        with stopped(postgres):
            time.sleep(7.5 if is_frozen_for_good else 3)
        outcome = end()
    summary = outcome.summary
    assert outcome.code == (5 if is_frozen_for_good else 0), outcome.stderr
    assert 150 < summary["overdue"] < 450
    assert summary["in_flight_at_end"] == 2
    assert summary["response"]["count"] == summary["service"]["count"] + summary["overdue"] + 2
    assert summary["response"]["max_us"] > 1_000_000
    assert summary["response"]["p90_us"] > 500_000


def test_a_library_that_does_not_return_is_left_behind_with_the_summary(program):
    spec = STUB | {"library": library(), "duration_s": 1, "method": "stmt"}
    began = time.monotonic()
    with started(program, spec, STUB_FAIL="taos_stmt_execute:9+:0xFFFF") as process:
        outcome = ended(process, 15)
    assert time.monotonic() - began < 8
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["rows_unanswered"]) == (5, 40, 10)
    assert outcome.summary["error_kinds"][0]["code"] == "deadline"


def test_a_server_that_lets_nobody_in_has_its_time(program, postgres):
    make_table(postgres, METERS)
    with stopped(postgres):
        began = time.monotonic()
        with started(program, {**postgres.spec(), "rows": 10, "connect_timeout_s": 2}) as process:
            outcome = ended(process, 20)
        assert time.monotonic() - began < 12
    assert (outcome.code, outcome.of("summary")) == (4, [])
    assert outcome.one("error")["message"]


@pytest.mark.parametrize(("call", "words"), [("taos_connect:1", "placing the tables"), ("taos_connect:2", "1 of 2")])
def test_a_library_that_does_not_connect_has_its_time(program, call, words):
    with started(program, STUB | {"library": library(), "rows": 10}, STUB_FAIL=f"{call}:0xFFFF") as process:
        outcome = ended(process, 15)
    assert outcome.code == 4
    assert outcome.one("error")["code"] == "deadline"
    assert words in outcome.one("error")["message"] and "tdengine" in outcome.one("error")["message"]


def test_an_adapter_that_says_nothing_has_its_time(run):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        spec = {"driver": "tdengine", "host": "127.0.0.1", "database": "test", "method": "rest", "rows": 1}
        outcome = run(spec | {"adapter_port": listener.getsockname()[1], "connect_timeout_s": 1})
    assert outcome.code == 4
    assert "taosAdapter has not answered" in outcome.one("error")["message"]


def test_creating_tables_has_its_time(program):
    with started(program, STUB | {"library": library()}, "tables", STUB_FAIL="taos_connect:2:0xFFFF") as process:
        outcome = ended(process, 20)
    assert outcome.code == 4
    assert "creating the tables" in outcome.one("error")["message"]


def test_a_statement_has_its_time(run, postgres, tmp_path):
    file = tmp_path / "statements.sql"
    file.write_text("SELECT 1\nSELECT pg_sleep(30)\nSELECT 2\n")
    began = time.monotonic()
    outcome = run({**postgres.spec(), "statements": file, "statement_timeout_s": 1}, "sql")
    assert time.monotonic() - began < 8
    assert outcome.code == 4
    assert [result["rows"] for result in outcome.of("result")] == [[[1]]]
    assert outcome.one("error")["code"] == "deadline"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("call", ["taos_connect:1", "taos_connect:2"], ids=["placing", "connecting"])
def test_a_signal_is_heeded_before_the_load(program, call, how):
    spec = STUB | {"library": library(), "rows": 10, "connect_timeout_s": 60}
    with started(program, spec, STUB_FAIL=f"{call}:0xFFFF") as process:
        time.sleep(0.5)
        process.send_signal(how)
        outcome = ended(process, 5)
    assert (outcome.code, outcome.one("error")["code"]) == (130, "interrupted")


def test_a_signal_is_heeded_while_a_stopped_server_is_asked(program, postgres):
    make_table(postgres, METERS)
    with stopped(postgres), started(program, {**postgres.spec(), "rows": 10}) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert ended(process, 5).code == 130


def full_pipe(process: subprocess.Popen) -> None:
    assert process.stdout
    fcntl.fcntl(process.stdout.fileno(), fcntl.F_SETPIPE_SZ, 4096)


UNREAD = {"driver": "null", "interval_s": 0.02, "rate": 100_000, "rows_per_request": 100}


def test_who_does_not_read_does_not_hold_the_end(program):
    with started(program, UNREAD | {"duration_s": 1}) as process:
        full_pipe(process)
        assert process.wait(15) == 7
        assert "standard output is not read" in process.stderr.read()


def test_who_does_not_read_does_not_hold_a_signal(program):
    with started(program, UNREAD | {"duration_s": 60}) as process:
        full_pipe(process)
        time.sleep(1.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) == 130


def test_who_reads_late_reads_everything(program):
    with started(program, UNREAD | {"duration_s": 2}) as process:
        full_pipe(process)
        threading.Event().wait(1.5)
        outcome = ended(process, 15)
    assert outcome.code == 0, outcome.stderr
    assert len(outcome.of("interval")) >= 20, "the pipe holds eight of them"
    assert sum(i["rows"] for i in outcome.of("interval")) == outcome.summary["rows_acked"]


def test_copy_to_stdout_is_refused_and_the_next_statement_is_answered(run, postgres, tmp_path):
    file = tmp_path / "statements.sql"
    file.write_text("COPY (SELECT generate_series(1, 100000)) TO STDOUT\nSELECT 7\nCOPY (SELECT 1) TO STDOUT\n")
    outcome = run({**postgres.spec(), "statements": file, "statement_timeout_s": 20}, "sql")
    first, second, third = outcome.of("result")
    assert outcome.code == 6
    assert (first["ok"], first["code"]) == (third["ok"], third["code"]) == (False, "COPY")
    assert second["rows"] == [[7]]
