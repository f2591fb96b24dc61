"""A server that speaks as much of CQL's native protocol as a load needs, and answers each batch in the mood it was told."""

from __future__ import annotations

import socket
import struct
import threading
from dataclasses import dataclass, field

ID = bytes(range(16))
VOID = struct.pack(">i", 1)
STARTUP, READY, RESULT, PREPARE, BATCH, ERROR = 0x01, 0x02, 0x08, 0x09, 0x0D, 0x00
Values = tuple[bytes | None, ...]


def _string(text: bytes) -> bytes:
    return struct.pack(">H", len(text)) + text


@dataclass
class CqlServer:
    """Listens on `port` until `close`. moods: by the number of the batch from 1. batches: values of each row of each."""

    moods: dict[int, str] = field(default_factory=dict)
    batches: list[list[Values]] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    connections: int = 0

    def __post_init__(self) -> None:
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
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
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(20)
        try:
            with connection, connection.makefile("rb") as file:
                while len(head := file.read(9)) == 9:
                    version, _, number, opcode, length = struct.unpack(">BBhBi", head)
                    assert version == 4
                    if not self._answer(connection, number, opcode, file.read(length)):
                        return
        except OSError:  # the client has left
            return

    def _answer(self, connection: socket.socket, number: int, opcode: int, body: bytes) -> bool:
        if opcode == STARTUP:
            assert body == struct.pack(">H", 1) + _string(b"CQL_VERSION") + _string(b"3.0.0")
            _send(connection, number, READY, b"")
        elif opcode == PREPARE:
            self.statements.append(body[4:].decode())
            _send(connection, number, RESULT, struct.pack(">i", 4) + _string(ID) + b"\0" * 12)
        else:
            assert opcode == BATCH
            self.batches.append(rows_of(body))
            return self._answer_batch(connection, number, self.moods.get(len(self.batches), ""))
        return True

    def _answer_batch(self, connection: socket.socket, number: int, mood: str) -> bool:
        if mood == "silence":
            self._over.wait(20)
        elif mood == "refused":
            _send(connection, number, ERROR, struct.pack(">i", 0x1100) + _string(b"Operation timed out"))
        elif mood == "garbage":
            connection.sendall(b"HTTP/1.1 400 no\r\n\r\n")
        elif mood == "huge":
            connection.sendall(struct.pack(">BBhBI", 0x84, 0, number, RESULT, 0xFFFFFFF0))
        elif mood == "warned":
            _send(connection, number, RESULT, struct.pack(">H", 1) + _string(b"a large batch") + VOID, flags=8)
        elif mood == "warned too short":
            _send(connection, number, RESULT, struct.pack(">HH", 9, 500) + b"half", flags=8)
        elif mood == "refused and warned":
            said = struct.pack(">i", 0x2200) + _string(b"Invalid")
            _send(connection, number, ERROR, struct.pack(">H", 1) + _string(b"w") + said, flags=8)
        elif mood == "words too short":
            _send(connection, number, ERROR, struct.pack(">iH", 0x1001, 60000) + b"short")
        elif mood == "nothing in it":
            _send(connection, number, ERROR, b"")
        elif mood != "cut":
            _send(connection, number, RESULT, VOID)
        return mood not in ("cut", "garbage", "huge")


def _send(connection: socket.socket, number: int, opcode: int, body: bytes, flags: int = 0) -> None:
    connection.sendall(struct.pack(">BBhBi", 0x84, flags, number, opcode, len(body)) + body)


def rows_of(body: bytes) -> list[Values]:
    """The values of each row of an unlogged batch of prepared statements; None for one that is not set."""
    at = 3
    kind, count = struct.unpack_from(">BH", body)
    assert kind == 1
    rows = []
    for _ in range(count):
        assert body[at : at + 19] == b"\1\0\x10" + ID
        (values,) = struct.unpack_from(">H", body, at + 19)
        at += 21
        row: list[bytes | None] = []
        for _ in range(values):
            (length,) = struct.unpack_from(">i", body, at)
            assert length >= 0 or length == -2
            at += 4
            row.append(body[at : at + length] if length >= 0 else None)
            at += max(0, length)
        rows.append(tuple(row))
    assert body[at:] == b"\0\1\0"
    return rows
