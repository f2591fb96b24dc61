"""The driver of CrateDB against a server of our own making, which answers as CrateDB 6.4.3 did: its statements, the
rows that it counts in an answer, and its queries."""

from __future__ import annotations

import json

import pytest
from line_server import STORED, CrateServer
from third_request import RANGES, ROWS, load_fixture, server_fixture

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


def test_a_statement_names_its_columns_and_the_types_of_its_arrays(send, server):
    assert send(method="unnest").code == send(method="bulk").code == 0
    assert json.loads(server.bodies[0])["stmt"] == (
        'INSERT INTO "measurement" (device_id, time, "current", "voltage") (SELECT * FROM UNNEST('
        "?::ARRAY(INTEGER), ?::ARRAY(BIGINT), ?::ARRAY(REAL), ?::ARRAY(INTEGER)))"
    )
    assert json.loads(server.bodies[-1])["stmt"] == (
        'INSERT INTO "measurement" (device_id, time, "current", "voltage") VALUES (?, ?, ?, ?)'
    )
    assert send(partial_columns=1, partial_from=1).code == 0
    assert '"voltage"' in json.loads(server.bodies[-1])["stmt"] and "current" not in server.bodies[-1]
    assert server.heads[0].startswith("POST /_sql HTTP/1.1\r\n") and "Content-Type: application/json" in server.heads[0]


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
