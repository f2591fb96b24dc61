"""ClickHouse's current engine behind its HTTP interface: chDB, a wheel on PyPI, has the engine and no server.

SCALE_CHDB names a folder with it: pip install --no-deps --target DIR chdb-core==26.9.0. Every statement and every
block of rows goes to the engine as it came. Refuses what the engine lacks without a server: logins, and inserts that
wait for others (the settings of async inserts are taken, and each insert is by itself).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

VARIABLE = "SCALE_CHDB"
OF_HTTP = {"query", "database", "user", "default_format", "wait_end_of_query"}


@contextmanager
def engine(folder: Path) -> Iterator[str]:
    """Its address, while it runs."""
    if not Path(os.environ.get(VARIABLE, "/nowhere")).is_dir():
        pytest.skip(f"no engine: {VARIABLE}")
    words = [sys.executable, "-m", "tests.integration.clickhouse_engine"]
    with open(folder / "engine.log", "wb") as log:
        server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, start_new_session=True)
    try:
        assert server.stdout is not None
        port = server.stdout.readline().decode().strip()
        assert port, (folder / "engine.log").read_text()
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait(60)


def serve() -> None:
    """Says its port, and answers until it is ended."""
    sys.path.append(os.environ[VARIABLE])
    from chdb import session

    folder = tempfile.TemporaryDirectory(prefix="scale-engine-", dir="/var/tmp")
    open_session, one_at_a_time = session.Session(), threading.Lock()

    def asked(path: str, body: bytes) -> bytes:
        given = dict(parse_qsl(urlsplit(path).query))
        with one_at_a_time:
            for name, value in given.items():
                if name not in OF_HTTP:
                    open_session.query(f"SET {name} = {value}")
            open_session.query(f"USE {given.get('database', 'default')}")
            if "query" in given and body:
                return inserted(given["query"], body)
            sql = given.get("query") or body.decode()
            head, _, rows = sql.partition("\n")
            if head.startswith("INSERT"):
                return inserted(head, rows.encode())
            return bytes(open_session.query(sql, given.get("default_format", "TabSeparated")).bytes())

    def inserted(statement: str, rows: bytes) -> bytes:
        path = Path(folder.name, "rows")
        path.write_bytes(rows)
        into, _, form = statement.partition(" FORMAT ")
        open_session.query(f"{into} FROM INFILE '{path}' FORMAT {form}")
        return b""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            try:
                self.answer(200, b"Ok.\n" if self.path == "/ping" else asked(self.path, body))
            except Exception as error:  # whatever the engine raises is its refusal
                self.answer(500, str(error).encode())

        do_GET = do_POST

        def answer(self, status: int, text: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *words: object) -> None:
            return

    with folder, ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    serve()
