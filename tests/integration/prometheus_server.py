"""A real Prometheus for tests (Debian: apt install prometheus), on loopback, with its data in a directory of the test.

SCALE_REQUIRE_PROMETHEUS=1 makes a missing one a failure instead of a skip.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: scale
    static_configs: [{{targets: {targets}}}]
"""


def required(program: str) -> str:
    """The program's path; skips or fails where it is missing."""
    found = shutil.which(program)
    if found is None:
        if os.environ.get("SCALE_REQUIRE_PROMETHEUS") == "1":
            pytest.fail(f"SCALE_REQUIRE_PROMETHEUS=1, and there is no {program} (apt install prometheus)")
        pytest.skip(f"no {program} (apt install prometheus)")
    return found


def installed(program: str) -> bool:
    """Whether it is there; True where a missing one is to fail."""
    return shutil.which(program) is not None or os.environ.get("SCALE_REQUIRE_PROMETHEUS") == "1"


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
        with urllib.request.urlopen(f"{self.url}/api/v1/query?{urllib.parse.urlencode(fields)}", timeout=10) as reply:
            return json.load(reply)["data"]["result"]

    def values(self, expression: str, label: str, at: float | None = None) -> dict[str, float]:
        """The result by one label."""
        return {r["metric"].get(label, ""): float(r["value"][1]) for r in self.query(expression, at)}


@contextlib.contextmanager
def prometheus(folder: Path, *targets: str, data: Path | None = None) -> Iterator[Prometheus]:
    """Scrapes the targets (host:port) each second, until the end. data: blocks that are there already."""
    program, port = required("prometheus"), free_port()
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
        process.wait(timeout=30)


def _wait_ready(found: Prometheus, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-2000:]
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{found.url}/-/ready", timeout=2).close()
            return
        time.sleep(0.1)
    raise AssertionError("Prometheus did not become ready: " + log.read_text()[-2000:])


def blocks_of(openmetrics: Path, data: Path) -> None:
    """promtool makes blocks of the file."""
    words = [required("promtool"), "tsdb", "create-blocks-from", "openmetrics", str(openmetrics), str(data)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr + done.stdout


def checked(page: bytes) -> str:
    """What promtool says against a page of metrics; "" when nothing."""
    done = subprocess.run([required("promtool"), "check", "metrics"], input=page, capture_output=True, timeout=30)
    return (done.stdout + done.stderr).decode() + ("" if done.returncode == 0 else f" (exit code {done.returncode})")
