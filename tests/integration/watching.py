"""A real Prometheus, the queries of the dashboards' panels, and one real sweep that is seen in every way at once."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.integration import cli
from tests.integration.cli import Terminal
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


BOARDS = Path(__file__).resolve().parents[2] / "dashboards"
# Queries that have data under a condition that this sweep does not meet, by a piece of them; their panels have others.
OPERATIONS = "scale_trial_operation_"
OTHER_SWEEPS = {
    "scale_disk_ceiling_bytes_per_second": "disk sweeps",
    OPERATIONS: "mixes",
    "max(scale_achieved_requests_per_second": "loads that read",
    "max(scale_offered_requests_per_second": "loads that read",
    "max by (trial) (last_over_time(scale_trial_requests_per_second": "loads that read",
    "max(scale_search_": "searches for a capacity",
    "max by (condition) (scale_objective_seconds": "searches for a capacity",
}
OTHER_MACHINES = {
    "scale_pressure_seconds_total": "a kernel with PSI",
    "scale_throttled_seconds_total": "a quota in a control group",
    "scale_memory_used_bytes": "a control group or processes",
}


@dataclass(frozen=True)
class Watched:
    """A sweep that ended, and a Prometheus that has it. at: a moment in its last trial; begin, end: of the sweep."""

    prometheus: str
    run: str
    trial: str
    at: float
    begin: float
    end: float

    def get(self, path: str, **parameters: Any) -> Any:
        """The data of an answer of Prometheus' API."""
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.prometheus}/api/v1/{path}?{query}", timeout=60) as answer:
            return json.load(answer)["data"]

    def instant(self, expr: str, at: float, values: Mapping[str, str]) -> list[dict[str, Any]]:
        """Series at one moment."""
        return self.get("query", query=self.filled(expr, values), time=at)["result"]

    def filled(self, expr: str, values: Mapping[str, str]) -> str:
        """With variables, as Grafana would."""
        values = {"__range": f"{math.ceil(self.end - self.begin)}s", **values}
        return re.sub(r"\$([a-z_]\w*)", lambda m: values[m[1]], expr)


def scale(room: Path, *words: str, cwd: Path, timeout_s: float = 180.0) -> dict[str, Any]:
    """The command's JSON."""
    done = cli.run(*words, "--json", cwd=cwd, timeout_s=timeout_s, SCALE_DASHBOARDS_DIR=str(room))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def up(room: Path) -> str:
    """Starts Prometheus, gives its address. Without Grafana, `scale` says so by its code."""
    words = ("dashboards", "up", "--runtime", "process", "--json")
    done = cli.run(*words, cwd=room.parent, timeout_s=180.0, SCALE_DASHBOARDS_DIR=str(room))
    services = json.loads(done.stdout)["services"]
    assert done.returncode == (0 if "grafana" in services else 3), done.stderr
    return str(services["prometheus"]["url"])


def watch(url: str, path: Path) -> Watched:
    """Finds the moments in Prometheus itself, as the page would."""
    trials = [json.loads(p.read_text()) for p in path.glob("trials/*/trial.json")]
    begin = min(datetime.datetime.fromisoformat(t["started_utc"]).timestamp() for t in trials)
    end = max(datetime.datetime.fromisoformat(t["started_utc"]).timestamp() + t["wall_s"] for t in trials) + 2
    seen = Watched(prometheus=url, run=path.name, trial="", at=0, begin=begin - 2, end=end)
    measured = f'max by (trial) (scale_trial_phase{{run="{path.name}",phase="measure"}}) == 1'
    series = seen.get("query_range", query=measured, start=seen.begin, end=seen.end, step=1)["result"]
    last = max(series, key=lambda one: float(one["values"][-1][0]))
    return replace(seen, trial=last["metric"]["trial"], at=float(last["values"][-1][0]))


def targets(board: str) -> list[tuple[str, dict[str, Any]]]:
    """Every query of every panel, by the panel's title."""
    panels = json.loads((BOARDS / f"{board}.json").read_text())["panels"]
    return [(panel["title"], target) for panel in panels for target in panel.get("targets", ())]


def shown(seen: Watched, board: str, title: str, ref: str, **values: str) -> list[tuple[dict[str, str], float]]:
    """Labels and value of each series of one query at the end of the sweep."""
    (expr,) = (t["expr"] for name, t in targets(board) if name == title and t["refId"] == ref)
    series = seen.instant(expr, seen.end, values_of(seen, **values))
    return [(one["metric"], float(one["value"][1])) for one in series]


def check(seen: Watched, board: str, values: Mapping[str, str], at: float) -> None:
    """Each query has data of the shape that its panel needs, in one of the last seconds up to the moment: not every second
    has requests enough for a percentile. Each panel has some."""
    filled: dict[str, int] = {}
    for title, target in targets(board):
        answers = (seen.instant(target["expr"], at - back, values) for back in range(4))
        series = next((one for one in answers if one), [])
        filled[title] = filled.get(title, 0) + len(series)
        where = f"{board}, {title}, {target['refId']}: {seen.filled(target['expr'], values)}"
        if not series:
            assert excused(seen, target["expr"]), f"no data: {where}"
            filled[title] += (
                OPERATIONS in target["expr"]
            )  # a panel of its own, which a load of one operation leaves empty
        for one in series:
            assert math.isfinite(float(one["value"][1])), where
            assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= set(one["metric"]), where
        names = [json.dumps(one["metric"], sort_keys=True) for one in series]
        assert len(names) == len(set(names)) <= 60, where
    assert all(filled.values()), f"panels without data: {[title for title, n in filled.items() if not n]}"


def excused(seen: Watched, expr: str) -> bool:
    """Whether the query is of another kind of sweep, of rejected trials, or of a machine that can measure more."""
    if " unless on (trial) " in expr or any(name in expr for name in OTHER_SWEEPS):
        return True
    return any(name in expr and not seen.get("series", **{"match[]": name}) for name in OTHER_MACHINES)


def values_of(seen: Watched, **more: str) -> dict[str, str]:
    return {
        "run": seen.run,
        "sweep": ".*",
        "trial": seen.trial,
        "variant": "",
        "target": ".*",
        "other": seen.run,
        **more,
    }


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
