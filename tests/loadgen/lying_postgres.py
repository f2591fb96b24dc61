"""A proxy for PostgreSQL's protocol that falsifies the answers of prepared queries named ask0, ask1, ... and passes
everything else on. Answers are binary, as the load generator asks for them."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.loadgen.proxy import Proxy, exactly

Cell = bytes | None
Row = list[Cell]
FLOAT4, FLOAT8, TIMES, INTEGERS = 700, 701, (1114, 1184), {21: ">h", 23: ">i", 20: ">q"}
_ENCRYPTION = (80877103, 80877104)


@dataclass
class Answer:
    """One answer of a connection. before: the rows of the answer before it."""

    types: list[int]
    rows: list[Row]
    number: int
    before: list[Row] = field(default_factory=list)


def _changed(answer: Answer, change: Callable[[int, bytes], bytes]) -> list[Row]:
    return [
        [None if cell is None else change(kind, cell) for kind, cell in zip(answer.types, row, strict=True)]
        for row in answer.rows
    ]


def _floats(kind: int, cell: bytes) -> bytes:
    form = {FLOAT4: ">f", FLOAT8: ">d"}.get(kind)
    return struct.pack(form, struct.unpack(form, cell)[0] * 11) if form else cell


def _later(kind: int, cell: bytes) -> bytes:
    return struct.pack(">q", struct.unpack(">q", cell)[0] + 1000) if kind in TIMES else cell


def _integers(kind: int, cell: bytes) -> bytes:
    form = INTEGERS.get(kind)
    return struct.pack(form, struct.unpack(form, cell)[0] + 1) if form else cell


def _last_null(answer: Answer) -> list[Row]:
    return [*answer.rows[:-1], [*answer.rows[-1][:-1], None]] if answer.rows else []


def _copy(answer: Answer) -> list[Row]:
    return [*answer.rows[:-1], answer.rows[-2]] if len(answer.rows) > 1 else answer.rows


LIES: dict[str, Callable[[Answer], list[Row]]] = {
    "floats times 11": lambda answer: _changed(answer, _floats),
    "times a ms later": lambda answer: _changed(answer, _later),
    "order reversed": lambda answer: answer.rows[::-1],
    "last cell NULL": _last_null,
    "last row a copy": _copy,
    "integers plus 1": lambda answer: _changed(answer, _integers),
    "the answer before": lambda answer: answer.before or answer.rows,
    "empty but the first": lambda answer: answer.rows if answer.number == 0 else [],
}


class LyingPostgres(Proxy):
    """lie: the rows in place of those of an answer."""

    def __init__(self, lie: Callable[[Answer], list[Row]]) -> None:
        super().__init__()
        self._lie = lie

    def pass_on(self, client: socket.socket, server: socket.socket) -> None:
        """Both ways, requests in a thread of their own."""
        _Connection(client, server, self).run()

    def falsified(self, answer: Answer) -> list[Row]:
        """What the client gets in place of the answer."""
        rows = self._lie(answer)
        self.answered(is_lie=rows != answer.rows)
        return rows


class _Connection:
    def __init__(self, client: socket.socket, server: socket.socket, proxy: LyingPostgres) -> None:
        self._client, self._server, self._proxy = client, server, proxy
        self._asks = False
        self._answers = 0
        self._before: list[Row] = []

    def run(self) -> None:
        self._begin()
        threading.Thread(target=self._requests, daemon=True).start()
        self._replies()

    def _begin(self) -> None:
        while True:
            head = exactly(self._client, 8)
            length, code = struct.unpack(">ii", head)
            if code not in _ENCRYPTION:
                self._server.sendall(head + exactly(self._client, length - 8))
                return
            self._client.sendall(b"N")

    def _requests(self) -> None:
        try:
            while True:
                kind, body = _message(self._client)
                if kind == b"B":
                    self._asks = body.split(b"\0")[1].startswith(b"ask")
                self._server.sendall(_encoded(kind, body))
        except (OSError, EOFError):
            with contextlib.suppress(OSError):
                self._server.shutdown(socket.SHUT_RDWR)  # which wakes the thread of the replies; a close would not

    def _replies(self) -> None:
        types: list[int] = []
        rows: list[Row] = []
        while True:
            kind, body = _message(self._server)
            if not self._asks or kind not in b"TDC":
                self._client.sendall(_encoded(kind, body))
                continue
            if kind == b"D":
                rows.append(_row(body))
                continue
            if kind == b"C":
                falsified = self._proxy.falsified(Answer(types, rows, self._answers, self._before))
                self._before, rows = rows, []
                self._answers += 1
                self._client.sendall(b"".join(_encoded(b"D", _row_body(row)) for row in falsified))
            else:
                types = _types(body)
            self._client.sendall(_encoded(kind, body))


def _message(source: socket.socket) -> tuple[bytes, bytes]:
    head = exactly(source, 5)
    return head[:1], exactly(source, struct.unpack(">i", head[1:])[0] - 4)


def _encoded(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack(">i", len(body) + 4) + body


def _types(body: bytes) -> list[int]:
    (count,), at, types = struct.unpack_from(">h", body), 2, []
    for _ in range(count):
        at = body.index(b"\0", at) + 1
        types.append(struct.unpack_from(">i", body, at + 6)[0])
        at += 18
    return types


def _row(body: bytes) -> Row:
    (count,), at = struct.unpack_from(">h", body), 2
    row: Row = []
    for _ in range(count):
        (length,) = struct.unpack_from(">i", body, at)
        at += 4
        row.append(None if length < 0 else body[at : at + length])
        at += max(length, 0)
    return row


def _row_body(row: Row) -> bytes:
    cells = (struct.pack(">i", -1) if cell is None else struct.pack(">i", len(cell)) + cell for cell in row)
    return struct.pack(">h", len(row)) + b"".join(cells)
