"""The driver of Cassandra against a server of our own making: its batches."""

from __future__ import annotations

import struct

import pytest
from cql_server import CqlServer
from third_request import ROWS, TYPES, assert_acked, load_fixture, server_fixture

SPEC = ROWS | {"driver": "cassandra", "table": "ks.t"}
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


def value_of(data: bytes | None, kind: str) -> object:
    if data is None:
        return None
    return struct.unpack(FORMS[kind], data)[0] if kind in FORMS else data.decode()


@pytest.mark.parametrize("values", ["walk", "random"])
@pytest.mark.parametrize("nulls", [0, 0.4])
def test_batches_hold_the_rows(send, made, server, values, nulls):
    columns = f"{TYPES},text:binary(20)"
    spec = {"columns": columns, "values": values, "null_ratio": nulls, "tables": 7, "rows": 700, "rows_per_request": 90}
    spec |= {"interlace_rows": 3}
    assert_acked(send(**spec, batch_rows=2), 700)
    names, kinds = zip(*(column.split(":") for column in columns.split(",")), strict=True)
    quoted = ", ".join(f'"{name}"' for name in names)
    marks = ", ".join("?" * (2 + len(names)))
    assert server.statements == [f"INSERT INTO ks.t (device, ts, {quoted}) VALUES ({marks})"]
    found = [row for batch in server.batches for row in batch]
    for (device, at, *got), row in zip(found, made(**SPEC | spec), strict=True):
        assert (device, struct.unpack(">q", at)[0]) == (f"d{row.table}".encode(), row.at)
        assert [value_of(data, kind) for data, kind in zip(got, kinds, strict=True)] == row.values


def test_a_batch_is_of_one_device(send, server):
    assert_acked(send(rows=400, rows_per_request=100, batch_rows=30), 400)
    assert max(len(batch) for batch in server.batches) <= 30
    assert all(len({row[0] for row in batch}) == 1 for batch in server.batches)
    assert server.connections == 1


def test_a_large_request_goes_in_pieces(send, server):
    assert_acked(send(rows=20_000, rows_per_request=20_000, batch_rows=1, tables=1), 20_000)
    assert len(server.batches) == 20_000
