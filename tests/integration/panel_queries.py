"""The queries of the dashboards' panels, asked of Prometheus as a page would ask them, and what their answers must hold."""

from __future__ import annotations

import datetime
import json
import math
import re
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.integration import cli

BOARDS = Path(__file__).resolve().parents[2] / "dashboards"
# Queries that have data under a condition that this sweep does not meet, by a piece of them; their panels have others.
OTHER_SWEEPS = {
    "scale_disk_ceiling_bytes_per_second": "disk sweeps",
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
    """Starts Prometheus, gives its address."""
    found = scale(room, "dashboards", "up", "--runtime", "process", cwd=room.parent)
    return str(found["services"]["prometheus"]["url"])


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
    return [(panel["title"], target) for panel in panels for target in panel["targets"]]


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
