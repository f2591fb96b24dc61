"""The driver of CrateDB against a server of our own making, which answers as CrateDB 6.4.3 did: its statements, the
rows that it counts in an answer, and its queries."""

from __future__ import annotations

import csv
import json
import socket
import struct
from dataclasses import dataclass

import pytest
from line_server import REFUSALS, LineServer
from third_request import RANGES, assert_refused, assert_unanswered, load_fixture, server_fixture

SPEC = {"driver": "cratedb", "host": "127.0.0.1", "tables": 4, "threads": 1, "rows": 40, "rows_per_request": 5}
SPEC |= {"tags": "", "columns": "current:float,voltage:int"}
COLUMNS = "f:float,d:double,b:bool,t:tinyint,s:smallint,i:int,l:bigint,ut:utinyint,us:usmallint,u:uint,x:binary(9),w:timestamp"
METHODS = ("unnest", "bulk")
# Answers of CrateDB 6.4.3.
STORED = '{"cols":[],"rows":[[]],"rowcount":%d,"duration":74.24482}'
STORED_ROWS = '{"cols":[],"duration":112.71583,"results":[%s]}'
FAILED_ROW = (
    '{"cols":[],"duration":124.20234,"results":[{"rowcount":1},{"rowcount":-2,"error":{"code":4000,"message":'
    '"SQLParseException[Failed CONSTRAINT pos CHECK (\\"a\\" > 0) for values: [-2, b]]"}},{"rowcount":1}]}'
)
MISSING = '{"error":{"message":"RelationUnknown[Relation \'nosuch\' unknown]","code":4041}}'
ROWS = '{"cols":["time","a"],"rows":[[1500000000000,2.5],[1500000000001,null]],"rowcount":2,"duration":0.276}'


def http(text: str, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json; charset=UTF-8\r\ncontent-length: {len(text)}\r\n\r\n"
    return head.encode() + text.encode()


@dataclass
class CrateServer(LineServer):
    """It stores every row, unless it is told an answer."""

    told: bytes = b""

    def _answer(self, connection: socket.socket) -> bool:
        body = json.loads(self.bodies[-1])
        if "args" in body:
            self.answer = self.told or http(STORED % len(body["args"][0]))
        else:
            rows = len(body.get("bulk_args", ()))
            self.answer = self.told or http(STORED_ROWS % ",".join(['{"rowcount":1}'] * rows))
        return super()._answer(connection)


server = server_fixture(CrateServer)
send = load_fixture(SPEC)


def rows_in(server: LineServer) -> list[tuple[object, ...]]:
    """The rows of all requests, in their order."""
    found: list[tuple[object, ...]] = []
    for body in map(json.loads, server.bodies):
        found += zip(*body["args"], strict=True) if "args" in body else map(tuple, body["bulk_args"])
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("nulls", [0, 0.4, 1])
@pytest.mark.parametrize("interlaced", [0, 3])
def test_bodies_hold_the_rows(run, send, server, tmp_path, method, nulls, interlaced):
    spec = {"columns": COLUMNS, "values": "random", "null_ratio": nulls, "tables": 7, "rows": 700}
    spec |= {"interlace_rows": interlaced}
    sent = send(method=method, **spec)
    assert (sent.code, sent.summary["rows_acked"]) == (0, 700), sent.stderr
    assert run(SPEC | spec | {"driver": "null", "dump": tmp_path / "rows"}).code == 0
    kinds = [column.partition(":")[2].partition("(")[0] for column in COLUMNS.split(",")]
    wanted = sorted(
        (int(table), int(at), *map(value_of, kinds, cells))
        for table, _, at, *cells in csv.reader((tmp_path / "rows.0").read_text().splitlines())
    )
    found = sorted((row[0], row[1], *map(value_of, kinds, map(text_of, row[2:]))) for row in rows_in(server))
    assert found == wanted


def value_of(kind: str, cell: str) -> object:
    """A cell of a dump as a value. A float has 32 bits."""
    if cell == "NULL":
        return None
    if kind == "bool":
        return cell in ("1", "true")
    if kind == "float":
        return struct.unpack("f", struct.pack("f", float(cell)))[0]
    return cell if kind == "binary" else float(cell) if kind == "double" else int(cell)


def text_of(value: object) -> str:
    """A value of JSON as a dump has it."""
    return "NULL" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


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
    columns = {"columns": "t:binary(40)", "values": "random"}
    assert send(**columns, rows=400, rows_per_request=100).code == 0
    assert all(isinstance(row[2], str) for row in rows_in(server))


@pytest.mark.parametrize("method", METHODS)
def test_only_the_columns_of_the_request_are_sent(send, server, method):
    assert send(method=method, partial_columns=1, partial_from=1).code == 0
    assert '"voltage"' in json.loads(server.bodies[0])["stmt"] and "current" not in server.bodies[0]
    assert {len(row) for row in rows_in(server)} == {3}


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (http(STORED % 4), "COUNT", "inserted 4 of 5 rows"),
        (http(STORED % 6), "COUNT", "inserted 6 of 5 rows"),
        (http(STORED % -1), "COUNT", "inserted 0 of 5 rows"),
        (http(FAILED_ROW), "COUNT", 'inserted 2 of 5 rows: "error":{"code":4000,"message":"SQLParseException['),
        (http("{}"), "COUNT", "inserted 0 of 5 rows"),
        (http(MISSING, "404 Not Found"), "HTTP404", "Relation 'nosuch' unknown"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_rows_that_the_answer_does_not_count_are_not_acknowledged(send, server, method, answer, code, words):
    server.told = answer
    outcome = send(method=method)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (6, 0, 40)
    error = outcome.of("error")[0]
    assert error["code"] == code and words in error["message"]


@pytest.mark.parametrize("mood", REFUSALS)
def test_a_failed_request_is_told_and_the_next_goes_on(send, server, mood):
    server.moods[3] = mood
    assert_refused(send(), *REFUSALS[mood])


@pytest.mark.parametrize("mood", ["silence", "drip"])
def test_a_request_without_an_answer_ends_by_its_deadline(send, server, mood):
    server.moods[3] = mood
    assert_unanswered(send, method="bulk")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("tables", "interlaced"), [(1, 0), (2, 1)])
def test_a_large_request_goes_in_pieces(send, server, method, tables, interlaced):
    more = {"rows": 160_000, "rows_per_request": 160_000, "tables": tables, "interlace_rows": interlaced}
    outcome = send(method=method, **more)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["requests"]) == (0, 160_000, 1)
    assert len(server.bodies) >= 2
    for table in range(tables):
        times = [row[1] for row in rows_in(server) if row[0] == table]
        assert times == list(range(1500000000000, 1500000000000 + 160_000 // tables))


@pytest.mark.parametrize("column", ["x:varbinary(6)", "x:ubigint", "x:geometry(24)"])
def test_a_type_that_it_lacks_is_refused(run, column):
    outcome = run(SPEC | {"port": 1, "columns": f"a:int,{column}"})
    assert outcome.code == 2
    assert f"columns: CrateDB has no type for {column.partition('(')[0]}" in str(outcome.events)


def test_other_times_than_milliseconds_are_refused(run):
    outcome = run(SPEC | {"port": 1, "precision": "us"})
    assert outcome.code == 2 and "precision" in outcome.stderr + str(outcome.events)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_sent_when_sending_is_stubbed(run, method):
    outcome = run(SPEC | {"port": 1, "sending": "stubbed", "method": method})
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)


def test_a_query_is_the_statement_of_an_object(run, server):
    server.told = http(ROWS)
    text = 'SELECT time, "a" FROM m WHERE b = \'\\\' AND d = {device} AND time >= {from} AND time < {to} -- {{"x"}}'
    asking = {"query_path": "/_sql", "query_posted": 1, "query_member": "stmt", "answer_rows": "rows"}
    outcome = run(RANGES | {"driver": "cratedb", "port": server.port, "ask.range.text": text, **asking})
    told = outcome.of("asked")
    assert told and all((event["rows"], event["values"]) == (2, 4) for event in told), outcome.stderr
    for event, body in zip(told, server.bodies, strict=False):
        device, since, until = event["devices"][0], event["from_ms"], event["to_ms"]
        wanted = f'SELECT time, "a" FROM m WHERE b = \'\\\' AND d = {device} AND time >= {since} AND time < {until} -- {{"x"}}'
        assert json.loads(body) == {"stmt": wanted}
