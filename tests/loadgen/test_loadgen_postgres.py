"""The postgres driver against a real server."""

from __future__ import annotations

import signal
import subprocess
import time

import pytest
from loadgen_program import parse, spec_text
from postgres_server import running_postgres
from running_load import ANSWERED, LASTING, METERS, begun, make_table
from test_postgres_rows import TYPES


@pytest.fixture
def partitioned(postgres):
    postgres.query("DROP TABLE IF EXISTS measurement")
    postgres.query(f"CREATE TABLE measurement ({METERS}) PARTITION BY HASH (device_id)")
    for p in range(3):
        postgres.query(
            f"CREATE TABLE measurement_p{p} PARTITION OF measurement FOR VALUES WITH (MODULUS 3, REMAINDER {p})"
        )
    return postgres


def test_acknowledged_rows_are_there_and_partitions_even(run, partitioned):
    outcome = run(
        {**partitioned.spec(), "tables": 10, "partitions": 3, "threads": 3, "rows": 50_007, "rows_per_request": 1000}
    )
    assert outcome.code == 0, outcome.stderr
    summary = outcome.summary
    assert summary["rows_acked"] == 50_007
    assert outcome.one("hello")["tables_per_partition"] == [4, 3, 3]
    assert outcome.one("hello")["library"] == str(partitioned.library)
    counted = partitioned.query(
        "SELECT tableoid::regclass, count(*), count(DISTINCT device_id) FROM measurement GROUP BY 1 ORDER BY 1"
    )
    assert [int(rows) for _, rows, _ in counted] == [p["rows_acked"] for p in summary["partitions"]]
    assert [int(devices) for _, _, devices in counted] == [4, 3, 3]


def test_what_arrives_is_what_was_made(run, rows_of, partitioned):
    spec = {"tables": 3, "partitions": 3, "rows": 3000, "rows_per_request": 300, "seed": 5}
    assert run({**partitioned.spec(), **spec}).code == 0
    arrived = partitioned.query(
        "SELECT (extract(epoch FROM time) * 1000)::bigint, current, voltage, phase FROM measurement"
    )
    made = [row.split(",")[2:] for row in rows_of(**spec)]
    arrived, made = (
        sorted((int(t), round(float(c), 3), int(v), round(float(p), 3)) for t, c, v, p in rows)
        for rows in (arrived, made)
    )
    assert len(made) == 3000
    assert arrived == made


def test_all_types_and_nulls_arrive(run, postgres):
    types = TYPES | {"m": ("binary(20)", "text"), "n": ("nchar(15)", "text"), "o": ("varbinary(9)", "bytea")}
    ours = ",".join(f"{name}:{kind}" for name, (kind, _) in types.items())
    theirs = ", ".join(f"{name} {kind}" for name, (_, kind) in types.items())
    postgres.query("DROP TABLE IF EXISTS mixed")
    postgres.query(f"CREATE TABLE mixed (time timestamptz, device_id int4, {theirs})")
    base = {**postgres.spec(), "table": "mixed", "columns": ours, "rows": 2000, "tables": 2, "precision": "us"}
    assert run(base).code == 0
    assert run({**base, "null_ratio": 0.3, "seed": 2}).code == 0
    assert run({**base, "partial_from": 2, "partial_columns": 2, "step_ms": 0.5}).code == 0
    (row,) = postgres.query(
        "SELECT count(*), count(b), count(c), min(l) > '2017-01-01', max(length(m)) <= 20,"
        " max(length(o)) <= 9, bool_and(k BETWEEN 0 AND 1000), bool_and(f <= 200) FROM mixed"
    )
    assert row[0] == "6000"
    assert 3300 < int(row[1]) < 3500
    assert 5300 < int(row[2]) < 5500
    assert row[3:] == ["t"] * 5


def test_a_plain_table_takes_one_partition(run, postgres):
    postgres.query("DROP TABLE IF EXISTS plain")
    postgres.query(f"CREATE TABLE plain ({METERS})")
    assert run({**postgres.spec(), "table": "plain", "rows": 100, "tables": 4}).code == 0
    assert postgres.query("SELECT count(*), count(DISTINCT device_id) FROM plain") == [["100", "4"]]


def test_other_partitions_than_the_spec_says_are_refused(run, partitioned):
    outcome = run({**partitioned.spec(), "tables": 4, "partitions": 4, "rows": 1})
    assert outcome.code == 4
    assert "has 3 hash partitions" in outcome.stderr


def test_no_table_is_refused_in_the_servers_words(run, postgres):
    outcome = run({**postgres.spec(), "table": "nowhere", "rows": 1})
    assert outcome.code == 4
    assert 'relation "nowhere" does not exist' in outcome.stderr
    assert outcome.one("error")["code"] == "42P01"


def test_a_refused_connection_is_code_4(run, postgres):
    spec = postgres.spec() | {"socket_dir": "/nowhere"}
    outcome = run({**spec, "rows": 1})
    assert outcome.code == 4
    assert "No such file or directory" in outcome.one("error")["message"]
    assert run({**postgres.spec(), "user": "stranger", "rows": 1}).code == 4


def test_an_sql_error_fails_the_request_only(run, partitioned):
    """One leaf refuses its rows: those requests are errors, all others are acknowledged."""
    partitioned.query("ALTER TABLE measurement_p1 ADD CHECK (voltage < 0)")
    outcome = run({**partitioned.spec(), "tables": 3, "partitions": 3, "rows": 3000, "rows_per_request": 100})
    assert outcome.code == 6
    summary = outcome.summary
    assert (summary["rows_acked"], summary["rows_failed"], summary["errors"]) == (2000, 1000, 10)
    assert [p["rows_acked"] for p in summary["partitions"]] == [1000, 0, 1000]
    assert [(e["code"], e["count"]) for e in outcome.of("error")] == [("23514", 1), ("23514", 10)]
    assert partitioned.query("SELECT count(*) FROM measurement") == [["2000"]]


def test_sql_answers_each_statement(program, postgres, tmp_path):
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


@pytest.mark.parametrize("shift", range(3))
def test_words_that_are_not_ascii_are_cut_between_characters(run, postgres, shift):
    """The server repeats a long name of three-byte characters; the message has capacity for 480 bytes."""
    postgres.query(
        "CREATE OR REPLACE FUNCTION complain(int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION '%', repeat('x', $1) || repeat('語', 400); END $$"
    )
    file = postgres.folder / "words.sql"
    file.write_text(f"SELECT complain({shift})\n")
    outcome = run({**postgres.spec(), "statements": file}, "sql")
    message = outcome.one("result")["message"]
    assert message.rstrip("語").endswith("x" * shift)
    assert 470 < len(message.encode()) < 480
    assert "\ufffd" not in message and "?" not in message


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


def test_sql_from_a_file_named_by_the_spec(run, postgres, tmp_path):
    file = tmp_path / "statements.sql"
    file.write_text("SELECT 1 AS one;\n")
    outcome = run({**postgres.spec(), "statements": file}, "sql")
    assert outcome.one("result")["rows"] == [[1]]
    assert run(postgres.spec(), "sql").code == 2


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


def test_a_server_that_dies_is_fatal_and_summed_up(program):
    with running_postgres() as server:
        make_table(server, METERS)
        with begun(program, {**server.spec(), **LASTING}, said=ANSWERED) as running:
            server.stop(signal.SIGQUIT)
            outcome = running.end()
    assert (outcome.code, outcome.summary["outcome"]) == (5, "fatal")
    assert outcome.summary["rows_acked"] > 0
    assert outcome.of("error")


@pytest.mark.parametrize("interlace", [0, 7])
def test_with_its_sending_stubbed_copy_makes_rows_and_asks_no_server(run, postgres, interlace):
    """At an address where nobody listens: a library that tried to connect would fail."""
    spec = {
        "tables": 100,
        "partitions": 4,
        "threads": 1,
        "rows": 200_000,
        "interlace_rows": interlace,
        "rows_per_request": 1000,
        "sending": "stubbed",
    }
    nowhere = {**postgres.spec(), "socket_dir": "/nonexistent"}
    copied = run({**nowhere, **spec})
    assert copied.code == 0, copied.stderr
    assert copied.summary["errors"] == 0
    assert len(copied.summary["partitions"]) == 4
    assert copied.summary["rows_acked"] == sum(p["rows_acked"] for p in copied.summary["partitions"]) == 200_000
