"""A taosAdapter that answers requests with rows in the mood that it was told, some of which never end."""

from __future__ import annotations

import json
import re
import socket
import threading
from dataclasses import dataclass, field
from typing import BinaryIO

from tests.loadgen.listening import PATIENCE_S, FakeServer, http_answer, http_request

BINARY, PONG = 2, 10  # opcodes of WebSocket
PING = b"\x89\x02hi"
UPGRADED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"


@dataclass
class Adapter(FakeServer):
    """Listens on `port` until `close`. moods: by the number of the INSERT or the block, from 1: an error's code, "cut",
    "busy", or one of those that never end: "silence", "header lines", "pings"."""

    moods: dict[int, str] = field(default_factory=dict)
    chunked: bool = False
    statements: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    blocks: list[bytes] = field(default_factory=list)
    sent: int = 0

    def serve(self, connection: socket.socket, file: BinaryIO) -> None:
        while (request := http_request(file))[0]:
            head, body = request
            self.heads.append(head)
            if head.startswith("GET /ws"):
                connection.sendall(UPGRADED)
                return self._frames(connection, file)
            if not self._post(connection, head, body.decode()):
                return None

    def _mood(self) -> str:
        self.sent += 1
        return self.moods.get(self.sent, "")

    def _post(self, connection: socket.socket, head: str, body: str) -> bool:
        answer: dict[str, object] = {"code": 0, "column_meta": [["affected_rows", "INT", 4]], "data": [[2]], "rows": 1}
        if "/vgid" in head:
            return self._reply(connection, {"code": 0, "vgIDs": [2] * len(json.loads(body))})
        self.statements.append(body)
        if not body.startswith("INSERT"):
            return self._reply(connection, answer)
        mood = self._mood()
        if mood == "busy":
            return self._reply(connection, "memory exceeds threshold", "503 Service Unavailable")
        if mood.startswith("0x"):
            return self._reply(connection, {"code": int(mood, 16), "desc": 'words of "the" adapter'})
        if mood:
            return self._never_end(connection, mood)
        return self._reply(connection, answer | {"data": [[len(re.findall(r"\(\d", body))]]})

    def _reply(self, connection: socket.socket, answer: object, status: str = "200 OK") -> bool:
        connection.sendall(http_answer(json.dumps(answer), status, chunk=7 if self.chunked else 0))
        return True

    def _frames(self, connection: socket.socket, file: BinaryIO) -> None:
        while frame := read_frame(file):
            if frame.kind == PONG:
                continue
            answer: dict[str, object] = {"code": 0, "message": "", "action": "conn", "req_id": 1, "timing": 5}
            if frame.kind == BINARY:
                self.blocks.append(frame.data)
                mood = self._mood()
                if mood and not mood.startswith("0x"):
                    self._never_end(connection, mood)
                    return
                answer |= {"code": int(mood, 16) if mood else 0, "message": "words" if mood else ""}
            text = json.dumps(answer).encode()
            connection.sendall(PING + bytes([0x81, len(text)]) + text)

    def _never_end(self, connection: socket.socket, mood: str) -> bool:
        """The connection is closed after it."""
        if mood == "silence":
            self.over.wait(PATIENCE_S)
        elif mood == "header lines":  # each read of the client is answered soon, the request never
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while not self.over.wait(0.1):
                connection.sendall(b"X-Wait: 1\r\n")
        elif mood == "pings":  # as many as are taken: the client always has something to read
            threading.Thread(target=_read_on, args=(connection,), daemon=True).start()
            while not self.over.is_set():
                connection.sendall(PING * 1000)
        else:
            assert mood == "cut"
        return False


def _read_on(connection: socket.socket) -> None:
    try:
        while connection.recv(65536):
            pass
    except OSError:  # it ends when the client leaves
        return


@dataclass(frozen=True)
class Frame:
    """Of a WebSocket, from a client. kind: its opcode."""

    kind: int
    data: bytes


def read_frame(file: BinaryIO) -> Frame | None:
    """The next frame; None when the client has left."""
    head = file.read(2)
    if not head:
        return None
    length = head[1] & 127
    if length > 125:
        length = int.from_bytes(file.read(2 if length == 126 else 8), "big")
    mask = file.read(4)
    return Frame(head[0] & 15, bytes(b ^ mask[i % 4] for i, b in enumerate(file.read(length))))
