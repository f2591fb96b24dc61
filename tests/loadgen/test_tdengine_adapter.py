"""The TDengine driver's methods rest and ws against an adapter of our own making: requests, answers, and its moods."""

from __future__ import annotations

import base64
import re
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

import pytest
from adapter import Adapter
from loadgen_program import Outcome
from third_request import assert_acked, assert_late, server_fixture

from tests.loadgen.listening import FakeServer, closing

SPEC = {"driver": "tdengine", "host": "127.0.0.1", "database": "test", "partitions": 1, "tables": 4, "threads": 1}
SPEC |= {"rows": 40, "rows_per_request": 5}
adapter = server_fixture(Adapter, "adapter")


@pytest.fixture
def send(run: Callable[..., Outcome], adapter: Adapter) -> Callable[..., Outcome]:
    """send(method="rest", ...): a load through the adapter."""
    return lambda **spec: run(SPEC | {"adapter_port": adapter.port} | spec, env={"SCALE_PASSWORD": "pä:ss"})


@pytest.mark.parametrize("chunked", [False, True])
def test_rest_posts_statements_over_one_connection(send, adapter, chunked):
    adapter.chunked = chunked
    assert_acked(send(method="rest"))
    assert sum(statement.startswith("INSERT INTO d") for statement in adapter.statements) == 8
    assert {head.split()[1] for head in adapter.heads} == {"/rest/sql", "/rest/sql/test", "/rest/sql/test/vgid"}
    coded = re.search(r"Authorization: Basic (\S+)", adapter.heads[0])[1]
    assert base64.b64decode(coded).decode() == "root:pä:ss"


PASSING = [(method, mood) for method in ("rest", "ws") for mood in ("0x0126", "0x0914", "cut")]


@pytest.mark.parametrize(("method", "mood"), [*PASSING, ("rest", "busy")])  # busy is an answer of HTTP
def test_what_passes_is_tried_again(send, adapter, method, mood):
    adapter.moods = {3: mood}
    outcome = send(method=method)
    assert_acked(outcome)
    assert outcome.summary["retries"] == 1
    assert outcome.summary["error_kinds"][0]["code"] == ("ADAPTER" if mood in ("cut", "busy") else mood)


@pytest.mark.parametrize("method", ["rest", "ws"])
def test_what_does_not_pass_stops_the_load(send, adapter, method):
    adapter.moods = {3: "0x2603"}
    outcome = send(method=method)
    error = outcome.one("error")
    assert (outcome.code, outcome.summary["rows_acked"], error["code"]) == (5, 10, "0x2603")
    assert "words" in error["message"]


@pytest.mark.parametrize(("method", "mood"), [("rest", "header lines"), ("rest", "silence"), ("ws", "pings")])
def test_an_adapter_that_never_ends_its_answer_is_cut_at_the_deadline(send, adapter, method, mood):
    adapter.moods = {1: mood}
    assert_late(send(method=method, tables=1, request_timeout_s=1), 5)


def test_ws_sends_a_block_for_each_slice_and_reads_all_answers(send, adapter):
    outcome = send(method="ws", rows_per_request=8, interlace_rows=2)
    assert_acked(outcome)
    assert (outcome.summary["requests"], len(adapter.blocks)) == (5, 20)
    for block in adapter.blocks:
        _, _, action, rows, name_length = struct.unpack_from("<QQQiH", block)
        assert (action, rows) == (4, 2)
        assert block[30 : 30 + name_length] in (b"d0", b"d1", b"d2", b"d3")
        raw = block[30 + name_length :]
        version, length, rows, columns = struct.unpack_from("<iiii", raw)
        assert (version, length, rows, columns) == (1, len(raw), 2, 4)


def test_a_block_of_some_columns_names_them(send, adapter):
    assert_acked(send(method="ws", partial_columns=1, partial_from=1))
    assert {struct.unpack_from("<Q", block, 16)[0] for block in adapter.blocks} == {5}
    assert all(block[-144:].startswith(b"ts\0") and block[-72:].startswith(b"voltage\0") for block in adapter.blocks)


def test_one_failed_block_of_a_request_fails_it_and_it_is_sent_again(send, adapter):
    adapter.moods = {6: "0x0126"}
    assert_acked(send(method="ws", rows_per_request=8, interlace_rows=2))
    assert len(adapter.blocks) == 24


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"220 mail.example ESMTP\r\n\r\n", "is not an answer of HTTP"),
        (CHUNKED + b"zz\r\n", "'zz' is not the length of a chunk"),
        (CHUNKED + b"12x\r\n", "'12x' is not the length of a chunk"),
        (CHUNKED + b"ffffffffff\r\n", "'ffffffffff' is not the length of a chunk"),
        (None, "taosAdapter has not answered"),
        (b"", ""),
    ],
)
def test_what_is_no_adapter_is_told(run, said, words):
    """None: it says nothing; b"": nobody is there."""

    @dataclass
    class Saying(FakeServer):
        def serve(self, connection: socket.socket, file: BinaryIO) -> None:
            connection.recv(4096)
            if said is None:
                self.over.wait(60)
            connection.sendall(said or b"")

    with closing(Saying()) as server:
        if said == b"":
            server.close()
            words = f"cannot connect to 127.0.0.1:{server.port}"
        outcome = run(SPEC | {"adapter_port": server.port, "method": "rest", "connect_timeout_s": 1})
    assert outcome.code == 4
    assert words in outcome.one("error")["message"]
    assert outcome.one("error")["code"] == ("deadline" if said is None else "ADAPTER")


@pytest.mark.parametrize("interlace", [0, 2])
@pytest.mark.parametrize("method", ["rest", "ws"])
def test_with_its_sending_stubbed_rows_are_made_and_no_adapter_is_asked(run, adapter, method, interlace):
    """Five tables on three vgroups: where they lie is computed, since nobody is there to confirm it."""
    spec = {"adapter_port": adapter.port, "method": method, "sending": "stubbed", "interlace_rows": interlace}
    outcome = run(SPEC | spec | {"tables": 5, "partitions": 3, "rows": 4000, "rows_per_request": 8})
    assert_acked(outcome, 4000)
    assert (adapter.heads, adapter.statements, adapter.blocks) == ([], [], [])
    assert [p["rows_acked"] for p in outcome.summary["partitions"]] == [1600, 1600, 800]


def test_a_stubbed_request_is_still_written(run):
    """The null driver's requests are made and thrown away: next to nothing of its time is in the driver."""
    spec = {
        "tables": 4,
        "rows": 50_000,
        "rows_per_request": 1000,
        "columns": ",".join(f"m{i}:double" for i in range(10)),
    }
    nobody = {"adapter_port": 1, "method": "rest", "sending": "stubbed"}
    stubbed, null = run(SPEC | spec | nobody), run({"driver": "null", **spec})
    (rest,), (none,) = stubbed.summary["workers"], null.summary["workers"]
    assert rest["send_s"] > rest["make_s"] > 10 * none["send_s"]
