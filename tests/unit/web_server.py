"""A web server of a test on a port of 127.0.0.1: a function answers, and the requests are noted. It knows no database."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Request:
    """path: with its query. authorization: "" without the header."""

    method: str
    path: str
    body: bytes
    authorization: str


@dataclass(frozen=True)
class Answer:
    """body: text, or what becomes JSON."""

    status: int = 200
    body: object = ""

    def encoded(self) -> bytes:
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


Answering = Callable[[Request], Answer | None]


@dataclass
class WebServer:
    """What came so far, and how it is answered: None is no answer."""

    port: int
    answering: Answering
    requests: list[Request] = field(default_factory=list)


@contextmanager
def web_server(answering: Answering) -> Iterator[WebServer]:
    """Answers until the end of the block, each connection in a thread of its own."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            request = Request(self.command, self.path, body, self.headers.get("Authorization", ""))
            known.requests.append(request)
            answer = known.answering(request)
            if answer is None:
                self.close_connection = True
                return
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(answer.encoded())))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.encoded())

        do_CONNECT = do_DELETE = do_HEAD = do_POST = do_GET  # the names are http.server's

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        known = WebServer(port=listening.server_port, answering=answering)
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        try:
            yield known
        finally:
            listening.shutdown()
