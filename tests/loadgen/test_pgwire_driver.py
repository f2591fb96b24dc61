"""The driver of INSERT by the PostgreSQL protocol against a server of our own making: its rows, and answers that go
wrong."""

from __future__ import annotations

import csv
from collections import defaultdict

import pytest
from pgwire_server import PgwireServer
from third_request import assert_unanswered, load_fixture, server_fixture

SPEC = {"driver": "pgwire", "host": "127.0.0.1", "tables": 4, "threads": 1, "rows": 40, "rows_per_request": 5}
SPEC |= {"tags": "", "columns": "current:float,voltage:int,phase:float"}
COLUMNS = "f:float,d:double,b:bool,t:tinyint,s:smallint,i:int,l:bigint,ut:utinyint,us:usmallint,u:uint,n:timestamp"
COLUMNS += ",x:binary(8),y:nchar(4)"


server = server_fixture(PgwireServer)
send = load_fixture(SPEC)


def as_dumped(value: object, kind: str) -> str:
    """A value as the null driver dumps it."""
    if value is None:
        return "NULL"
    if kind in ("float", "double"):
        return f"{value:.9g}" if kind == "float" else f"{value:.17g}"
    return str(value)


@pytest.mark.parametrize("precision", ["ms", "us", "ns"])
@pytest.mark.parametrize("nulls", [0, 0.4])
def test_every_value_arrives_as_it_was_made(run, send, server, tmp_path, precision, nulls):
    spec = {"columns": COLUMNS, "null_ratio": nulls, "tables": 7, "rows": 700, "rows_per_request": 90}
    spec |= {"interlace_rows": 3, "partitions": 3, "parted": 1, "threads": 1, "text": "random", "precision": precision}
    sent = send(**spec)
    assert (sent.code, sent.summary["rows_acked"]) == (0, 700), sent.stderr
    del spec["parted"]
    assert run(SPEC | spec | {"driver": "null", "dump": tmp_path / "rows"}).code == 0
    wanted = defaultdict(list)
    per_us = {"ms": 0.001, "us": 1, "ns": 1000}[precision]
    for table, _, at, *row in csv.reader((tmp_path / "rows.0").read_text().splitlines()):
        wanted[f"d{table}"].append((int(int(at) / per_us), row))
    kinds = [c.split(":")[1] for c in COLUMNS.split(",")]
    found = defaultdict(list)
    for table, rows in server.rows.items():
        for device, *values, at in rows:
            assert table == f"measurement_p{int(device[1:]) % 3}"
            found[device].append((at, [as_dumped(v, kind) for v, kind in zip(values, kinds, strict=True)]))
    assert found == wanted
    assert server.names("p2_1") == ["device", *(c.split(":")[0] for c in COLUMNS.split(",")), "timestamp"]


def test_tags_are_columns_of_text(send, server):
    assert send(tags="groupid:int,location:binary(24)", tables=3, rows=6).code == 0
    assert server.names("p0_1") == ["device", "groupid", "location", "current", "voltage", "phase", "timestamp"]
    tags = {row[0]: row[1:3] for row in server.rows["measurement"]}
    assert set(tags) == {"d0", "d1", "d2"}
    assert all(group.lstrip("-").isdigit() and "'" not in location for group, location in tags.values())


def test_a_part_of_the_columns(send, server):
    assert send(partial_from=1, partial_columns=1, rows=10).code == 0
    assert server.names("p0_1") == ["device", "voltage", "timestamp"]
    assert len(server.rows["measurement"]) == 10


@pytest.mark.parametrize(("login", "passwords"), [("", ["a word of many letters"]), ("trust", [])])
def test_it_logs_in_with_the_password_of_the_environment(send, server, monkeypatch, login, passwords):
    monkeypatch.setenv("SCALE_PASSWORD", "a word of many letters")
    server.login = login
    assert send(user="someone", database="something").code == 0
    assert server.passwords in (passwords, passwords * 2)
    assert server.startup[:4] == ["user", "someone", "database", "something"]


@pytest.mark.parametrize(("login", "words"), [("denied", "invalid username/password"), ("scram", "asks for login 10")])
def test_a_login_that_fails_is_told(send, server, login, words):
    server.login = login
    outcome = send()
    assert outcome.code == 4
    assert words in outcome.of("error")[0]["message"]


def test_a_statement_that_is_refused_ends_the_start_in_the_servers_words(send, server):
    server.refuses_statement = "measurement"
    outcome = send()
    assert outcome.code == 4
    assert (outcome.of("error")[0]["code"], outcome.of("error")[0]["message"]) == ("42P01", "table does not exist")


@pytest.mark.parametrize(
    ("mood", "code", "words"),
    [
        ("refused", "22P02", "inconvertible value"),
        ("commit refused", "58000", "could not commit"),
        ("few", "COUNT", "it inserted 0 of 5 rows"),
        ("garbage", "PROTOCOL", "a message of kind 0xFF was not expected"),
        ("partial", "CONNECTION", "the connection was closed"),
        ("cut", "CONNECTION", "the connection was closed"),
        ("short", "CONNECTION", "a message that is shorter than its own length"),
        ("huge", "CONNECTION", "the answer is longer than"),
    ],
)
def test_a_request_that_is_not_answered_well_fails_alone(send, server, mood, code, words):
    server.moods[3] = mood
    outcome = send()
    (error,) = outcome.of("error")
    assert (error["code"], outcome.code) == (code, 6)
    assert words in error["message"]
    assert (outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (35, 5)
    assert server.transactions == 8


def test_notices_are_no_answers(send, server):
    server.moods |= {2: "notice", 5: "notice"}
    outcome = send()
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)


@pytest.mark.parametrize(
    ("rows", "statements"), [(7, {"p0_1"}), (30, {"p0_1", "p0_10"}), (237, {"p0_1", "p0_10", "p0_100"})]
)
def test_statements_have_as_many_rows_as_the_request_has_for_them(send, server, rows, statements):
    assert send(rows=rows, rows_per_request=rows, tables=1).code == 0
    assert set(server.statements) - {"begin", "commit", "rollback"} == statements
    assert [at for *_, at in server.rows["measurement"]] == [1500000000000000 + 1000 * i for i in range(rows)]


def test_rows_of_one_sql_table_go_together(send, server):
    """Rows that come in turn from tables of four parts: 25 of each part in a request."""
    spec = {"rows": 800, "rows_per_request": 100, "tables": 8, "interlace_rows": 1, "partitions": 4, "parted": 1}
    assert send(**spec).code == 0
    assert {name for name in server.statements if "_" in name} == {f"p{p}_{n}" for p in range(4) for n in (1, 10)}
    assert {table: len(rows) for table, rows in server.rows.items()} == {f"measurement_p{p}": 200 for p in range(4)}


def test_many_columns_have_statements_of_fewer_rows(send, server):
    columns = ",".join(f"c{i}:double" for i in range(1000))
    assert send(columns=columns, rows=64, rows_per_request=64, tables=1).code == 0
    assert {name for name in server.statements if "_" in name} == {"p0_21", "p0_1"}
    assert len(server.rows["measurement"]) == 64


def test_a_large_request_is_one_transaction_that_is_read_in_between(send, server):
    outcome = send(rows=50_000, rows_per_request=50_000, tables=1)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["requests"]) == (0, 50_000, 1)
    assert server.transactions == 1
    assert server.flushes >= 4
    assert len(server.rows["measurement"]) == 50_000


@pytest.mark.parametrize("mood", ["refused", "commit refused"])
def test_an_error_in_a_large_request_stores_none_of_it(send, server, mood):
    server.moods[1] = mood
    outcome = send(rows=60_000, rows_per_request=30_000, tables=1)
    assert (outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (30_000, 30_000)
    assert server.transactions == 2
    assert [at for *_, at in server.rows["measurement"]][::10_000] == [1500000030000000 + 10**7 * i for i in range(3)]


def test_a_statement_that_is_refused_in_a_request_fails_it_and_the_connection_is_good(send, server):
    server.refuses_statement = "), ($6"  # one of several rows
    outcome = send(rows=45, rows_per_request=15, tables=1)
    assert outcome.code == 6
    assert (outcome.summary["rows_failed"], outcome.of("error")[0]["code"]) == (45, "42P01")
    assert (server.transactions, len(server.passwords)) == (3, 1)
    assert not server.rows


@pytest.mark.parametrize("mood", ["silence", "drip"])
def test_a_request_without_an_answer_ends_by_its_deadline(send, server, mood):
    server.moods[3] = mood
    assert_unanswered(send)


@pytest.mark.parametrize("column", ["w:varbinary(8)", "w:ubigint", "w:geometry(24)"])
def test_what_an_insert_cannot_write_is_refused(run, column):
    outcome = run(SPEC | {"port": 1, "columns": f"a:int,{column}"})
    assert outcome.code == 2
    assert f"an INSERT has no way to write {column.partition('(')[0]}" in outcome.stderr + str(outcome.events)


def test_no_server_is_said(run):
    outcome = run(SPEC | {"port": 1})
    assert outcome.code == 4
    assert "cannot connect to 127.0.0.1:1" in outcome.of("error")[0]["message"]


def test_nothing_is_sent_when_sending_is_stubbed(run):
    outcome = run(SPEC | {"port": 1, "sending": "stubbed"})
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)
