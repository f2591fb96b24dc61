"""The driver of IoTDB against a server of our own making: its calls, and every answer that goes wrong."""

from __future__ import annotations

import csv
import struct
from typing import Any

import pytest
from iotdb_server import IotdbServer, field_of, more_answer, status, table_answer
from third_request import assert_refused, assert_unanswered, load_fixture, server_fixture

SPEC = {"driver": "iotdb", "host": "127.0.0.1", "tables": 4, "threads": 1, "rows": 40, "rows_per_request": 5}
SPEC |= {"tags": "", "columns": "current:float,voltage:int,phase:float", "database": "root.x"}
COLUMNS = (
    "f:float,d:double,b:bool,t:tinyint,s:smallint,i:int,l:bigint,ut:utinyint,us:usmallint,u:uint,"
    "n:timestamp,text:binary(20)"
)
INT32, TEXT = 1, 5
TYPES = {"bool": 0, "bigint": 2, "uint": 2, "float": 3, "double": 4, "timestamp": 8, "binary": TEXT}
FORMS = {0: "?", INT32: "i", 2: "q", 3: "f", 4: "d", 8: "q"}


server = server_fixture(IotdbServer)
send = load_fixture(SPEC)


def type_of(column: str) -> int:
    return TYPES.get(column.partition(":")[2].partition("(")[0], INT32)


def as_dumped(value: Any, kind: int) -> str:
    """As the null driver dumps it."""
    if value is None:
        return "NULL"
    if kind == TEXT:
        return str(value.decode())
    return f"{value:.9g}" if kind == 3 else f"{value:.17g}" if kind == 4 else str(int(value))


def of_tablet(values: bytes, types: list[int], rows: int) -> list[list[str]]:
    """Rows of the values of a tablet, with the bitmaps of NULLs that may follow them."""
    at, columns = 0, []
    for kind in types:
        column: list[Any] = []
        for _ in range(rows):
            size = struct.unpack_from(">i", values, at)[0] if kind == TEXT else struct.calcsize(FORMS[kind])
            at += 4 if kind == TEXT else 0
            part = values[at : at + size]
            column.append(part if kind == TEXT else struct.unpack(">" + FORMS[kind], part)[0])
            at += size
        columns.append(column)
    for column in columns if at < len(values) else ():
        has_bitmap = values[at]
        bits = values[at + 1 : at + 1 + (rows // 8 + 1) * has_bitmap]
        at += 1 + len(bits)
        for row in range(rows if has_bitmap else 0):
            if bits[row // 8] >> row % 8 & 1:
                column[row] = None
    assert at == len(values)
    told = [[as_dumped(value, kind) for value in column] for column, kind in zip(columns, types, strict=True)]
    return [list(row) for row in zip(*told, strict=True)]


def of_record(values: bytes, names: list[str], types: dict[str, int]) -> list[str]:
    """The values of a record in the order of `types`; NULL for those that it does not name."""
    at, found = 0, {}
    for name in names:
        kind = values[at]
        assert kind == types[name]
        size = struct.unpack_from(">i", values, at + 1)[0] if kind == TEXT else struct.calcsize(FORMS[kind])
        at += 5 if kind == TEXT else 1
        part = values[at : at + size]
        found[name] = as_dumped(part if kind == TEXT else struct.unpack(">" + FORMS[kind], part)[0], kind)
        at += size
    assert at == len(values)
    return [found.get(name, "NULL") for name in types]


def told_rows(server: IotdbServer, columns: str) -> list[tuple[str, int, list[str]]]:
    """Device, time and values of all rows that the server was sent."""
    types = {column.partition(":")[0]: type_of(column) for column in columns.split(",")}
    found = []
    for name, request in server.calls:
        if name == "insertRecords":
            for device, names, values, at in zip(request[2], request[3], request[4], request[5], strict=True):
                found.append((device.decode(), at, of_record(values, [n.decode() for n in names], types)))
            continue
        one = name == "insertTablet"
        parts = ([request[i]] for i in range(2, 8)) if one else (request[i] for i in range(2, 8))
        for device, names, values, times, kinds, rows in zip(*parts, strict=True):
            assert ([n.decode() for n in names], kinds) == (list(types), list(types.values()))
            at = struct.unpack(f">{rows}q", times)
            found += [(device.decode(), *r) for r in zip(at, of_tablet(values, kinds, rows), strict=True)]
    return found


@pytest.mark.parametrize("method", ["tablet", "tablets", "records"])
@pytest.mark.parametrize("nulls", [0, 0.4])
def test_calls_hold_the_rows(run, send, server, tmp_path, method, nulls):
    spec = {"columns": COLUMNS, "values": "random", "null_ratio": nulls, "tables": 7, "rows": 700}
    spec |= {"rows_per_request": 90, "interlace_rows": 9}
    sent = send(method=method, aligned=1, **spec)
    assert (sent.code, sent.summary["rows_acked"]) == (0, 700), sent.stderr
    assert run(SPEC | spec | {"driver": "null", "dump": tmp_path / "rows"}).code == 0
    rows = list(csv.reader((tmp_path / "rows.0").read_text().splitlines()))
    found = told_rows(server, COLUMNS)
    assert len(found) == len(rows) == 700
    for (device, at, got), (table, _, when, *wanted) in zip(found, rows, strict=True):
        assert (device, at) == (f"root.x.d{table}", int(when))
        assert got == wanted
    (opened,) = server.named("openSession")
    assert opened == {1: 2, 2: b"UTC", 3: b"root", 4: b"root"}
    assert {name for name, _ in server.calls} == {f"insert{method[0].upper()}{method[1:]}"}
    assert all(request[6 if method == "records" else 8] is True for _, request in server.calls)
    assert len(server.named("closeSession")) == 1


@pytest.mark.parametrize("method", ["tablet", "tablets", "records"])
def test_a_row_with_nulls_only_keeps_its_first_value(run, send, server, tmp_path, method):
    spec = {"columns": "text:binary(6),a:int", "values": "random", "null_ratio": 1}
    assert send(method=method, **spec).code == 0
    assert run(SPEC | spec | {"driver": "null", "dump": tmp_path / "rows", "null_ratio": 0}).code == 0
    rows = list(csv.reader((tmp_path / "rows.0").read_text().splitlines()))
    assert [got for _, _, got in told_rows(server, spec["columns"])] == [[row[3], "NULL"] for row in rows]
    assert all(request[6 if method == "records" else 8] is False for _, request in server.calls)


def test_tablets_are_as_many_as_slices_and_share_a_connection(send, server):
    assert send(rows=1200, rows_per_request=300, interlace_rows=1).code == 0
    assert [request[7] for _, request in server.calls] == [1] * 1200
    server.calls.clear()
    assert send(method="tablets", rows=1200, rows_per_request=300, interlace_rows=1).code == 0
    assert [len(request[7]) for _, request in server.calls] == [300] * 4
    assert server.connections == 2


def test_devices_are_made_of_the_template_in_parts(run, server):
    outcome = run(SPEC | {"port": server.port, "tables": 2500, "threads": 1}, verb="tables")
    assert outcome.code == 0, outcome.stderr
    made = [path.decode() for request in server.named("createTimeseriesUsingSchemaTemplate") for path in request[2]]
    assert made == [f"root.x.d{i}" for i in range(2500)]
    assert len(server.named("createTimeseriesUsingSchemaTemplate")) == 3


REFUSALS = {
    "refused": ("507", "Path does not exist"),
    "several, one refused": ("507", "Path does not exist"),
    "no status": ("PROTOCOL", "has no status"),
    "nothing returned": ("CONNECTION", "ends too early"),
    "another call": ("CONNECTION", "an answer to call"),
    "an exception": ("CONNECTION", "Invalid method name"),
    "cut": ("CONNECTION", "closed"),
    "garbage": ("CONNECTION", "is not an answer of Thrift"),
    "huge": ("CONNECTION", "is not an answer of Thrift"),
    "not Thrift": ("CONNECTION", "is not in Thrift's binary protocol"),
    "ends early": ("CONNECTION", ""),
    "a list without end": ("CONNECTION", "ends too early"),
}


@pytest.mark.parametrize("mood", REFUSALS)
def test_a_failed_request_is_told_and_the_next_goes_on(send, server, mood):
    server.moods[3] = mood
    assert_refused(send(), *REFUSALS[mood])


def test_the_calls_after_a_refused_one_are_still_answered(send, server):
    server.moods[3] = "refused"
    outcome = send(rows=40, rows_per_request=20, interlace_rows=1)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (6, 20, 20)
    assert (len(server.calls), server.connections) == (40, 1)


@pytest.mark.parametrize("mood", ["redirected", "several, all done"])
def test_what_is_no_failure_is_acknowledged(send, server, mood):
    server.moods[3] = mood
    outcome = send()
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)


def test_a_request_that_was_rejected_for_memory_is_tried_again(send, server):
    server.moods |= {3: "rejected", 4: "rejected"}
    outcome = send()
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["retries"]) == (0, 40, 2)


@pytest.mark.parametrize("mood", ["silence", "drips"])
def test_a_request_without_an_answer_ends_by_its_deadline(send, server, mood):
    server.moods[3] = mood
    assert_unanswered(send)


def test_who_may_not_log_in_is_told_in_the_servers_words(send, server):
    server.refuses_login = True
    outcome = send()
    assert (outcome.code, server.calls) == (4, [])
    assert "Authentication failed" in outcome.stderr + str(outcome.events)


@pytest.fixture
def ask(run, server, tmp_path):
    """ask(text): the outcome of statements, one a line, and their results."""

    def ask(text):
        (tmp_path / "statements").write_text(text)
        spec = {"driver": "iotdb", "host": "127.0.0.1", "port": server.port, "statements": tmp_path / "statements"}
        outcome = run(spec, verb="sql")
        return outcome, outcome.of("result")

    return ask


def test_the_rows_of_an_answer_are_told(ask, server):
    columns = {
        "n": ("INT64", [1 << 40, None, -3]),
        "Device": ("TEXT", ["root.x.d0", "root.x.d1", 'a"b']),
        "f": ("FLOAT", [0.1, 2.0, None]),
        "d": ("DOUBLE", [None, 0.1, float("inf")]),
        "b": ("BOOLEAN", [True, False, None]),
        "i": ("INT32", [-1, 2, 3]),
    }
    server.answers["SELECT 1"] = table_answer(columns)
    outcome, (result,) = ask("SELECT 1\n")
    assert outcome.code == 0, outcome.stderr
    assert result["columns"] == sorted(columns)
    by_name = [dict(zip(result["columns"], row, strict=True)) for row in result["rows"]]
    assert [row["n"] for row in by_name] == [1 << 40, None, -3]
    assert [row["Device"] for row in by_name] == ["root.x.d0", "root.x.d1", 'a"b']
    assert [row["f"] for row in by_name] == [pytest.approx(0.1), 2, None]
    assert [row["d"] for row in by_name] == [None, 0.1, "inf"]
    assert [row["b"] for row in by_name] == ["true", "false", None]
    assert [row["i"] for row in by_name] == [-1, 2, 3]


def test_all_pages_of_an_answer_are_told(ask, server):
    rows = 5_000
    server.pages = [
        table_answer({"a": ("INT32", [7] * rows)}, list(range(rows)), more=True),
        more_answer({"a": ("INT32", [8] * rows)}, list(range(rows, 2 * rows)), more=True),
        more_answer({"a": ("INT32", [9])}, [2 * rows]),
    ]
    outcome, (result,) = ask("SELECT a\n")
    assert outcome.code == 0, outcome.stderr
    assert result["columns"] == ["Time", "a"]
    assert result["rows"] == [[at, 7 + at // rows] for at in range(2 * rows + 1)]


def test_a_statement_without_rows_and_one_that_is_refused(ask, server):
    server.answers["BAD"] = field_of(12, 1, status(701, "not a statement")) + b"\0"
    outcome, results = ask("CREATE DATABASE root.x\nBAD\nFLUSH\n")
    assert [result["ok"] for result in results] == [True, False, True]
    assert (results[1]["code"], results[1]["message"], outcome.code) == ("701", "not a statement", 6)


def test_an_answer_that_is_not_whole_is_refused(ask, server):
    whole = table_answer({"n": ("INT64", [1, 2]), "t": ("TEXT", ["a", "b"])})
    server.answers["TYPE"] = whole.replace(b"INT64", b"INT99")
    server.answers["PLACE"] = whole.replace(b"\1t\0\0\0\1", b"\1t\0\0\0\x09")
    server.answers["FEW"] = whole.replace(b"\0\0\0\1a\0\0\0\1b", b"\0\0\0\1a\0\0\0\x09b")
    for text in ("TYPE", "PLACE", "FEW"):
        assert server.answers[text] != whole
        _, results = ask(f"{text}\n")
        assert not results[0]["ok"]
        assert "ends too early" in results[0]["message"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"columns": "a:ubigint"}, "columns: IoTDB has no type for a:ubigint"),
        ({"aligned": "2"}, "aligned"),
        ({"rows_per_request": 50_000_000, "rows": 50_000_000}, "rows_per_request"),
    ],
)
def test_what_iotdb_cannot_take_is_refused(run, spec, words):
    outcome = run(SPEC | {"port": 1} | spec)
    assert outcome.code == 2
    assert words in outcome.stderr + str(outcome.events)


@pytest.mark.parametrize("method", ["tablet", "tablets", "records"])
def test_nothing_is_sent_when_sending_is_stubbed(run, method):
    outcome = run(SPEC | {"port": 1, "sending": "stubbed", "method": method})
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)
