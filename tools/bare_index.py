"""pip's index of this machine, served again by plain HTTP on loopback: who uses it needs no certificate and no proxy.

It passes on the page of a project that pip asks for, and keeps a copy of each file that pip takes.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import ssl
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@contextmanager
def served_index(files: Path) -> Iterator[str]:
    """Its address, until the caller leaves. files: where copies stay, named by a hash of their address."""
    index = pip_setting("index-url") or "https://pypi.org/simple"
    trust = ssl.create_default_context(cafile=pip_setting("cert") or None)
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trust))
    addresses: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                content = self.found()
            except (OSError, LookupError, ValueError) as error:
                self.send_error(getattr(error, "code", 502), str(error)[:200])
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html" if isinstance(content, bytes) else "application/octet-stream")
            self.send_header(
                "Content-Length", str(len(content) if isinstance(content, bytes) else content.stat().st_size)
            )
            self.end_headers()
            if isinstance(content, bytes):
                self.wfile.write(content)
            else:
                with content.open("rb") as file:
                    shutil.copyfileobj(file, self.wfile)

        def found(self) -> bytes | Path:
            kind, key, *name = self.path.strip("/").split("/")
            if kind == "simple":
                page = f"{index.rstrip('/')}/{key}/"
                asked = urllib.request.Request(page, headers={"Accept": "text/html"})
                text = opener.open(asked, timeout=60).read().decode()
                return re.sub(r'href="([^"#]+)', lambda link: f'href="{own(page, link[1])}', text).encode()
            address = addresses[key] + (".metadata" if name[0].endswith(".metadata") else "")
            kept = files / hashlib.sha256(address.encode()).hexdigest()
            if not kept.exists():
                part = kept.with_suffix(f".{threading.get_ident()}")
                with opener.open(address, timeout=60) as answer, part.open("wb") as file:
                    shutil.copyfileobj(answer, file)
                part.rename(kept)
            return kept

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    def own(page: str, link: str) -> str:
        address = urllib.parse.urljoin(page, link.replace("&amp;", "&"))
        key = hashlib.sha256(address.encode()).hexdigest()
        addresses[key] = address
        return f"/files/{key}/{urllib.parse.urlsplit(address).path.rsplit('/', 1)[-1]}"

    files.mkdir(exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple/"
    finally:
        server.shutdown()


def pip_setting(name: str) -> str:
    """From pip.conf or the environment, where pip finds it; empty if there is none."""
    for kind in (":env:", "global"):
        found = subprocess.run(
            [sys.executable, "-I", "-m", "pip", "config", "get", f"{kind}.{name}"],
            capture_output=True,
            check=False,
            text=True,
        )
        if found.returncode == 0:
            return found.stdout.strip()
    return ""
