"""A taosAdapter that places tables as it should, and then never ends its answer to the first rows."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from tests.loadgen.listening import PATIENCE_S, FakeServer, http_head

VGROUPS = b'{"code":0,"column_meta":[["vgroup_id","INT",4]],"data":[[2]],"rows":1}'
ANSWERS = {b"/vgid": b'{"code":0,"vgIDs":[2]}', b"SELECT vgroup_id": VGROUPS}
OTHERWISE = b'{"code":0,"column_meta":[["v","VARCHAR",7]],"data":[["3.3"]],"rows":1}'
WS_HELLO = b'{"code":0,"message":""}'
BINARY, PONG = 2, 10  # opcodes of WebSocket
UPGRADED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"

Mood = Callable[[socket.socket, threading.Event], None]


def silence(connection: socket.socket, over: threading.Event) -> None:
    over.wait(PATIENCE_S)


def header_lines(connection: socket.socket, over: threading.Event) -> None:
    """One every 0.1 s: each read of the client is answered soon, the request never."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not over.wait(0.1):
        connection.sendall(b"X-Wait: 1\r\n")


def pings(connection: socket.socket, over: threading.Event) -> None:
    """As many as are taken: the client always has something to read."""
    threading.Thread(target=_read_on, args=(connection,), daemon=True).start()
    while not over.is_set():
        connection.sendall(b"\x89\x02hi" * 1000)


def _read_on(connection: socket.socket) -> None:
    try:
        while connection.recv(65536):
            pass
    except OSError:  # it ends when the client leaves
        return


@dataclass
class SlowAdapter(FakeServer):
    """Listens on `port` until `close`. `began`: a request with rows came, and `mood` is what it gets."""

    mood: Mood
    began: bool = False

    def serve(self, connection: socket.socket, file: BinaryIO) -> None:
        while (head := http_head(file)) and self._answer(connection, file, head):
            pass

    def _answer(self, connection: socket.socket, file: BinaryIO, head: str) -> bool:
        length = re.search(r"(?i)^content-length:(.*)", head, re.MULTILINE)
        request = head.encode() + file.read(int(length[1]) if length else 0)
        if request.startswith(b"GET /ws"):
            connection.sendall(UPGRADED + bytes([0x81, len(WS_HELLO)]) + WS_HELLO)
            if not read_frame(file) or not read_frame(file):  # the login, and rows; who only places sends none
                return False
        elif b"INSERT" not in request:
            text = next((text for word, text in ANSWERS.items() if word in request), OTHERWISE)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
            return True
        self.began = True
        self.mood(connection, self.over)
        return False


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
