"""The driver of CrateDB against a server of our own making, which answers as CrateDB 6.4.3 did: its statements, the
rows that it counts in an answer, and its queries."""

from __future__ import annotations

import json

import pytest
from line_server import STORED, CrateServer
from loadgen_program import float32
from third_request import RANGES, ROWS, TYPES, assert_acked, load_fixture, server_fixture

from tests.loadgen.listening import http_answer

SPEC = ROWS | {"driver": "cratedb", "columns": "current:float,voltage:int"}
METHODS = ("unnest", "bulk")
# Answers of CrateDB 6.4.3.
FAILED_ROW = (
    '{"cols":[],"duration":124.20234,"results":[{"rowcount":1},{"rowcount":-2,"error":{"code":4000,"message":'
    '"SQLParseException[Failed CONSTRAINT pos CHECK (\\"a\\" > 0) for values: [-2, b]]"}},{"rowcount":1}]}'
)
MISSING = '{"error":{"message":"RelationUnknown[Relation \'nosuch\' unknown]","code":4041}}'
ANSWER = '{"cols":["time","a"],"rows":[[1500000000000,2.5],[1500000000001,null]],"rowcount":2,"duration":0.276}'
server = server_fixture(CrateServer)
send = load_fixture(SPEC)


def rows_in(server: CrateServer) -> list[tuple[object, ...]]:
    """The rows of all requests, in their order."""
    found: list[tuple[object, ...]] = []
    for body in map(json.loads, server.bodies):
        found += zip(*body["args"], strict=True) if "args" in body else map(tuple, body["bulk_args"])
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("nulls", [0, 0.4, 1])
@pytest.mark.parametrize("interlaced", [0, 3])
def test_bodies_hold_the_rows(send, made, server, method, nulls, interlaced):
    spec = {"columns": f"{TYPES},x:binary(9)", "values": "random", "null_ratio": nulls, "tables": 7, "rows": 700}
    spec |= {"interlace_rows": interlaced}
    assert_acked(send(method=method, **spec), 700)
    wanted = [(row.table, row.at, *row.values) for row in made(**SPEC | spec)]
    found = [(table, at, float32(first), *rest) for table, at, first, *rest in rows_in(server)]
    assert sorted(found, key=lambda row: row[:2]) == sorted(wanted, key=lambda row: row[:2])


def test_a_statement_names_its_columns_and_the_types_of_its_arrays(send, server):
    assert send(method="unnest").code == send(method="bulk").code == 0
    assert json.loads(server.bodies[0])["stmt"] == (
        'INSERT INTO "measurement" (device_id, time, "current", "voltage") (SELECT * FROM UNNEST('
        "?::ARRAY(INTEGER), ?::ARRAY(BIGINT), ?::ARRAY(REAL), ?::ARRAY(INTEGER)))"
    )
    assert json.loads(server.bodies[-1])["stmt"] == (
        'INSERT INTO "measurement" (device_id, time, "current", "voltage") VALUES (?, ?, ?, ?)'
    )
    assert server.heads[0].startswith("POST /_sql HTTP/1.1\r\n") and "Content-Type: application/json" in server.heads[0]


def test_texts_are_escaped(send, server):
    assert_acked(send(columns="t:binary(40)", values="random", rows=400, rows_per_request=100), 400)
    assert all(isinstance(row[2], str) for row in rows_in(server))


@pytest.mark.parametrize("method", METHODS)
def test_only_the_columns_of_the_request_are_sent(send, server, method):
    assert_acked(send(method=method, partial_columns=1, partial_from=1))
    assert '"voltage"' in json.loads(server.bodies[0])["stmt"] and "current" not in server.bodies[0]
    assert {len(row) for row in rows_in(server)} == {3}


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (http_answer(STORED % 4), "COUNT", "inserted 4 of 5 rows"),
        (http_answer(STORED % 6), "COUNT", "inserted 6 of 5 rows"),
        (http_answer(STORED % -1), "COUNT", "inserted 0 of 5 rows"),
        (http_answer(FAILED_ROW), "COUNT", 'inserted 2 of 5 rows: "error":{"code":4000,"message":"SQLParseException['),
        (http_answer("{}"), "COUNT", "inserted 0 of 5 rows"),
        (http_answer(MISSING, "404 Not Found"), "HTTP404", "Relation 'nosuch' unknown"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_rows_that_the_answer_does_not_count_are_not_acknowledged(send, server, method, answer, code, words):
    server.told = answer
    outcome = send(method=method)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (6, 0, 40)
    error = outcome.of("error")[0]
    assert error["code"] == code and words in error["message"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("tables", "interlaced"), [(1, 0), (2, 1)])
def test_a_large_request_goes_in_pieces(send, server, method, tables, interlaced):
    more = {"rows": 160_000, "rows_per_request": 160_000, "tables": tables, "interlace_rows": interlaced}
    outcome = send(method=method, **more)
    assert_acked(outcome, 160_000)
    assert outcome.summary["requests"] == 1 and len(server.bodies) >= 2
    for table in range(tables):
        times = [row[1] for row in rows_in(server) if row[0] == table]
        assert times == list(range(1500000000000, 1500000000000 + 160_000 // tables))


def test_a_query_is_the_statement_of_an_object(run, server):
    server.told = http_answer(ANSWER)
    text = 'SELECT time, "a" FROM m WHERE b = \'\\\' AND d = {device} AND time >= {from} AND time < {to} -- {{"x"}}'
    asking = {"query_path": "/_sql", "query_posted": 1, "query_member": "stmt", "answer_rows": "rows"}
    outcome = run(RANGES | {"driver": "cratedb", "port": server.port, "ask.range.text": text, **asking})
    told = outcome.of("asked")
    assert told and all((event["rows"], event["values"]) == (2, 4) for event in told), outcome.stderr
    for event, body in zip(told, server.bodies, strict=False):
        filled = text.format(**{"device": event["devices"][0], "from": event["from_ms"], "to": event["to_ms"]})
        assert json.loads(body) == {"stmt": filled}
