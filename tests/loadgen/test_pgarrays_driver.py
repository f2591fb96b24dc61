"""The driver that inserts arrays by the PostgreSQL protocol, against a server of our own making: its statement, and the
rows in its arrays."""

from __future__ import annotations

import re

import pytest
from pgarrays_server import ArraysServer
from third_request import ROWS, TYPES, assert_acked, load_fixture, server_fixture

SPEC = ROWS | {"driver": "pgarrays", "columns": "current:float,voltage:int"}
server = server_fixture(ArraysServer)
send = load_fixture(SPEC)


@pytest.mark.parametrize("nulls", [0, 0.4, 1])
@pytest.mark.parametrize("interlaced", [0, 3])
def test_arrays_hold_the_rows(send, made, server, nulls, interlaced):
    spec = {"columns": f"{TYPES},x:binary(9)", "values": "random", "null_ratio": nulls, "tables": 7, "rows": 700}
    spec |= {"interlace_rows": interlaced, "rows_per_request": 90}
    assert_acked(send(**spec), 700)
    wanted = [(row.table, row.at, *row.values) for row in made(**SPEC | spec)]
    assert sorted(server.stored, key=lambda row: row[:2]) == sorted(wanted, key=lambda row: row[:2])


def test_the_statement_names_its_columns_and_types(send, server):
    assert_acked(send(env={"SCALE_PASSWORD": "a password"}))
    assert server.sql == (
        'INSERT INTO "measurement" (device_id, time, "current", "voltage") (SELECT * FROM UNNEST('
        "$1::ARRAY(INTEGER), $2::ARRAY(BIGINT), $3::ARRAY(REAL), $4::ARRAY(INTEGER)))"
    )
    assert server.types == (1007, 1016, 1021, 1007)
    assert server.startup[:4] == ["user", "crate", "database", "doc"] and server.passwords == ["a password"]
    assert_acked(send(partial_columns=1, partial_from=1))
    assert re.findall(r'"(\w+)"', server.sql) == ["measurement", "voltage"] and len(server.stored[-1]) == 3


def test_a_large_request_goes_in_pieces(send, server):
    outcome = send(rows=400_000, rows_per_request=400_000, tables=1)
    assert_acked(outcome, 400_000)
    assert outcome.summary["requests"] == 1 and server.transactions >= 2
    assert [row[1] for row in server.stored] == list(range(1500000000000, 1500000400000))


def test_a_table_that_is_missing_is_found_before_the_load(send, server):
    server.refuses_statement = "INSERT"
    outcome = send()
    assert outcome.code == 4 and "Relation unknown" in str(outcome.events) + outcome.stderr
