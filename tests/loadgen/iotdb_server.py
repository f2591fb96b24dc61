"""A server that speaks as much of IoTDB's session protocol as a load needs, and answers each call of rows in the mood it
was told. It reads Thrift's binary protocol by itself, so that the driver's words are checked and not repeated."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from tests.loadgen.listening import PATIENCE_S, FakeServer

BOOL, I32, I64, STRING, STRUCT, MAP, LIST = 2, 8, 10, 11, 12, 13, 15
SESSION, STATEMENT, QUERY = 7_000_000_001, 7_000_000_002, 7_000_000_003
FIXED = {BOOL: ">?", 3: ">b", 4: ">d", 6: ">h", I32: ">i", I64: ">q"}
ROWS_CALLS = ("insertTablet", "insertTablets", "insertRecords")


class Reader:
    """What is left of a message; a structure is a dictionary of its fields by number."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        assert self.at + count <= len(self.data), "the message ends too early"
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def value(self, kind: int) -> Any:
        if kind in FIXED:
            return self.number(FIXED[kind])
        if kind == STRING:
            return self.take(self.number(">i"))
        if kind == LIST:
            of, count = self.number(">b"), self.number(">i")
            return [self.value(of) for _ in range(count)]
        assert kind == STRUCT, f"a field of type {kind}"
        return self.fields()

    def fields(self) -> dict[int, Any]:
        found = {}
        while kind := self.number(">b"):
            name = self.number(">h")
            found[name] = self.value(kind)
        return found


def text(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


def field_of(kind: int, number: int, value: bytes) -> bytes:
    return struct.pack(">bh", kind, number) + value


def listed(kind: int, items: list[bytes]) -> bytes:
    return struct.pack(">bi", kind, len(items)) + b"".join(items)


def status(code: int, words: str = "", several: tuple[bytes, ...] = ()) -> bytes:
    more = field_of(LIST, 3, listed(STRUCT, list(several))) if several else b""
    return field_of(I32, 1, struct.pack(">i", code)) + field_of(STRING, 2, text(words.encode())) + more + b"\0"


OK, REFUSED = status(200), status(507, "Path does not exist")


def reply(name: str, number: int, result: bytes, kind: int = 2) -> bytes:
    """The frame of an answer whose structure has these fields."""
    message = struct.pack(">I", 0x80010000 | kind) + text(name.encode()) + struct.pack(">i", number) + result + b"\0"
    return struct.pack(">I", len(message)) + message


def returned(name: str, number: int, value: bytes) -> bytes:
    """An answer that returns a structure."""
    return reply(name, number, field_of(STRUCT, 0, value))


@dataclass
class IotdbServer(FakeServer):
    """Listens on `port` until `close`. moods: by the number of the call of rows from 1. calls: name and request of each
    call of rows; others: of all other calls. answers: the structure that a statement returns, by its text. pages: what a
    query returns, and each fetchResults after it, until the query is gone; asks: their requests, with moods by their
    number from 1."""

    moods: dict[int, str] = field(default_factory=dict)
    calls: list[tuple[str, dict[int, Any]]] = field(default_factory=list)
    others: list[tuple[str, dict[int, Any]]] = field(default_factory=list)
    answers: dict[str, bytes] = field(default_factory=dict)
    pages: list[bytes] = field(default_factory=list)
    asks: list[tuple[str, dict[int, Any]]] = field(default_factory=list)
    page: int = 0
    refuses_login: bool = False

    def named(self, name: str) -> list[dict[int, Any]]:
        """The requests of the other calls of this name."""
        return [request for found, request in self.others if found == name]

    def serve(self, connection: socket.socket, file: BinaryIO) -> None:
        while len(head := file.read(4)) == 4:
            reader = Reader(file.read(struct.unpack(">I", head)[0]))
            assert reader.number(">I") == 0x80010001
            name, number = reader.value(STRING).decode(), reader.number(">i")
            arguments = reader.fields()
            assert reader.at == len(reader.data), "nothing follows the arguments"
            if not self._answer(connection, name, number, arguments[1]):
                return

    def _answer(self, connection: socket.socket, name: str, number: int, request: Any) -> bool:
        if name in ROWS_CALLS:
            assert request[1] == SESSION
            self.calls.append((name, request))
            return self._answer_rows(connection, name, number, self.moods.get(len(self.calls), ""))
        if self.pages and name in ("executeStatement", "fetchResults"):
            return self._answer_ask(connection, name, number, request)
        self.others.append((name, request))
        if name == "openSession":
            said = status(801, "Authentication failed") if self.refuses_login else OK
            opened = field_of(I32, 2, struct.pack(">i", 2)) + field_of(I64, 3, struct.pack(">q", SESSION))
            connection.sendall(returned(name, number, field_of(STRUCT, 1, said) + opened + b"\0"))
        elif name == "requestStatementId":
            assert request == SESSION
            connection.sendall(reply(name, number, field_of(I64, 0, struct.pack(">q", STATEMENT))))
        elif name == "executeStatement":
            assert (request[1], request[3]) == (SESSION, STATEMENT)
            said = self.answers.get(request[2].decode(), field_of(STRUCT, 1, OK) + b"\0")
            connection.sendall(returned(name, number, said))
        else:
            assert name in ("closeSession", "createTimeseriesUsingSchemaTemplate")
            connection.sendall(returned(name, number, OK))
        return True

    def _answer_ask(self, connection: socket.socket, name: str, number: int, request: Any) -> bool:
        assert request[1] == SESSION and STATEMENT in (request[3], request.get(7))
        assert name != "fetchResults" or (request[4], request[5]) == (QUERY, True)
        self.asks.append((name, request))
        self.page = self.page + 1 if name == "fetchResults" else 0
        mood = self.moods.get(len(self.asks), "")
        page = self.pages[self.page] if self.page < len(self.pages) else GONE
        answers = {"": page, "refused": field_of(STRUCT, 1, REFUSED) + b"\0", "half": page[:-30]}
        if mood not in answers:
            return self._answer_rows(connection, name, number, mood)
        connection.sendall(returned(name, number, answers[mood]))
        return True

    def _answer_rows(self, connection: socket.socket, name: str, number: int, mood: str) -> bool:
        answers = {
            "": returned(name, number, OK),
            "redirected": returned(name, number, status(400, "to another node")),
            "refused": returned(name, number, REFUSED),
            "several, one refused": returned(name, number, status(302, "", (OK, REFUSED))),
            "several, all done": returned(name, number, status(302, "", (OK, OK))),
            "rejected": returned(name, number, status(606, "Reject write, memory is full")),
            "no status": returned(name, number, b"\0"),
            "another call": returned(name, number + 5, OK),
            "an exception": reply(name, number, field_of(STRING, 1, text(b"Invalid method name")), kind=3),
            "nothing returned": reply(name, number, b""),
            "garbage": b"HTTP/1.1 400 no\r\n\r\n",
            "huge": struct.pack(">I", 0xFFFFFFF0),
            "not Thrift": struct.pack(">I", 12) + b"\0" * 12,
            "ends early": struct.pack(">I", 30) + returned(name, number, OK)[4:34],
            "a list without end": returned(name, number, field_of(LIST, 3, struct.pack(">bi", STRUCT, 0x7FFFFFFF))),
            "cut": b"",
        }
        if mood == "silence":
            self.over.wait(PATIENCE_S)
        elif mood == "drip":
            self.drip(connection, answers[""])
        else:
            connection.sendall(answers[mood])
        return mood not in ("cut", "garbage", "huge", "not Thrift", "ends early")


def _data(columns: dict[str, tuple[str, list[Any]]], times: list[int]) -> bytes:
    forms = {"INT32": ">i", "INT64": ">q", "TIMESTAMP": ">q", "FLOAT": ">f", "DOUBLE": ">d", "BOOLEAN": ">?"}
    values, bitmaps = [], []
    for kind, cells in columns.values():
        held = [cell for cell in cells if cell is not None]
        values.append(text(b"".join(struct.pack(forms[kind], c) if kind in forms else text(c.encode()) for c in held)))
        bits = "".join("0" if cell is None else "1" for cell in cells)
        bits += "0" * (-len(bits) % 8)
        bitmaps.append(text(bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))))
    data = field_of(STRING, 1, text(b"".join(struct.pack(">q", time) for time in times)))
    return data + field_of(LIST, 2, listed(STRING, values)) + field_of(LIST, 3, listed(STRING, bitmaps)) + b"\0"


def more_answer(columns: dict[str, tuple[str, list[Any]]], times: list[int], *, more: bool = False) -> bytes:
    """What fetchResults returns: columns in the order in which they came before. moreData says the contrary, as it does
    in IoTDB 2.0.1-beta."""
    has_rows = b"\1" if times else b"\0"
    head = field_of(STRUCT, 1, OK) + field_of(BOOL, 2, has_rows) + field_of(BOOL, 3, b"\1")
    return head + field_of(STRUCT, 4, _data(columns, times)) + field_of(BOOL, 7, b"\0" if more else b"\1") + b"\0"


# What fetchResults returns for a query that the server has finished.
GONE = field_of(STRUCT, 1, OK) + field_of(BOOL, 2, b"\0") + field_of(BOOL, 7, b"\1") + b"\0"


def table_answer(
    columns: dict[str, tuple[str, list[Any]]], times: list[int] | None = None, *, more: bool = False
) -> bytes:
    """What a statement returns with these columns: by name its type and values, None for a NULL. times: of its rows, if
    it has some."""
    data = _data(columns, times or [])
    # a map that gives the columns in another order than they come
    places = struct.pack(">bbi", STRING, I32, len(columns))
    places += b"".join(text(name.encode()) + struct.pack(">i", i) for i, name in enumerate(columns))
    names = sorted(columns)
    return (
        field_of(STRUCT, 1, OK)
        + field_of(I64, 2, struct.pack(">q", QUERY))
        + field_of(LIST, 3, listed(STRING, [text(name.encode()) for name in names]))
        + field_of(BOOL, 5, b"\1" if times is None else b"\0")
        + field_of(LIST, 6, listed(STRING, [text(columns[name][0].encode()) for name in names]))
        + field_of(STRUCT, 7, data)
        + field_of(MAP, 9, places)
        + field_of(BOOL, 14, b"\1" if more else b"\0")
        + b"\0"
    )
