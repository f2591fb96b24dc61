"""The driver of Cassandra against a server of our own making: its batches, and every answer that goes wrong."""

from __future__ import annotations

import csv
import struct

import pytest
from cql_server import CqlServer
from third_request import assert_refused, assert_unanswered, load_fixture, server_fixture

SPEC = {"driver": "cassandra", "host": "127.0.0.1", "tables": 4, "threads": 1, "rows": 40, "rows_per_request": 5}
SPEC |= {"tags": "", "columns": "current:float,voltage:int,phase:float", "table": "ks.t"}
FORMS = {
    "bool": ">b",
    "tinyint": ">b",
    "smallint": ">h",
    "int": ">i",
    "bigint": ">q",
    "utinyint": ">h",
    "usmallint": ">i",
    "uint": ">q",
    "float": ">f",
    "double": ">d",
    "timestamp": ">q",
}


server = server_fixture(CqlServer)
send = load_fixture(SPEC)


def as_dumped(value: bytes | None, kind: str) -> str:
    """As the null driver dumps it."""
    if value is None:
        return "NULL"
    if kind.startswith(("binary", "nchar")):
        return value.decode()
    (number,) = struct.unpack(FORMS[kind], value)
    return f"{number:.9g}" if kind == "float" else f"{number:.17g}" if kind == "double" else str(number)


@pytest.mark.parametrize("values", ["walk", "random"])
@pytest.mark.parametrize("nulls", [0, 0.4])
def test_batches_hold_the_rows(run, send, server, tmp_path, values, nulls):
    columns = (
        "f:float,d:double,b:bool,t:tinyint,s:smallint,i:int,l:bigint,ut:utinyint,us:usmallint,u:uint,"
        "n:timestamp,text:binary(20)"
    )
    spec = {"columns": columns, "values": values, "null_ratio": nulls, "tables": 7, "rows": 700, "rows_per_request": 90}
    spec |= {"interlace_rows": 3, "batch_rows": 2}
    sent = send(**spec)
    assert (sent.code, sent.summary["rows_acked"]) == (0, 700), sent.stderr
    spec.pop("batch_rows")
    assert run(SPEC | spec | {"driver": "null", "dump": tmp_path / "rows"}).code == 0
    rows = list(csv.reader((tmp_path / "rows.0").read_text().splitlines()))
    names, kinds = zip(*(column.split(":") for column in columns.split(",")), strict=True)
    assert server.statements == [
        f"INSERT INTO ks.t (device, ts, {', '.join(f'{chr(34)}{name}{chr(34)}' for name in names)}) VALUES "
        f"({', '.join('?' * (2 + len(names)))})"
    ]
    found = [row for batch in server.batches for row in batch]
    assert len(found) == len(rows) == 700
    for (device, at, *got), (table, _, when, *wanted) in zip(found, rows, strict=True):
        assert (device, struct.unpack(">q", at)[0]) == (f"d{table}".encode(), int(when))
        assert [as_dumped(value, kind) for value, kind in zip(got, kinds, strict=True)] == wanted


def test_a_batch_is_of_one_device(send, server):
    assert send(rows=400, rows_per_request=100, batch_rows=30).code == 0
    assert max(len(batch) for batch in server.batches) <= 30
    assert all(len({row[0] for row in batch}) == 1 for batch in server.batches)
    assert server.connections == 1


def test_a_large_request_goes_in_pieces(send, server):
    outcome = send(rows=20_000, rows_per_request=20_000, batch_rows=1, tables=1)
    assert (outcome.code, outcome.summary["rows_acked"], len(server.batches)) == (0, 20_000, 20_000)


REFUSALS = {
    "refused": ("0x1100", "Operation timed out"),
    "refused and warned": ("0x2200", "Invalid"),
    "words too short": ("0x1001", "short"),
    "nothing in it": ("0x0000", ""),
    "cut": ("CONNECTION", "closed"),
    "garbage": ("CONNECTION", "is not an answer of CQL"),
    "huge": ("CONNECTION", "is too long"),
    "warned too short": ("CONNECTION", "ends too early"),
}


@pytest.mark.parametrize("mood", REFUSALS)
def test_a_failed_request_is_told_and_the_next_goes_on(send, server, mood):
    server.moods[3] = mood
    assert_refused(send(), *REFUSALS[mood])


def test_a_warning_is_no_failure(send, server):
    server.moods[3] = "warned"
    outcome = send()
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)


def test_a_request_without_an_answer_ends_by_its_deadline(send, server):
    server.moods[3] = "silence"
    assert_unanswered(send)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"columns": "a:ubigint"}, "columns: CQL has no type for a:ubigint"),
        ({"precision": "us"}, "precision"),
        ({"batch_rows": "0"}, "batch_rows"),
    ],
)
def test_what_cql_cannot_say_is_refused(run, spec, words):
    outcome = run(SPEC | {"port": 1} | spec)
    assert outcome.code == 2
    assert words in outcome.stderr + str(outcome.events)


def test_nothing_is_sent_when_sending_is_stubbed(run):
    outcome = run(SPEC | {"port": 1, "sending": "stubbed"})
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)
