"""The driver of IoTDB against a server of our own making: its calls, its statements, and answers that are not whole."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest
from iotdb_server import IotdbServer, field_of, more_answer, status, table_answer
from third_request import ROWS, TYPES, assert_acked, load_fixture, server_fixture

SPEC = ROWS | {"driver": "iotdb", "database": "root.x"}
INT32, TEXT = 1, 5
KINDS = {"bool": 0, "bigint": 2, "uint": 2, "float": 3, "double": 4, "timestamp": 8, "binary": TEXT}
FORMS = {0: "?", INT32: "i", 2: "q", 3: "f", 4: "d", 8: "q"}
METHODS = ("tablet", "tablets", "records")
server = server_fixture(IotdbServer)
send = load_fixture(SPEC)


class Values:
    """Reads values one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def value(self, kind: int) -> Any:
        if kind == TEXT:
            return self.take(struct.unpack(">i", self.take(4))[0]).decode()
        return struct.unpack(f">{FORMS[kind]}", self.take(struct.calcsize(FORMS[kind])))[0]


def of_tablet(data: bytes, types: list[int], rows: int) -> Iterator[tuple[Any, ...]]:
    """Rows of the values of a tablet, with the bitmaps of NULLs that may follow them."""
    values = Values(data)
    columns = [[values.value(kind) for _ in range(rows)] for kind in types]
    for column in columns if values.at < len(data) else ():
        bits = values.take(rows // 8 + 1) if values.take(1)[0] else bytes(rows)
        column[:] = [None if bits[i // 8] >> i % 8 & 1 else value for i, value in enumerate(column)]
    assert values.at == len(data)
    return zip(*columns, strict=True)


def of_record(data: bytes, names: list[bytes], types: dict[str, int]) -> list[Any]:
    """The values of a record in the order of `types`; None for those that it does not name."""
    values, found = Values(data), {}
    for name in names:
        kind = values.take(1)[0]
        assert kind == types[name.decode()]
        found[name.decode()] = values.value(kind)
    assert values.at == len(data)
    return [found.get(name) for name in types]


def told_rows(server: IotdbServer, columns: str) -> list[tuple[str, int, list[Any]]]:
    """Device, time and values of all rows that the server was sent."""
    parts = (column.split(":") for column in columns.split(","))
    types = {name: KINDS.get(kind.partition("(")[0], INT32) for name, kind in parts}
    found = []
    for name, request in server.calls:
        if name == "insertRecords":
            records = zip(request[2], request[3], request[4], request[5], strict=True)
            found += [(device.decode(), at, of_record(data, names, types)) for device, names, data, at in records]
            continue
        fields = [[request[i]] if name == "insertTablet" else request[i] for i in range(2, 8)]
        for device, names, data, times, kinds, rows in zip(*fields, strict=True):
            assert ([n.decode() for n in names], kinds) == (list(types), list(types.values()))
            at = struct.unpack(f">{rows}q", times)
            tablet = zip(at, of_tablet(data, kinds, rows), strict=True)
            found += [(device.decode(), time, list(values)) for time, values in tablet]
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("nulls", [0, 0.4])
def test_calls_hold_the_rows(send, made, server, method, nulls):
    spec = {"columns": f"{TYPES},text:binary(20)", "values": "random", "null_ratio": nulls, "tables": 7, "rows": 700}
    spec |= {"rows_per_request": 90, "interlace_rows": 9}
    assert_acked(send(method=method, aligned=1, **spec), 700)
    wanted = [(f"root.x.d{row.table}", row.at, row.values) for row in made(**SPEC | spec)]
    assert told_rows(server, spec["columns"]) == wanted
    (opened,) = server.named("openSession")
    assert opened == {1: 2, 2: b"UTC", 3: b"root", 4: b"root"}
    assert {name for name, _ in server.calls} == {f"insert{method[0].upper()}{method[1:]}"}
    assert all(request[6 if method == "records" else 8] is True for _, request in server.calls)
    assert len(server.named("closeSession")) == 1


@pytest.mark.parametrize("method", METHODS)
def test_a_row_with_nulls_only_keeps_its_first_value(send, made, server, method):
    spec = {"columns": "text:binary(6),a:int", "values": "random"}
    assert_acked(send(method=method, null_ratio=1, **spec))
    first = [[row.values[0], None] for row in made(**SPEC | spec)]
    assert [got for _, _, got in told_rows(server, spec["columns"])] == first
    assert all(request[6 if method == "records" else 8] is False for _, request in server.calls)


def test_tablets_are_as_many_as_slices_and_share_a_connection(send, server):
    assert_acked(send(rows=1200, rows_per_request=300, interlace_rows=1), 1200)
    assert [request[7] for _, request in server.calls] == [1] * 1200
    server.calls.clear()
    assert_acked(send(method="tablets", rows=1200, rows_per_request=300, interlace_rows=1), 1200)
    assert [len(request[7]) for _, request in server.calls] == [300] * 4
    assert server.connections == 2


def test_devices_are_made_of_the_template_in_parts(run, server):
    outcome = run(SPEC | {"port": server.port, "tables": 2500, "threads": 1}, verb="tables")
    assert outcome.code == 0, outcome.stderr
    made = [path.decode() for request in server.named("createTimeseriesUsingSchemaTemplate") for path in request[2]]
    assert made == [f"root.x.d{i}" for i in range(2500)]
    assert len(server.named("createTimeseriesUsingSchemaTemplate")) == 3


def test_the_calls_after_a_refused_one_are_still_answered(send, server):
    server.moods[3] = "refused"
    outcome = send(rows=40, rows_per_request=20, interlace_rows=1)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (6, 20, 20)
    assert (len(server.calls), server.connections) == (40, 1)


def test_a_request_that_was_rejected_for_memory_is_tried_again(send, server):
    server.moods |= {3: "rejected", 4: "rejected"}
    outcome = send()
    assert_acked(outcome)
    assert outcome.summary["retries"] == 2


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
    told = dict(zip(result["columns"], zip(*result["rows"], strict=True), strict=True))
    same = {name: tuple(columns[name][1]) for name in ("n", "Device", "i")}
    assert told == same | {"f": (pytest.approx(0.1), 2, None), "d": (None, 0.1, "inf"), "b": ("true", "false", None)}


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
