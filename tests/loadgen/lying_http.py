"""A proxy for HTTP that falsifies the answers of queries in JSON (InfluxDB, VictoriaMetrics, QuestDB) and passes
everything else on. A query is a GET, or a POST to a path that the caller names."""

from __future__ import annotations

import copy
import datetime
import json
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.loadgen.proxy import Proxy

Rows = list[list[Any]]


@dataclass
class HttpAnswer:
    """One answer of a connection, whose lists of rows a lie changes in place. before: the whole answer before it."""

    document: Any
    number: int
    before: Any = None

    @property
    def lists(self) -> list[Rows]:
        """The rows of each series."""
        found = self.document
        if "dataset" in found:
            return [found["dataset"]]
        if "results" in found:
            return [one["values"] for result in found["results"] for one in result.get("series", ())]
        return [one["values"] for one in found["data"]["result"]]


def _later(time: Any) -> Any:
    if isinstance(time, str):
        moment = datetime.datetime.fromisoformat(time) + datetime.timedelta(milliseconds=1)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return round(time + 0.001, 3) if time < 1e11 else time + 1


def _cells(answer: HttpAnswer, change: Callable[[Any], Any]) -> None:
    for rows in answer.lists:
        for row in rows:
            row[1:] = [change(cell) for cell in row[1:]]


def _fraction(cell: Any) -> Any:
    if isinstance(cell, str) and "." in cell:
        return repr(float(cell) * 11)
    return cell * 11 if isinstance(cell, float) else cell


def _whole(cell: Any) -> Any:
    if isinstance(cell, str) and cell.lstrip("-").isdigit():
        return str(int(cell) + 1)
    return cell + 1 if isinstance(cell, int) and not isinstance(cell, bool) else cell


def _times(answer: HttpAnswer) -> None:
    for rows in answer.lists:
        for row in rows:
            row[0] = _later(row[0])


def _reversed(answer: HttpAnswer) -> None:
    for rows in answer.lists:
        rows.reverse()


def _last_null(answer: HttpAnswer) -> None:
    """A sample of VictoriaMetrics that is NULL is not there."""
    for rows in answer.lists[-1:]:
        if isinstance(rows[-1][-1], str):
            rows.pop()
        else:
            rows[-1][-1] = None


def _copy(answer: HttpAnswer) -> None:
    for rows in answer.lists:
        if len(rows) > 1:
            rows[-1] = list(rows[-2])


def _before(answer: HttpAnswer) -> None:
    answer.document = answer.before or answer.document


def _empty(answer: HttpAnswer) -> None:
    for rows in answer.lists if answer.number else ():
        rows.clear()


HTTP_LIES: dict[str, Callable[[HttpAnswer], None]] = {
    "floats times 11": lambda answer: _cells(answer, _fraction),
    "times a ms later": _times,
    "order reversed": _reversed,
    "last cell NULL": _last_null,
    "last row a copy": _copy,
    "integers plus 1": lambda answer: _cells(answer, _whole),
    "the answer before": _before,
    "empty but the first": _empty,
}


class LyingHttp(Proxy):
    """lie: what is done to each answer. posted: how the path of a query begins that is a POST."""

    def __init__(self, lie: Callable[[HttpAnswer], None], posted: str = "/query") -> None:
        super().__init__()
        self._lie, self._posted = lie, posted.encode()

    def pass_on(self, client: socket.socket, server: socket.socket) -> None:
        """One connection, request after request."""
        number, before = 0, None
        with client.makefile("rb") as asks, server.makefile("rb") as answers:
            while True:
                head, body = _message(asks)
                server.sendall(head + body)
                first = head.split(b" ", 2)
                head, body = _message(answers)
                if first[0] == b"GET" or first[1].startswith(self._posted):
                    document = json.loads(body)
                    told = HttpAnswer(copy.deepcopy(document), number, before)
                    self._lie(told)
                    self.answered(is_lie=told.document != document)
                    number, before = number + 1, document
                    body = json.dumps(told.document).encode()
                client.sendall(_framed(head, body))


def _message(source: Any) -> tuple[bytes, bytes]:
    """Head and body of a request or an answer."""
    head, length, is_chunked = b"", 0, False
    while True:
        line = source.readline()
        if not line:
            raise EOFError
        head += line
        name, _, value = line.lower().partition(b":")
        if name == b"content-length":
            length = int(value)
        is_chunked |= name == b"transfer-encoding" and b"chunked" in value
        if line == b"\r\n":
            break
    if not is_chunked:
        return head, source.read(length)
    body = b""
    while size := int(source.readline(), 16):
        body += source.read(size)
        source.readline()
    source.readline()
    return head, body


def _framed(head: bytes, body: bytes) -> bytes:
    lines = head.split(b"\r\n")
    kept = [line for line in lines[:-2] if not line.lower().startswith((b"content-length", b"transfer-encoding"))]
    return b"\r\n".join([*kept, b"Content-Length: %d" % len(body), b"", body])
