"""A server that speaks as much of CQL's native protocol as a load needs, and answers each batch or query in its mood."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field
from typing import BinaryIO

from tests.loadgen.listening import PATIENCE_S, FakeServer

ID = bytes(range(16))
VOID = struct.pack(">i", 1)
STARTUP, READY, RESULT, PREPARE, EXECUTE, BATCH, ERROR = 0x01, 0x02, 0x08, 0x09, 0x0A, 0x0D, 0x00
Values = tuple[bytes | None, ...]


@dataclass(frozen=True)
class Executed:
    """One request for a page."""

    flags: int
    values: tuple[bytes, ...]
    page_rows: int = 0
    position: bytes = b""


def _string(text: bytes) -> bytes:
    return struct.pack(">H", len(text)) + text


@dataclass
class CqlServer(FakeServer):
    """Listens on `port` until `close`. moods: by the number of the batch from 1. batches: values of each row of each.

    Of queries: bound and columns: numbers of types, those of parameters and of the answer; more: bytes behind the number
    of each type. pages: rows of each page of every answer. executed: flags, parameters, rows of a page and position of
    each request; their moods by its number from 1."""

    moods: dict[int, str] = field(default_factory=dict)
    batches: list[list[Values]] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    bound: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    more: dict[int, bytes] = field(default_factory=dict)
    pages: list[list[Values]] = field(default_factory=list)
    executed: list[Executed] = field(default_factory=list)
    has_metadata: bool = False  # in each answer, though none was asked for

    def serve(self, connection: socket.socket, file: BinaryIO) -> None:
        while len(head := file.read(9)) == 9:
            version, _, number, opcode, length = struct.unpack(">BBhBi", head)
            assert version == 4
            if not self._answer(connection, number, opcode, file.read(length)):
                return

    def _answer(self, connection: socket.socket, number: int, opcode: int, body: bytes) -> bool:
        if opcode == STARTUP:
            assert body == struct.pack(">H", 1) + _string(b"CQL_VERSION") + _string(b"3.0.0")
            connection.sendall(_frame(number, READY, b""))
        elif opcode == PREPARE:
            self.statements.append(body[4:].decode())
            selects = self.statements[-1].startswith("SELECT")
            types = self._of_parameters() + self._of_rows() if selects else b"\0" * 12
            connection.sendall(_frame(number, RESULT, struct.pack(">i", 4) + _string(ID) + types))
        elif opcode == EXECUTE:
            self.executed.append(executed_of(body))
            return self._answer_query(connection, number, self.moods.get(len(self.executed), ""))
        else:
            assert opcode == BATCH
            self.batches.append(rows_of(body))
            return self._answer_batch(connection, number, self.moods.get(len(self.batches), ""))
        return True

    def _of_parameters(self) -> bytes:
        columns = b"".join(_string(b"p") + self._type(kind) for kind in self.bound)
        return struct.pack(">iiiH", 1, len(self.bound), 1, 0) + _string(b"ks") + _string(b"t") + columns

    def _of_rows(self) -> bytes:
        each = (_string(b"ks") + _string(b"t") + _string(b"c") + self._type(kind) for kind in self.columns)
        return struct.pack(">ii", 0, len(self.columns)) + b"".join(each)

    def _type(self, kind: int) -> bytes:
        return struct.pack(">H", kind) + self.more.get(kind, b"")

    def _page(self, number: int) -> bytes:
        is_last = number + 1 >= len(self.pages)
        position = b"" if is_last else struct.pack(">i", 4) + b"at%02d" % (number + 1)
        flags = 0 if is_last else 2
        head = struct.pack(">ii", flags | 4, len(self.columns)) + position
        if self.has_metadata:
            head = struct.pack(">ii", flags, len(self.columns)) + position + self._of_rows()[8:]
        rows = self.pages[number] if self.pages else []
        cells = (c for row in rows for c in row)
        values = b"".join(b"\xff\xff\xff\xff" if c is None else struct.pack(">i", len(c)) + c for c in cells)
        return struct.pack(">i", 2) + head + struct.pack(">i", len(rows)) + values

    def _answer_query(self, connection: socket.socket, number: int, mood: str) -> bool:
        at = self.executed[-1].position
        page = self._page(int(at[2:] or 0))
        bodies = {
            "": page,
            "half a row": page[:-3],
            "more than announced": page + b"\0\0\0\1x",
            "too many rows": page.replace(
                struct.pack(">i", len(self.pages[0]) if self.pages else 0), b"\x7f\xff\xff\xff"
            ),
            "other columns": page[:8] + struct.pack(">i", 99) + page[12:],
            "no rows": VOID,
        }
        if mood in bodies:
            connection.sendall(_frame(number, RESULT, bodies[mood]))
        elif mood == "warned rows":
            warning = struct.pack(">H", 1) + _string(b"many partitions")
            connection.sendall(_frame(number, RESULT, warning + page, flags=8))
        elif mood == "slow":
            for byte in _frame(number, RESULT, page):
                connection.sendall(bytes((byte,)))
        else:
            return self._answer_batch(connection, number, mood)
        return True

    def _answer_batch(self, connection: socket.socket, number: int, mood: str) -> bool:
        one = struct.pack(">H", 1)
        invalid = struct.pack(">i", 0x2200) + _string(b"Invalid")
        answers = {
            "": _frame(number, RESULT, VOID),
            "refused": _frame(number, ERROR, struct.pack(">i", 0x1100) + _string(b"Operation timed out")),
            "garbage": b"HTTP/1.1 400 no\r\n\r\n",
            "huge": struct.pack(">BBhBI", 0x84, 0, number, RESULT, 0xFFFFFFF0),
            "warned": _frame(number, RESULT, one + _string(b"a large batch") + VOID, flags=8),
            "warned too short": _frame(number, RESULT, struct.pack(">HH", 9, 500) + b"half", flags=8),
            "refused and warned": _frame(number, ERROR, one + _string(b"w") + invalid, flags=8),
            "words too short": _frame(number, ERROR, struct.pack(">iH", 0x1001, 60000) + b"short"),
            "nothing in it": _frame(number, ERROR, b""),
            "cut": b"",
        }
        if mood == "silence":
            self.over.wait(PATIENCE_S)
        elif mood == "drip":
            self.drip(connection, answers[""])
        else:
            connection.sendall(answers[mood])
        return mood not in ("cut", "garbage", "huge")


def _frame(number: int, opcode: int, body: bytes, flags: int = 0) -> bytes:
    return struct.pack(">BBhBi", 0x84, flags, number, opcode, len(body)) + body


def executed_of(body: bytes) -> Executed:
    """What an EXECUTE asks for, at consistency ONE."""
    assert body[:18] == b"\0\x10" + ID
    consistency, flags, count = struct.unpack_from(">HBH", body, 18)
    assert (consistency, flags & ~12) == (1, 3)
    at, values = 23, []
    for _ in range(count):
        (length,) = struct.unpack_from(">i", body, at)
        values.append(body[at + 4 : at + 4 + length])
        at += 4 + length
    rows, position = 0, b""
    if flags & 4:
        (rows,) = struct.unpack_from(">i", body, at)
        at += 4
    if flags & 8:
        (length,) = struct.unpack_from(">i", body, at)
        position, at = body[at + 4 : at + 4 + length], at + 4 + length
    assert at == len(body)
    return Executed(flags, tuple(values), rows, position)


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
