"""A taosAdapter that places tables as it should, and then never ends its answer to the first rows."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import BinaryIO

VGROUPS = b'{"code":0,"column_meta":[["vgroup_id","INT",4]],"data":[[2]],"rows":1}'
ANSWERS = {b"/vgid": b'{"code":0,"vgIDs":[2]}', b"SELECT vgroup_id": VGROUPS}
OTHERWISE = b'{"code":0,"column_meta":[["v","VARCHAR",7]],"data":[["3.3"]],"rows":1}'
WS_HELLO = b'{"code":0,"message":""}'
UPGRADED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"

Mood = Callable[[socket.socket, threading.Event], None]


def silence(connection: socket.socket, over: threading.Event) -> None:
    over.wait(20)


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


class SlowAdapter:
    """Listens on `port` until `close`. `began`: a request with rows came, and `mood` is what it gets."""

    def __init__(self, mood: Mood) -> None:
        self._mood = mood
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.began = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._over.set()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(20)
        try:
            with connection, connection.makefile("rb") as file:
                while request := _request(file):
                    if not self._answer(connection, file, request):
                        return
        except OSError:  # the client has left
            return

    def _answer(self, connection: socket.socket, file: BinaryIO, request: bytes) -> bool:
        if request.startswith(b"GET /ws"):
            connection.sendall(UPGRADED + bytes([0x81, len(WS_HELLO)]) + WS_HELLO)
            if not _frame(file) or not _frame(file):  # the login, and rows; who only places sends none
                return False
        elif b"INSERT" not in request:
            text = next((text for word, text in ANSWERS.items() if word in request), OTHERWISE)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
            return True
        self.began = True
        self._mood(connection, self._over)
        return False


def _request(file: BinaryIO) -> bytes:
    head, length = b"", 0
    while (line := file.readline()) not in (b"\r\n", b""):
        head += line
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return head + file.read(length)


def _frame(file: BinaryIO) -> bytes:
    head = file.read(2)
    if not head:
        return b""
    length = head[1] & 127
    if length > 125:
        length = int.from_bytes(file.read(2 if length == 126 else 8), "big")
    return file.read(4 + length)
