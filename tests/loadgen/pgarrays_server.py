"""A server that takes arrays by the PostgreSQL protocol, as CrateDB 6.4.3 does."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from pgwire_server import READY, PgwireServer, error, message, read

ELEMENTS = {1000: (16, "?"), 1005: (21, "h"), 1007: (23, "i"), 1016: (20, "q"), 1021: (700, "f"), 1022: (701, "d")}
ELEMENTS |= {1015: (1043, "")}


@dataclass
class ArraysServer(PgwireServer):
    """It stores every row and says how many, unless it is told a mood of the request's number: "few" stores one row
    less, "refused" refuses all."""

    sql: str = ""
    types: tuple[int, ...] = ()
    stored: list[tuple[object, ...]] = field(default_factory=list)

    def _answer(self, connection: socket.socket, file: BinaryIO) -> None:
        said, rows, mood = b"", 0, ""
        while True:
            kind, body = read(file)
            if kind == "P":
                said += self._prepare(body)
            elif kind == "B":
                self.transactions += 1
                mood = self.moods.get(self.transactions, "")
                came = rows_of(body, self.types)
                self.stored += came if not mood else []
                rows = len(came) - (mood == "few")
                said += error("22P02", "cannot cast") if mood == "refused" else message("2")
            elif kind == "E":
                said += b"" if mood == "refused" else message("C", f"INSERT 0 {rows}\0".encode())
            elif kind == "S":
                if not self._tell(connection, said + READY, mood):
                    return
                said, mood = b"", ""

    def _prepare(self, body: bytes) -> bytes:
        name, sql, rest = body.split(b"\0", 2)
        (count,) = struct.unpack("!H", rest[:2])
        assert name == b"i"
        self.sql, self.types = sql.decode(), struct.unpack(f"!{count}I", rest[2:])
        return error("42P01", "Relation unknown") if self.refuses_statement else message("1")


def rows_of(body: bytes, types: tuple[int, ...]) -> list[tuple[object, ...]]:
    """The rows of a message that binds an array for each column."""
    assert body.startswith(b"\0i\0\0\1\0\1"), "one format for all: binary"
    (count,) = struct.unpack("!H", body[7:9])
    assert count == len(types) and body.endswith(b"\0\0")
    at, columns = 9, []
    for type_id in types:
        length, dimensions, _, element, rows, first = struct.unpack("!iiiiii", body[at : at + 24])
        assert (dimensions, element, first) == (1, ELEMENTS[type_id][0], 1)
        columns.append(list(values_of(body[at + 24 : at + 4 + length], ELEMENTS[type_id][1])))
        assert len(columns[-1]) == rows
        at += 4 + length
    assert at == len(body) - 2
    return list(zip(*columns, strict=True))


def values_of(data: bytes, form: str) -> Iterator[object]:
    """The values of an array, each behind its length."""
    at = 0
    while at < len(data):
        (length,) = struct.unpack("!i", data[at : at + 4])
        value = data[at + 4 : at + 4 + max(length, 0)]
        at += 4 + max(length, 0)
        yield None if length < 0 else struct.unpack(f"!{form}", value)[0] if form else value.decode()
