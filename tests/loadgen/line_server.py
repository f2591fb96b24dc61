"""A server that takes lines over HTTP, and answers each request in the mood that it was told."""

from __future__ import annotations

import gzip
import json
import socket
from dataclasses import dataclass, field
from typing import BinaryIO

from tests.loadgen.listening import PATIENCE_S, FakeServer, http_answer, http_request

GOOD = b"HTTP/1.1 204 No Content\r\n\r\n"
# What the nth request (from 1) gets instead of GOOD.
MOODS = {
    "cut": b"",
    "garbage": b"\x00\xff garbage of no protocol\r\n\r\n",
    "endless line": b"HTTP/1.1 204 " + b"x" * 3000 + b"\r\n\r\n",
    "partial head": b"HTTP/1.1 204 No Con",
    "partial body": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 100\r\n\r\nshort",
    "huge body": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 999999999999\r\n\r\nshort",
    "bad chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
    "refused": http_answer('{"error":"bad line 3"}', "400 Bad Request"),
    "no such database": http_answer("", "404 Not Found"),
    "too much": http_answer("", "413 Request Entity Too Large"),
    "chunked refusal": http_answer("boom", "500 Oh", chunk=4),
    "busy": http_answer("busy", "503 Service Unavailable"),
    "chunked": http_answer("{}", chunk=2),
    "continue": b"HTTP/1.1 100 Continue\r\n\r\n" + GOOD,
    "last": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
    "closes": b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
}
# The code of the error that a load tells of the mood, and words of its message.
REFUSALS = {
    "refused": ("HTTP400", 'HTTP status 400: {"error":"bad line 3"}'),
    "no such database": ("HTTP404", "HTTP status 404"),
    "too much": ("HTTP413", "HTTP status 413"),
    "chunked refusal": ("HTTP500", "HTTP status 500: boom"),
    "busy": ("HTTP503", "HTTP status 503: busy"),
    "cut": ("CONNECTION", "closed"),
    "garbage": ("CONNECTION", "is not an answer of HTTP"),
    "partial head": ("CONNECTION", "closed"),
    "partial body": ("CONNECTION", "closed"),
    "huge body": ("CONNECTION", "longer than"),
    "bad chunk": ("CONNECTION", "not the length of a chunk"),
}
_ENDS = {"cut", "garbage", "partial head", "partial body", "huge body", "bad chunk", "last", "closes"}


@dataclass
class LineServer(FakeServer):
    """Listens on `port` until `close`. moods: by the number of the request from 1; "silence" and "drip" never end."""

    moods: dict[int, str] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)  # the bodies as they came
    answer: bytes = b""  # to GET, and to POST if given

    def forget(self) -> None:
        """The requests so far."""
        for kept in (self.heads, self.bodies, self.raw):
            kept.clear()

    @property
    def lines(self) -> list[str]:
        """Of all requests."""
        return [line for body in self.bodies for line in body.splitlines()]

    def serve(self, connection: socket.socket, file: BinaryIO) -> None:
        while (request := http_request(file))[0]:
            head, body = request
            self.heads.append(head)
            if head.startswith("GET "):
                connection.sendall(self.answer)
                continue
            self.raw.append(body)
            text = gzip.decompress(body) if "gzip\r\n" in head else body
            is_binary = "Content-Type: application/x-protobuf" in head
            self.bodies.append("" if is_binary else text.decode())
            if not self._answer(connection):
                return

    def _answer(self, connection: socket.socket) -> bool:
        mood = self.moods.get(len(self.bodies), "")
        if self.answer and not mood:
            connection.sendall(self.answer)
            return True
        if mood == "silence":
            self.over.wait(PATIENCE_S)
        elif mood == "drip":
            connection.sendall(b"HTTP/1.1 204 No Content\r\n")
            while not self.over.wait(0.05):
                connection.sendall(b"X-Wait: 1\r\n")
        connection.sendall(MOODS.get(mood, GOOD))
        return mood not in _ENDS


# Answers of CrateDB 6.4.3.
STORED = '{"cols":[],"rows":[[]],"rowcount":%d,"duration":74.24482}'
STORED_ROWS = '{"cols":[],"duration":112.71583,"results":[%s]}'


@dataclass
class CrateServer(LineServer):
    """It stores every row, unless it is told an answer."""

    told: bytes = b""

    def _answer(self, connection: socket.socket) -> bool:
        body = json.loads(self.bodies[-1])
        if "args" in body:
            text = STORED % len(body["args"][0])
        else:
            text = STORED_ROWS % ",".join(['{"rowcount":1}'] * len(body.get("bulk_args", ())))
        self.answer = self.told or http_answer(text)
        return super()._answer(connection)
