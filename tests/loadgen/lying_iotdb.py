"""A proxy for IoTDB's session protocol that falsifies the answers of statements which select rows with their times, and
passes everything else on. Answers of one page."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.loadgen.iotdb_server import MAP, STRING, Reader, text
from tests.loadgen.proxy import Proxy, exactly

Row = list[Any]
FORMS = {"INT32": ">i", "INT64": ">q", "FLOAT": ">f", "DOUBLE": ">d"}


@dataclass
class IotdbAnswer:
    """One answer of a connection: rows of a time and a value of each column. before: the rows of the answer before."""

    types: Sequence[str]
    rows: list[Row]
    number: int
    before: list[Row]


def _changed(answer: IotdbAnswer, change: Callable[[Any], Any]) -> list[Row]:
    return [[time, *(None if cell is None else change(cell) for cell in cells)] for time, *cells in answer.rows]


def _float(cell: Any) -> Any:
    return cell * 11 if isinstance(cell, float) else cell


def _whole(cell: Any) -> Any:
    return cell + 1 if isinstance(cell, int) else cell


IOTDB_LIES: dict[str, Callable[[IotdbAnswer], list[Row]]] = {
    "floats times 11": lambda answer: _changed(answer, _float),
    "times a ms later": lambda answer: [[time + 1, *cells] for time, *cells in answer.rows],
    "order reversed": lambda answer: answer.rows[::-1],
    "last cell NULL": lambda answer: [*answer.rows[:-1], [*answer.rows[-1][:-1], None]],
    "last row a copy": lambda answer: [*answer.rows[:-1], answer.rows[-2]],
    "integers plus 1": lambda answer: _changed(answer, _whole),
    "the answer before": lambda answer: answer.before or answer.rows,
    "empty but the first": lambda answer: [] if answer.number else answer.rows,
}


class LyingIotdb(Proxy):
    """lie: the rows in place of those of an answer."""

    def __init__(self, lie: Callable[[IotdbAnswer], list[Row]]) -> None:
        super().__init__()
        self._lie = lie

    def pass_on(self, client: socket.socket, server: socket.socket) -> None:
        """One connection, call after call."""
        number, before = 0, []
        while True:
            client_says = _frame(client)
            server.sendall(_framed(client_says))
            answer = _frame(server)
            parts = _Parts(answer) if b"executeStatement" in client_says[:40] else None
            if parts and parts.has_rows:
                rows = parts.rows()
                told = self._lie(IotdbAnswer(parts.types, rows, number, before))
                self.answered(is_lie=told != rows)
                number, before = number + 1, rows
                answer = parts.with_rows(told)
            client.sendall(_framed(answer))


def _frame(source: socket.socket) -> bytes:
    return exactly(source, struct.unpack(">I", exactly(source, 4))[0])


def _framed(message: bytes) -> bytes:
    return struct.pack(">I", len(message)) + message


class _Placed(bytes):
    """A text of a message, with where it is in it: after its length of 4 bytes."""

    at: int


class _Places(Reader):
    def value(self, kind: int) -> Any:
        if kind == STRING:
            found = _Placed(super().value(kind))
            found.at = self.at - len(found)
            return found
        if kind == MAP:
            key, of, count = self.number(">b"), self.number(">b"), self.number(">i")
            return {bytes(self.value(key)): self.value(of) for _ in range(count)}
        return super().value(kind)


class _Parts:
    """The times, values and bitmaps of an answer, each in its place."""

    def __init__(self, message: bytes) -> None:
        self._message = message
        reader = _Places(message)
        reader.number(">I"), reader.value(STRING), reader.number(">i")
        answer = reader.fields().get(0, {})
        data = answer.get(7, {}) if isinstance(answer, dict) else {}
        self._times: bytes = data.get(1, b"")
        self._values: list[bytes] = data.get(2, [])
        self._bitmaps: list[bytes] = data.get(3, [])
        names = [bytes(name) for name in answer.get(3, [])] if data else []
        places = (answer.get(9) if data else None) or {name: i for i, name in enumerate(names)}
        self._places = [places[name] for name in names]  # which differ from answer to answer
        self.types = [name.decode() for name in answer[6]] if data else []
        self.has_rows = bool(self._times) and all(name in FORMS for name in self.types)

    def rows(self) -> list[Row]:
        times = [time for (time,) in struct.iter_unpack(">q", self._times)]
        columns = []
        for name, place in zip(self.types, self._places, strict=True):
            held, bits = struct.iter_unpack(FORMS[name], self._values[place]), self._bitmaps[place]
            columns.append([next(held)[0] if bits[i // 8] & 0x80 >> i % 8 else None for i in range(len(times))])
        return [list(row) for row in zip(times, *columns, strict=True)]

    def with_rows(self, rows: list[Row]) -> bytes:
        """The message with these rows."""
        new = [(self._times, b"".join(struct.pack(">q", row[0]) for row in rows))]
        for i, (name, place) in enumerate(zip(self.types, self._places, strict=True), 1):
            cells = [row[i] for row in rows]
            new.append((self._values[place], b"".join(struct.pack(FORMS[name], c) for c in cells if c is not None)))
            bits = "".join("0" if cell is None else "1" for cell in cells)
            bits += "0" * (-len(bits) % 8)
            new.append((self._bitmaps[place], bytes(int(bits[k : k + 8], 2) for k in range(0, len(bits), 8))))
        message = self._message
        for old, one in sorted(new, key=lambda pair: -pair[0].at):
            message = message[: old.at - 4] + text(one) + message[old.at + len(old) :]
        return message
