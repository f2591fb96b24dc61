"""The driver of INSERT by the PostgreSQL protocol against a server of our own making: its rows, statements and
transactions."""

from __future__ import annotations

import pytest
from pgwire_server import PgwireServer
from third_request import ROWS, assert_acked, load_fixture, server_fixture

SPEC = ROWS | {"driver": "pgwire"}
server = server_fixture(PgwireServer)
send = load_fixture(SPEC)


def test_tags_are_columns_of_text(send, server):
    assert_acked(send(tags="groupid:int,location:binary(24)", tables=3, rows=6), 6)
    assert server.names("p0_1") == ["device", "groupid", "location", "current", "voltage", "phase", "timestamp"]
    tags = {row[0]: row[1:3] for row in server.rows["measurement"]}
    assert set(tags) == {"d0", "d1", "d2"}
    assert all(group.lstrip("-").isdigit() and "'" not in location for group, location in tags.values())


def test_a_part_of_the_columns(send, server):
    assert_acked(send(partial_from=1, partial_columns=1, rows=10), 10)
    assert server.names("p0_1") == ["device", "voltage", "timestamp"]
    assert len(server.rows["measurement"]) == 10


@pytest.mark.parametrize(("login", "passwords"), [("", ["a word of many letters"]), ("trust", [])])
def test_it_logs_in_with_the_password_of_the_environment(send, server, login, passwords):
    server.login = login
    assert_acked(send(user="someone", database="something", env={"SCALE_PASSWORD": "a word of many letters"}))
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
    ("rows", "statements"), [(7, {"p0_1"}), (30, {"p0_1", "p0_10"}), (237, {"p0_1", "p0_10", "p0_100"})]
)
def test_statements_have_as_many_rows_as_the_request_has_for_them(send, server, rows, statements):
    assert_acked(send(rows=rows, rows_per_request=rows, tables=1), rows)
    assert set(server.statements) - {"begin", "commit", "rollback"} == statements
    assert [at for *_, at in server.rows["measurement"]] == [1500000000000000 + 1000 * i for i in range(rows)]


def test_rows_of_one_sql_table_go_together(send, server):
    """Rows that come in turn from tables of four parts: 25 of each part in a request."""
    spec = {"rows": 800, "rows_per_request": 100, "tables": 8, "interlace_rows": 1, "partitions": 4, "parted": 1}
    assert_acked(send(**spec), 800)
    assert {name for name in server.statements if "_" in name} == {f"p{p}_{n}" for p in range(4) for n in (1, 10)}
    assert {table: len(rows) for table, rows in server.rows.items()} == {f"measurement_p{p}": 200 for p in range(4)}


def test_many_columns_have_statements_of_fewer_rows(send, server):
    columns = ",".join(f"c{i}:double" for i in range(1000))
    assert_acked(send(columns=columns, rows=64, rows_per_request=64, tables=1), 64)
    assert {name for name in server.statements if "_" in name} == {"p0_21", "p0_1"}
    assert len(server.rows["measurement"]) == 64


def test_a_large_request_is_one_transaction_that_is_read_in_between(send, server):
    outcome = send(rows=50_000, rows_per_request=50_000, tables=1)
    assert_acked(outcome, 50_000)
    assert (outcome.summary["requests"], server.transactions) == (1, 1) and server.flushes >= 4
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
