"""The driver of Cassandra against a server of our own making: its batches."""

from __future__ import annotations

from cql_server import CqlServer
from third_request import ROWS, assert_acked, load_fixture, server_fixture

SPEC = ROWS | {"driver": "cassandra", "table": "ks.t"}
server = server_fixture(CqlServer)
send = load_fixture(SPEC)


def test_a_batch_is_of_one_device(send, server):
    assert_acked(send(columns="a:int,b:double", rows=400, rows_per_request=100, batch_rows=30), 400)
    assert server.statements == ['INSERT INTO ks.t (device, ts, "a", "b") VALUES (?, ?, ?, ?)']
    assert max(len(batch) for batch in server.batches) <= 30
    assert all(len({row[0] for row in batch}) == 1 for batch in server.batches)
    assert server.connections == 1
