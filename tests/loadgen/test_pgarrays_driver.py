"""The driver that inserts arrays by the PostgreSQL protocol, against a server of our own making and its statement."""

from __future__ import annotations

import re

from pgarrays_server import ArraysServer
from third_request import ROWS, assert_acked, load_fixture, server_fixture

SPEC = ROWS | {"driver": "pgarrays", "columns": "current:float,voltage:int"}
server = server_fixture(ArraysServer)
send = load_fixture(SPEC)


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


def test_a_table_that_is_missing_is_found_before_the_load(send, server):
    server.refuses_statement = "INSERT"
    outcome = send()
    assert outcome.code == 4 and "Relation unknown" in str(outcome.events) + outcome.stderr
