"""`scale load --iot` sends InfluxDB 2 the file's token with each request, of the load too, and prints it nowhere."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator

import pytest

from tests.unit.whole_commands import run

TOKEN = "t0ken-of-the-file"
ANSWERS = {
    "/health": {"version": "v2.7.12"},
    "/api/v2/orgs": {"orgs": [{"id": "0f0f"}]},
    "/api/v2/buckets": {"id": "0b0b", "buckets": [{"id": "0b0b"}]},
    "/api/v2/dbrps": {"content": [{}]},
    "/query": {"results": [{"error": "not asked here"}]},
}


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as InfluxDB 2 does, and keeps the path and the authorization of each request."""

    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, str]]

    def _answer(self) -> None:
        path = self.path.partition("?")[0]
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.seen.append((path, self.headers.get("Authorization", "")))
        body = json.dumps(ANSWERS[path]).encode() if path in ANSWERS else b""
        self.send_response(200 if body else 204)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = _answer

    def log_message(self, *words: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[http.server.ThreadingHTTPServer]:
    handler = type("Kept", (Handler,), {"seen": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as one:
        threading.Thread(target=one.serve_forever, daemon=True).start()
        yield one
        one.shutdown()


def test_every_request_has_the_token(server, tmp_path):
    port = server.server_address[1]
    text = f"DB_SWITCH=InfluxDB-2.x\nHOST=127.0.0.1\nPORT={port}\nTOKEN={TOKEN}\nDEVICE_NUMBER=4\nSENSOR_NUMBER=3\n"
    (tmp_path / "config.properties").write_text(f"{text}CLIENT_NUMBER=2\nLOOP=3\n")
    done = run("load", "--iot", "config.properties", cwd=tmp_path)
    assert done.code == 0, done.stderr
    seen = server.RequestHandlerClass.seen
    written = [authorization for path, authorization in seen if path == "/api/v2/write"]
    assert len(written) == 3 * 4
    assert {authorization for path, authorization in seen if path != "/health"} == {f"Token {TOKEN}"}
    assert TOKEN not in done.stdout + done.stderr
