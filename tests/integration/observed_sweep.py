"""One real sweep of PostgreSQL, seen in every way at once: in its own terminal, in a second one by `scale watch`, by the
Prometheus of `scale dashboards up`, and by another Prometheus that reads the address which it said.

One sweep for all of that, because each costs half a minute. Its metrics' port is taken when it starts.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration import cli
from tests.integration.prometheus_server import prometheus
from tests.integration.pseudo_terminal import Terminal
from tests.needs import need

# Open loop, so that there is an offered rate, and small requests, so that there are enough for percentiles.
WORDS = (
    *"sweep cpu --target postgres --runtime process --cores 0.3,0.4,0.5 --duration 4s --warmup 1s --window-max 0".split(),
    *"--replicates 1 --drift-check off --rate 15000 --rows-per-request 10 --tables 20 --results r".split(),
)
MEASURED = re.compile(rb'scale_trial_phase\{[^}]*phase="measure"[^}]*\} 1')


@dataclass(frozen=True, kw_only=True)
class Observed:
    """folder: where it ran, its results in `r`. taken: the port that it did not get.

    page: its metrics under load; bound: addresses in which it listened on its port, as the kernel writes them.
    other: a second watching that Ctrl-C ended. tsdb: what the other Prometheus stored.
    """

    folder: Path
    taken: int
    url: str
    page: bytes
    bound: set[str]
    sweep: Terminal
    watch: Terminal
    other: Terminal
    codes: tuple[int, int, int]

    @property
    def tsdb(self) -> Path:
        return self.folder / "tsdb"

    @property
    def path(self) -> Path:
        """The run's directory."""
        (found,) = (p.parent for p in self.folder.glob("r/*/manifest.json"))
        return found

    def document(self) -> dict[str, Any]:
        """As `scale show --json` has it."""
        shown = cli.run("show", "last", "--results", "r", "--json", cwd=self.folder)
        assert shown.returncode == 0, shown.stderr
        return dict(json.loads(shown.stdout))


@contextlib.contextmanager
def dashboards_room() -> Iterator[Path]:
    """Where nobody may go too; emptied by the command itself."""
    parent = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="scale-test-dashboards-"))
    parent.chmod(0o755)
    yield parent / "room"
    cli.run("dashboards", "down", "--purge", cwd=parent, SCALE_DASHBOARDS_DIR=str(parent / "room"))
    left = list(parent.iterdir())
    shutil.rmtree(parent)
    assert not left


def observe(folder: Path, room: Path, data_dir: Path) -> Observed:
    """Runs it to its end. `up` must have been said in the room."""
    need("prometheus")
    with socket.create_server(("127.0.0.1", 0)) as holder:
        taken = holder.getsockname()[1]
        more = ("--metrics-port", str(taken), "--data-dir", str(data_dir))
        sweep = Terminal(*WORDS, *more, cwd=folder, environment={"SCALE_DASHBOARDS_DIR": str(room)})
        try:
            sweep.until(lambda: _manifest(folder).get("metrics_url"))
            url = _manifest(folder)["metrics_url"]
            with prometheus(folder, url.split("/")[2]):
                watch, other = (Terminal("watch", "last", "--results", "r", cwd=folder) for _ in range(2))
                page = _page_under_load(url, sweep)
                bound = _bound(int(url.split(":")[2].split("/", maxsplit=1)[0]))
                other.until(lambda: "trials, about" in other.seen)
                other.process.send_signal(signal.SIGINT)
                codes = other.end(), sweep.end(), watch.end()
        except BaseException:
            os.killpg(sweep.process.pid, signal.SIGTERM)
            raise
    terminals = {"sweep": sweep, "watch": watch, "other": other}
    return Observed(folder=folder, taken=taken, url=url, page=page, bound=bound, codes=codes, **terminals)


def _manifest(folder: Path) -> dict[str, Any]:
    found = list(folder.glob("r/*/manifest.json"))
    return dict(json.loads(found[0].read_text())) if found else {}


def _page_under_load(url: str, sweep: Terminal) -> bytes:
    """A page that was read while a trial was measured."""
    while sweep.process.poll() is None:
        sweep.read()
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=30) as reply:
            page = reply.read()
            if MEASURED.search(page) and b"scale_disk_write_bytes_per_second{" in page:
                return page
        time.sleep(0.3)
    pytest.fail(f"no trial was ever under load: {sweep.seen[-2000:]}")


def _bound(port: int) -> set[str]:
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return {f[1].split(":")[0] for f in rows if int(f[1].split(":")[1], 16) == port and f[3] == "0A"}
