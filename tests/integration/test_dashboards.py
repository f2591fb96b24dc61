"""The dashboards' queries against a real Prometheus that watched a real sweep, and again after the run was loaded.

SCALE_REQUIRE_PROMETHEUS=1 makes a missing Prometheus a failure. Grafana is not needed here.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.integration import cli

BOARDS = Path(__file__).resolve().parents[2] / "dashboards"
# Queries that have data under a condition that this sweep does not meet, by a piece of them; their panels have others.
OTHER_SWEEPS = {"scale_disk_ceiling_bytes_per_second": "disk sweeps"}
OTHER_MACHINES = {"scale_pressure_seconds_total": "a kernel with PSI", "scale_throttled_seconds_total": "a quota in a "
                  "control group", "scale_memory_used_bytes": "a control group or processes"}  # fmt: skip


@dataclass(frozen=True)
class Watched:
    """A sweep that ended, and a Prometheus that has it. at: a moment in its last trial; begin, end: of the sweep."""

    prometheus: str
    run: str
    trial: str
    at: float
    begin: float
    end: float
    variables: Mapping[str, str] = field(default_factory=dict)

    def get(self, path: str, **parameters: Any) -> Any:
        """The data of an answer of Prometheus' API."""
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.prometheus}/api/v1/{path}?{query}", timeout=30) as answer:
            return json.load(answer)["data"]

    def instant(self, expr: str, at: float, values: Mapping[str, str]) -> list[dict[str, Any]]:
        """Series at one moment."""
        return self.get("query", query=self.filled(expr, values), time=at)["result"]

    def filled(self, expr: str, values: Mapping[str, str]) -> str:
        """With variables, as Grafana would."""
        values = {"__range": f"{math.ceil(self.end - self.begin)}s", **values}
        filled = re.sub(r"\$(\w+)", lambda m: values[m[1]], expr)
        assert "$" not in filled
        return filled


def scale(room: Path, *words: str, cwd: Path, timeout_s: float = 180.0) -> dict[str, Any]:
    """The command's JSON."""
    done = cli.run(*words, "--json", cwd=cwd, timeout_s=timeout_s, SCALE_DASHBOARDS_DIR=str(room))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    """Where nobody may go too; emptied by the command itself."""
    if shutil.which("prometheus") is None:
        if os.environ.get("SCALE_REQUIRE_PROMETHEUS") == "1":
            pytest.fail("SCALE_REQUIRE_PROMETHEUS=1, and no Prometheus is installed (apt install prometheus)")
        pytest.skip("no Prometheus installed (apt install prometheus)")
    parent = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="scale-test-dashboards-"))
    parent.chmod(0o755)
    yield parent / "room"
    cli.run("dashboards", "down", "--purge", cwd=parent, SCALE_DASHBOARDS_DIR=str(parent / "room"))
    left = list(parent.iterdir())
    shutil.rmtree(parent)
    assert not left


@pytest.fixture(scope="module")
def watched(room: Path, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """A short sweep of PostgreSQL: open loop, so that the offered rate is there, and many requests for percentiles."""
    cwd = tmp_path_factory.mktemp("sweep")
    up = scale(room, "dashboards", "up", "--runtime", "process", cwd=cwd)
    found = scale(room, "sweep", "cpu", "--target", "postgres", "--runtime", "process", "--cores", "0.3,0.4,0.5",
                  "--duration", "5s", "--warmup", "1s", "--replicates", "1", "--no-anchor", "--rate", "20k",
                  "--rows-per-request", "100", cwd=cwd)  # fmt: skip
    return watch(up["services"]["prometheus"]["url"], Path(found["path"]) if "path" in found else newest(cwd))


def newest(cwd: Path) -> Path:
    return sorted((cwd / "results").glob("*/manifest.json"))[-1].parent


def watch(prometheus: str, path: Path) -> Watched:
    trials = [json.loads(p.read_text()) for p in path.glob("trials/*/trial.json")]
    print(trials[0].keys(), path)
    raise AssertionError
