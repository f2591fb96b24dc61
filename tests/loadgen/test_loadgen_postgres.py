"""The postgres driver against a real server: partitions, what the server refuses, and statements."""

from __future__ import annotations

import signal
import subprocess
import time

import pytest
from loadgen_program import parse, spec_text
from postgres_server import running_postgres
from running_load import ANSWERED, LASTING, METERS, begun, make_partitions, make_table
from third_request import assert_acked


@pytest.fixture
def partitioned(postgres):
    make_partitions(postgres, 3)
    return postgres


def test_acknowledged_rows_are_there_and_partitions_even(run, partitioned):
    spec = {"tables": 10, "partitions": 3, "threads": 3, "rows": 50_007, "rows_per_request": 1000}
    outcome = run({**partitioned.spec(), **spec})
    assert_acked(outcome, 50_007)
    assert outcome.one("hello")["tables_per_partition"] == [4, 3, 3]
    assert outcome.one("hello")["library"] == str(partitioned.library)
    counted = partitioned.query(
        "SELECT tableoid::regclass, count(*), count(DISTINCT device_id) FROM measurement GROUP BY 1 ORDER BY 1"
    )
    assert [int(rows) for _, rows, _ in counted] == [p["rows_acked"] for p in outcome.summary["partitions"]]
    assert [int(devices) for _, _, devices in counted] == [4, 3, 3]


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ({"tables": 4, "partitions": 4}, None, "has 3 hash partitions"),
        ({"table": "nowhere"}, "42P01", 'relation "nowhere" does not exist'),
        ({"socket_dir": "/nowhere"}, None, "No such file or directory"),
        ({"user": "stranger"}, None, "stranger"),
    ],
)
def test_where_no_load_can_begin_is_told(run, partitioned, more, code, words):
    outcome = run({**partitioned.spec(), "rows": 1, **more})
    assert outcome.code == 4
    assert words in outcome.stderr
    assert code in (None, outcome.one("error")["code"])


@pytest.mark.parametrize("deadline", [{}, {"request_timeout_s": 30}])
def test_an_sql_error_fails_the_request_only(run, partitioned, deadline):
    """One leaf refuses its rows: those requests are errors, all others are acknowledged."""
    partitioned.query("ALTER TABLE measurement_p1 ADD CHECK (voltage < 0)")
    spec = {"tables": 3, "partitions": 3, "rows": 3000, "rows_per_request": 100}
    outcome = run({**partitioned.spec(), **spec, **deadline})
    assert outcome.code == 6
    summary = outcome.summary
    assert (summary["rows_acked"], summary["rows_failed"], summary["errors"]) == (2000, 1000, 10)
    assert summary["rows_unanswered"] == 0
    assert [p["rows_acked"] for p in summary["partitions"]] == [1000, 0, 1000]
    assert [(e["code"], e["count"]) for e in outcome.of("error")] == [("23514", 1), ("23514", 10)]
    assert partitioned.query("SELECT count(*) FROM measurement") == [["2000"]]


def test_sql_answers_each_statement(program, run, postgres, tmp_path):
    spec = tmp_path / "spec"
    spec.write_text(spec_text(postgres.spec()))
    statements = (
        "-- a comment\nCREATE TEMP TABLE t (a int, b text, c float8);\n"
        "INSERT INTO t VALUES (1, 'x;y', 0.5), (2, E'q\"\\n', 'NaN'), (3, NULL, NULL)\n\n"
        "  SELECT a, b, c FROM t ORDER BY a;\nSELEC\nSELECT count(*) FROM t"
    )
    done = subprocess.run([program, "sql", spec], input=statements, capture_output=True, text=True)
    outcome = parse(done.returncode, done.stdout, done.stderr)
    created, inserted, selected, wrong, counted = outcome.of("result")
    assert outcome.code == 6
    assert created["ok"] and inserted["affected"] == 3
    assert selected["columns"] == ["a", "b", "c"]
    assert selected["rows"] == [[1, "x;y", 0.5], [2, 'q"\n', "NaN"], [3, None, None]]
    assert (wrong["ok"], wrong["code"]) == (False, "42601")
    assert counted["rows"] == [[3]]
    assert run(postgres.spec(), "sql").code == 2, "it names no file of statements"


def test_values_that_are_no_text_are_replaced(run, postgres):
    """A database in SQL_ASCII hands over any byte."""
    postgres.query("DROP DATABASE IF EXISTS bytes")
    postgres.query("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0")
    file = postgres.folder / "bytes.sql"
    file.write_text("SELECT E'a\\xffz', E'\\xc3\\xa4', E'\\xe2\\x82'\nSELECT E'\\xff'::int\n")
    outcome = run({**postgres.spec(), "database": "bytes", "statements": file}, "sql")
    row, wrong = outcome.of("result")
    assert row["rows"] == [["a\ufffdz", "ä", "\ufffd\ufffd"]]
    assert '"?"' in wrong["message"]


def test_the_password_is_read_from_the_environment(run, postgres):
    postgres.query("DROP ROLE IF EXISTS guest")
    postgres.query("CREATE ROLE guest LOGIN PASSWORD 'open sesame'")
    file = postgres.data / "pg_hba.conf"
    before = file.read_text()
    file.write_text("local all guest scram-sha-256\n" + before)
    postgres.query("SELECT pg_reload_conf()")
    statement = {**postgres.spec(), "user": "guest", "statements": "/dev/null"}
    deadline = time.monotonic() + 50
    while run(statement, "sql", env={"SCALE_PASSWORD": "wrong"}).code == 0:  # the new rule is not in force yet
        assert time.monotonic() < deadline
    assert run(statement, "sql", env={"SCALE_PASSWORD": "wrong"}).code == 4
    assert run(statement, "sql", env={"SCALE_PASSWORD": "open sesame"}).code == 0
    file.write_text(before)
    postgres.query("SELECT pg_reload_conf()")


@pytest.mark.parametrize("deadline", [{}, {"request_timeout_s": 30}])
def test_a_server_that_dies_is_fatal_and_summed_up(program, deadline):
    """And no late one."""
    with running_postgres() as server:
        make_table(server, METERS)
        with begun(program, {**server.spec(), **LASTING, **deadline}, said=ANSWERED) as running:
            server.stop(signal.SIGQUIT)
            outcome = running.end()
    assert (outcome.code, outcome.summary["outcome"]) == (5, "fatal")
    assert outcome.summary["rows_acked"] > 0 and outcome.of("error")
    assert "deadline" not in {e["code"] for e in outcome.of("error")}
    assert not deadline or outcome.summary["rows_unanswered"] == 0
