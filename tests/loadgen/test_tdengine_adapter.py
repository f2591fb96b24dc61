"""The TDengine driver's methods rest and ws against an adapter of our own making: requests, answers, and its moods."""

from __future__ import annotations

import base64
import json
import re
import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

import pytest
from loadgen_program import Outcome
from slow_adapter import BINARY, PONG, UPGRADED, read_frame

from tests.loadgen.listening import FakeServer, closing, http_head

SPEC = {"driver": "tdengine", "host": "127.0.0.1", "database": "test", "partitions": 1, "tables": 4, "threads": 1}
SPEC |= {"rows": 40, "rows_per_request": 5}


@dataclass
class Adapter(FakeServer):
    """Answers on a socket as told. moods: how to answer the nth INSERT or block, by its number from 1."""

    moods: dict[int, str] = field(default_factory=dict)
    chunked: bool = False
    statements: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    blocks: list[bytes] = field(default_factory=list)
    sent: int = 0

    def serve(self, connection: socket.socket, file: BinaryIO) -> None:
        while head := http_head(file):
            self.heads.append(head)
            if head.startswith("GET /ws"):
                connection.sendall(UPGRADED)
                return self._frames(connection, file)
            body = file.read(int(re.search(r"Content-Length: (\d+)", head)[1])).decode()
            if not self._post(connection, head, body):
                return None

    def _mood(self) -> str:
        self.sent += 1
        return self.moods.get(self.sent, "")

    def _post(self, connection: socket.socket, head: str, body: str) -> bool:
        if "/vgid" in head:
            return self._reply(connection, {"code": 0, "vgIDs": [2] * len(json.loads(body))})
        self.statements.append(body)
        if body.startswith("SELECT vgroup_id"):
            return self._reply(
                connection, {"code": 0, "column_meta": [["vgroup_id", "INT", 4]], "data": [[2]], "rows": 1}
            )
        mood = self._mood() if body.startswith("INSERT") else ""
        if mood == "cut":
            return False
        if mood == "busy":
            return self._reply(connection, "memory exceeds threshold", "503 Service Unavailable")
        if mood:
            return self._reply(connection, {"code": int(mood, 16), "desc": 'words of "the" adapter'})
        rows = len(re.findall(r"\(\d", body))
        meta = [["affected_rows", "INT", 4]]
        return self._reply(connection, {"code": 0, "column_meta": meta, "data": [[rows]], "rows": 1})

    def _reply(self, connection: socket.socket, answer: object, status: str = "200 OK") -> bool:
        body = json.dumps(answer).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
        if self.chunked:
            parts = [body[i : i + 7] for i in range(0, len(body), 7)]
            body = b"".join(f"{len(p):x}\r\n".encode() + p + b"\r\n" for p in parts) + b"0\r\n\r\n"
            connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + body)
        else:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return True

    def _frames(self, connection: socket.socket, file: BinaryIO) -> None:
        while frame := read_frame(file):
            if frame.kind == PONG:
                continue
            answer: dict[str, object] = {"code": 0, "message": "", "action": "conn", "req_id": 1, "timing": 5}
            if frame.kind == BINARY:
                self.blocks.append(frame.data)
                mood = self._mood()
                if mood == "cut":
                    return
                answer |= {"code": int(mood, 16) if mood else 0, "message": "words" if mood else ""}
            text = json.dumps(answer).encode()
            connection.sendall(b"\x89\x02hi" + bytes([0x81, len(text)]) + text)  # a ping before it


@pytest.fixture
def adapter() -> Iterator[Adapter]:
    with closing(Adapter()) as one:
        yield one


@pytest.fixture
def send(run: Callable[..., Outcome], adapter: Adapter) -> Callable[..., Outcome]:
    """send(method="rest", ...): a load through the adapter."""
    return lambda **spec: run(SPEC | {"adapter_port": adapter.port} | spec, env={"SCALE_PASSWORD": "pä:ss"})


@pytest.mark.parametrize("chunked", [False, True])
def test_rest_posts_statements_over_one_connection(send, adapter, chunked):
    adapter.chunked = chunked
    outcome = send(method="rest")
    assert outcome.code == 0, outcome.stderr
    assert outcome.summary["rows_acked"] == 40
    assert sum(statement.startswith("INSERT INTO d") for statement in adapter.statements) == 8
    assert {head.split()[1] for head in adapter.heads} == {"/rest/sql", "/rest/sql/test", "/rest/sql/test/vgid"}
    coded = re.search(r"Authorization: Basic (\S+)", adapter.heads[0])[1]
    assert base64.b64decode(coded).decode() == "root:pä:ss"


PASSING = [(method, mood) for method in ("rest", "ws") for mood in ("0x0126", "0x0914", "cut")]


@pytest.mark.parametrize(("method", "mood"), [*PASSING, ("rest", "busy")])  # busy is an answer of HTTP
def test_what_passes_is_tried_again(send, adapter, method, mood):
    adapter.moods = {3: mood}
    outcome = send(method=method)
    assert outcome.code == 0, outcome.stderr
    assert outcome.summary["rows_acked"] == 40
    assert outcome.summary["retries"] == 1
    assert outcome.summary["error_kinds"][0]["code"] == ("ADAPTER" if mood in ("cut", "busy") else mood)


@pytest.mark.parametrize("method", ["rest", "ws"])
def test_what_does_not_pass_stops_the_load(send, adapter, method):
    adapter.moods = {3: "0x2603"}
    outcome = send(method=method)
    assert outcome.code == 5
    assert outcome.summary["rows_acked"] == 10
    assert outcome.one("error")["code"] == "0x2603"
    assert "words" in outcome.one("error")["message"]


def test_ws_sends_a_block_for_each_slice_and_reads_all_answers(send, adapter):
    outcome = send(method="ws", rows_per_request=8, interlace_rows=2)
    assert outcome.code == 0, outcome.stderr
    assert outcome.summary["rows_acked"] == 40
    assert outcome.summary["requests"] == 5
    assert len(adapter.blocks) == 20
    for block in adapter.blocks:
        _, _, action, rows, name_length = struct.unpack_from("<QQQiH", block)
        assert (action, rows) == (4, 2)
        assert block[30 : 30 + name_length] in (b"d0", b"d1", b"d2", b"d3")
        raw = block[30 + name_length :]
        version, length, rows, columns = struct.unpack_from("<iiii", raw)
        assert (version, length, rows, columns) == (1, len(raw), 2, 4)


def test_a_block_of_some_columns_names_them(send, adapter):
    assert send(method="ws", partial_columns=1, partial_from=1).code == 0
    assert {struct.unpack_from("<Q", block, 16)[0] for block in adapter.blocks} == {5}
    assert all(block[-144:].startswith(b"ts\0") and block[-72:].startswith(b"voltage\0") for block in adapter.blocks)


def test_one_failed_block_of_a_request_fails_it_and_it_is_sent_again(send, adapter):
    adapter.moods = {6: "0x0126"}
    outcome = send(method="ws", rows_per_request=8, interlace_rows=2)
    assert outcome.code == 0
    assert outcome.summary["rows_acked"] == 40
    assert len(adapter.blocks) == 24


def test_no_adapter_is_told(run):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    outcome = run(SPEC | {"adapter_port": port, "method": "rest"})
    assert outcome.code == 4
    assert outcome.one("error")["code"] == "ADAPTER"
    assert f"cannot connect to 127.0.0.1:{port}" in outcome.one("error")["message"]


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"220 mail.example ESMTP\r\n\r\n", "is not an answer of HTTP"),
        (CHUNKED + b"zz\r\n", "'zz' is not the length of a chunk"),
        (CHUNKED + b"12x\r\n", "'12x' is not the length of a chunk"),
        (CHUNKED + b"ffffffffff\r\n", "'ffffffffff' is not the length of a chunk"),
    ],
)
def test_what_is_no_adapter_is_told(run, said, words):
    @dataclass
    class Saying(FakeServer):
        def serve(self, connection: socket.socket, file: BinaryIO) -> None:
            connection.recv(4096)
            connection.sendall(said)

    with closing(Saying()) as server:
        outcome = run(SPEC | {"adapter_port": server.port, "method": "rest"})
    assert outcome.code == 4
    assert words in outcome.one("error")["message"]


@pytest.mark.parametrize("interlace", [0, 2])
@pytest.mark.parametrize("method", ["rest", "ws"])
def test_with_its_sending_stubbed_rows_are_made_and_no_adapter_is_asked(run, adapter, method, interlace):
    """Five tables on three vgroups: where they lie is computed, since nobody is there to confirm it."""
    spec = {"adapter_port": adapter.port, "method": method, "sending": "stubbed", "interlace_rows": interlace}
    outcome = run(SPEC | spec | {"tables": 5, "partitions": 3, "rows": 4000, "rows_per_request": 8})
    assert outcome.code == 0, outcome.stderr
    assert (adapter.heads, adapter.statements, adapter.blocks) == ([], [], [])
    assert outcome.summary["rows_acked"] == 4000
    assert [p["rows_acked"] for p in outcome.summary["partitions"]] == [1600, 1600, 800]


TEN = ",".join(f"m{i}:double" for i in range(10))


def test_a_stubbed_request_is_still_written(run):
    """The null driver's requests are made and thrown away: next to nothing of its time is in the driver."""
    spec = {"tables": 4, "rows": 50_000, "rows_per_request": 1000, "columns": TEN}
    nobody = {"adapter_port": 1, "method": "rest", "sending": "stubbed"}
    stubbed, null = run(SPEC | spec | nobody), run({"driver": "null", **spec})
    (rest,), (none,) = stubbed.summary["workers"], null.summary["workers"]
    assert rest["send_s"] > rest["make_s"] > 10 * none["send_s"]


@pytest.mark.parametrize("method", ["stmt", "sql", "sml-line"])
def test_what_libtaos_encodes_cannot_be_stubbed(run, method):
    outcome = run(SPEC | {"method": method, "sending": "stubbed"})
    assert outcome.code == 2
    assert f"cannot make a request of method {method} without sending it" in outcome.stderr
