"""Sends statements by CQL's native protocol, version 4: one connection, text out, rows back."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scale_sweep.base.errors import TargetError

STARTUP, READY, QUERY, RESULT, ERROR = 0x01, 0x02, 0x07, 0x08, 0x00
_ROWS, _WARNINGS = 2, 8
_NUMBERS = {0x02: ">q", 0x05: ">q", 0x07: ">d", 0x08: ">f", 0x09: ">i", 0x0B: ">q", 0x13: ">h", 0x14: ">b"}
_TEXT, _BOOLEAN = {0x0001, 0x000D}, 0x0004


@dataclass
class _Reader:
    """The unread part of an answer."""

    data: bytes

    def take(self, count: int) -> bytes:
        if len(self.data) < count:
            raise TargetError("Cassandra's answer ends too early")
        part, self.data = self.data[:count], self.data[count:]
        return part

    def number(self, form: str) -> int:
        return int(struct.unpack(form, self.take(struct.calcsize(form)))[0])

    def text(self) -> str:
        return self.take(self.number(">H")).decode(errors="replace")


@dataclass(frozen=True, kw_only=True)
class Cql:
    """A server's address. Each `ask` opens its own connection."""

    host: str
    port: int

    def ask(self, statement: str, within_s: float) -> list[list[Any]]:
        """The rows of the answer. Raises TargetError with the server's message, or when the time is over."""
        try:
            with socket.create_connection((self.host, self.port), timeout=within_s) as connection:
                version = struct.pack(">H", 1) + _string("CQL_VERSION") + _string("3.0.0")
                opcode, _ = _exchange(connection, STARTUP, version)
                if opcode != READY:
                    raise TargetError(f"Cassandra did not answer READY to STARTUP (answer {opcode:#04x})")
                text = statement.encode()
                _, body = _exchange(connection, QUERY, struct.pack(">i", len(text)) + text + b"\0\x01\0")
        except OSError as error:
            raise TargetError(f"Cassandra did not answer {statement[:60]!r}: {error}") from None
        return _rows(_Reader(body))


def _string(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _exchange(connection: socket.socket, opcode: int, body: bytes) -> tuple[int, bytes]:
    connection.sendall(struct.pack(">BBhBi", 4, 0, 0, opcode, len(body)) + body)
    _, flags, _, answered, length = struct.unpack(">BBhBi", _receive(connection, 9))
    reader = _Reader(_receive(connection, length))
    for _ in range(reader.number(">H") if flags & _WARNINGS else 0):
        reader.text()
    if answered == ERROR:
        code = reader.number(">I")
        raise TargetError(f"Cassandra refused: {reader.text()[:300]} (code {code:#06x})")
    return answered, reader.data


def _receive(connection: socket.socket, count: int) -> bytes:
    parts = []
    while count > 0:
        part = connection.recv(min(count, 1 << 20))
        if not part:
            raise TargetError("Cassandra closed the connection")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _rows(reader: _Reader) -> list[list[Any]]:
    if reader.number(">i") != _ROWS:
        return []
    flags, columns = reader.number(">i"), reader.number(">i")
    if flags & 2:
        reader.take(reader.number(">i"))  # the position of the next page: there is none
    if flags & 1:
        reader.text(), reader.text()
    readers = [_column(reader, named=not flags & 1) for _ in range(columns)]
    return [[_value(reader, read) for read in readers] for _ in range(reader.number(">i"))]


def _column(reader: _Reader, *, named: bool) -> Callable[[bytes], Any]:
    if named:
        reader.text(), reader.text()
    name, kind = reader.text(), reader.number(">H")
    if kind in _TEXT:
        return lambda data: data.decode(errors="replace")
    if kind == _BOOLEAN:
        return lambda data: data != b"\0"
    if kind in _NUMBERS:
        form = _NUMBERS[kind]
        return lambda data: struct.unpack(form, data)[0]
    raise TargetError(f"Cassandra's column {name} has a type that is not read here ({kind:#06x})")


def _value(reader: _Reader, read: Callable[[bytes], Any]) -> Any:
    length = reader.number(">i")
    return None if length < 0 else read(reader.take(length))
