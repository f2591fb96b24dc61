"""A real Prometheus for tests on loopback, with its data in a directory of the test."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.needs import need

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: scale
    static_configs: [{{targets: {targets}}}]
"""


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Prometheus:
    """Its API."""

    def __init__(self, url: str) -> None:
        self.url = url

    def query(self, expression: str, at: float | None = None) -> list[dict[str, Any]]:
        """An instant query's result."""
        fields = {"query": expression, **({"time": f"{at:.3f}"} if at is not None else {})}
        with urllib.request.urlopen(f"{self.url}/api/v1/query?{urllib.parse.urlencode(fields)}", timeout=60) as reply:
            return json.load(reply)["data"]["result"]

    def values(self, expression: str, label: str, at: float | None = None) -> dict[str, float]:
        """The result by one label."""
        return {r["metric"].get(label, ""): float(r["value"][1]) for r in self.query(expression, at)}


@contextlib.contextmanager
def prometheus(folder: Path, *targets: str, data: Path | None = None) -> Iterator[Prometheus]:
    """Scrapes the targets (host:port) each second, until the end. data: blocks that are there already."""
    program, port = need("prometheus"), free_port()
    config = folder / "prometheus.yml"
    config.write_text(CONFIG.format(targets=json.dumps(targets)))
    words = [
        program,
        f"--config.file={config}",
        f"--storage.tsdb.path={data or folder / 'tsdb'}",
        "--storage.tsdb.retention.time=100y",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    try:
        found = Prometheus(f"http://127.0.0.1:{port}")
        _wait_ready(found, process, folder / "prometheus.log")
        yield found
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait_ready(found: Prometheus, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-2000:]
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{found.url}/-/ready", timeout=10).close()
            return
        time.sleep(0.1)
    raise AssertionError("Prometheus did not become ready: " + log.read_text()[-2000:])


def blocks_of(openmetrics: Path, data: Path) -> None:
    """promtool makes blocks of the file."""
    words = [need("promtool"), "tsdb", "create-blocks-from", "openmetrics", str(openmetrics), str(data)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr + done.stdout


def checked(page: bytes) -> str:
    """What promtool says against a page of metrics; "" when nothing."""
    done = subprocess.run([need("promtool"), "check", "metrics"], input=page, capture_output=True, timeout=60)
    return (done.stdout + done.stderr).decode() + ("" if done.returncode == 0 else f" (exit code {done.returncode})")
