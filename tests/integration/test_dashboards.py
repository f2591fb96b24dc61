"""The dashboards' queries against a real Prometheus that watched a real sweep, and again after the run was loaded.

SCALE_REQUIRE_PROMETHEUS=1 makes a missing Prometheus a failure. Grafana is not needed here.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import re
import shutil
import signal
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
from tests.unit.raw_run import raw_run

pytestmark = pytest.mark.alone
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
        return re.sub(r"\$([a-z_]\w*)", lambda m: values[m[1]], expr)


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
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sweep") / "results"


@pytest.fixture(scope="module")
def watched(room: Path, results: Path) -> Watched:
    """A short sweep of PostgreSQL: open loop, so that there is an offered rate, and many requests for percentiles."""
    url = up(room)
    done = cli.run("sweep", "cpu", "--target", "postgres", "--runtime", "process", "--cores", "0.3,0.4,0.5",
                   "--duration", "4s", "--warmup", "1s", "--replicates", "1", "--anchors", "off", "--rate", "15000",
                   "--rows-per-request", "10", "--results", str(results), cwd=results.parent, timeout_s=180,
                   SCALE_DASHBOARDS_DIR=str(room))  # fmt: skip
    assert done.returncode == 0, done.stderr
    (path,) = (p.parent for p in results.glob("*/manifest.json"))
    return watch(url, path)


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


def check(seen: Watched, board: str, values: Mapping[str, str], at: float) -> None:
    """Each query has data of the shape that its panel needs; each panel has some."""
    filled: dict[str, int] = {}
    for title, target in targets(board):
        series = seen.instant(target["expr"], at, values)
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
    """Whether the query is of another kind of sweep, or of a machine that can measure more than this one."""
    if any(name in expr for name in OTHER_SWEEPS):
        return True
    return any(name in expr and not seen.get("series", **{"match[]": name}) for name in OTHER_MACHINES)


def values_of(seen: Watched, **more: str) -> dict[str, str]:
    return {"run": seen.run, "sweep": ".*", "trial": seen.trial, "variant": "", "other": seen.run, **more}


@pytest.mark.parametrize("board", ["live", "trial"])
def test_every_query_of_a_running_sweep_has_data(watched: Watched, board: str) -> None:
    check(watched, board, values_of(watched), watched.at)


@pytest.mark.parametrize("board", ["live", "curve", "trial"])
def test_variables_offer_the_run_and_its_trials(watched: Watched, board: str) -> None:
    variables = json.loads((BOARDS / f"{board}.json").read_text())["templating"]["list"]
    offered = {v["name"]: offers(watched, v) for v in variables}
    assert offered["run"] == [watched.run]
    assert offered["sweep"] == ["cpu"]
    if board == "trial":
        assert offered["trial"][0] == watched.trial, "the trial that began last comes first"
        assert len(offered["trial"]) == 3
    if board == "curve":
        assert offered["other"] == ["none", watched.run]
        assert offered["axis"] == ["cores"] and offered["variant"] == []


def offers(seen: Watched, variable: dict[str, Any]) -> list[str]:
    """What Grafana would offer: values of a label, or what the pattern finds in the series as text."""
    query = variable["definition"]
    if match := re.fullmatch(r"label_values\((.*), (\w+)\)", query):
        selector = seen.filled(match[1], values_of(seen))
        return list(seen.get(f"label/{match[2]}/values", **{"match[]": selector, "start": seen.begin, "end": seen.end}))
    inner = query.removeprefix("query_result(").removesuffix(")")
    texts = [json.dumps(one["metric"]).replace('": "', '="') for one in seen.instant(inner, seen.end, values_of(seen))]
    pattern = variable["regex"].strip("/").replace('run="', 'run="')
    return [found[1] for text in texts if (found := re.search(pattern, text))]


@pytest.mark.parametrize("board", ["live", "trial"])
def test_annotations_lie_at_the_boundaries_of_trials(watched: Watched, board: str) -> None:
    for one in json.loads((BOARDS / f"{board}.json").read_text())["annotations"]["list"]:
        series = watched.instant(one["expr"], watched.at, values_of(watched))
        assert series, one["name"]
        if one.get("useValueForTime"):
            begins = [float(s["value"][1]) / 1000 for s in series]
            assert all(watched.begin - 1 <= t <= watched.end for t in begins) and len(set(begins)) == 3


def test_the_figures_are_the_stored_ones(watched: Watched, results: Path) -> None:
    stored = [json.loads(path.read_text()) for path in results.glob("*/trials/*/trial.json")]
    rows = {one["trial"]["trial_id"]: one for one in stored}
    (table,) = (t for title, t in targets("live") if title == "Trials that ended" and t["refId"] == "B")
    series = watched.instant(table["expr"], watched.end, values_of(watched))
    shown = {one["metric"]["trial"]: float(one["value"][1]) for one in series}
    assert shown == {name: pytest.approx(row["measurement"]["rows_per_s"]) for name, row in rows.items()}


def test_a_stored_run_gives_the_same_answers(watched: Watched, room: Path, results: Path) -> None:
    before = {board: answers(watched, board, watched.at) for board in ("live", "trial")}
    ended = answers(watched, "live", watched.end)["Trials that ended", "B"]
    scale(room, "dashboards", "down", "--purge", cwd=results.parent)
    assert not room.exists()
    url = up(room)
    said = scale(room, "dashboards", "load", watched.run, "--results", str(results), cwd=results.parent)
    assert said["run"] == watched.run and said["loaded"] is True
    again = scale(room, "dashboards", "load", watched.run, "--results", str(results), cwd=results.parent)
    assert again["loaded"] is False
    loaded = replace(watched, prometheus=url)
    assert answers(loaded, "live", watched.end)["Trials that ended", "B"] == pytest.approx(ended)
    for board, expected in before.items():
        check(loaded, board, values_of(loaded), watched.at)
        assert {k for k, v in answers(loaded, board, watched.at).items() if v} >= {k for k, v in expected.items() if v}


def answers(seen: Watched, board: str, at: float) -> dict[tuple[str, str], dict[str, float]]:
    """Values by labels, for each query."""
    found = {}
    for title, target in targets(board):
        series = seen.instant(target["expr"], at, values_of(seen))
        found[title, target["refId"]] = {json.dumps(s["metric"], sort_keys=True): float(s["value"][1]) for s in series}
    return found


def test_the_curve_of_stored_runs_one_over_the_other(watched: Watched, room: Path, tmp_path: Path) -> None:
    url = up(room)
    one, other = "20260102T030405Z-synthetic-aaaaaa", "20260102T030405Z-synthetic-bbbbbb"
    alphas = {one: 0.05, other: 0.2}
    runs = {name: raw_run(tmp_path, name, levels=4, replicates=2, alpha=alpha) for name, alpha in alphas.items()}
    for name in runs:
        said = scale(room, "dashboards", "load", name, "--results", str(tmp_path), cwd=tmp_path)
    seen = Watched(prometheus=url, run=one, trial="", at=0, begin=said["from_s"], end=said["to_s"])
    values = values_of(seen, other=other)
    check(seen, "curve", values, seen.end)
    shown = {ref: {s["metric"]["level"]: float(s["value"][1]) for s in seen.instant(t["expr"], seen.end, values)}
             for title, t in targets("curve") if title == "Speedup" for ref in t["refId"]}  # fmt: skip
    for ref, name in (("A", one), ("D", other)):
        assert runs[name].fit is not None
        stored = {f"{p.level:g}": p.speedup for p in runs[name].fit.points}
        assert shown[ref] == pytest.approx(stored)
    assert shown["C"] == {"1": 1.0, "2": 2.0, "3": 3.0, "4": 4.0}
    assert shown["B"]["4"] == pytest.approx(shown["A"]["4"], rel=0.1)


def test_configurations_pass_promtool(room: Path) -> None:
    command = ["promtool", "check", "config", str(BOARDS / "prometheus.yml")]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_what_runs_is_said_and_stopped_and_the_data_stay(room: Path, tmp_path: Path) -> None:
    up(room)
    status = scale(room, "dashboards", "status", cwd=tmp_path)
    pid = status["services"]["prometheus"]["pid"]
    assert Path(f"/proc/{pid}").exists()
    if os.geteuid() == 0:
        assert Path(f"/proc/{pid}").stat().st_uid != 0, "it has no need of root's rights"
    assert "admin-password" in status["admin_password_file"]
    assert (room / "admin-password").stat().st_mode & 0o077 == 0
    stopped = scale(room, "dashboards", "down", cwd=tmp_path)
    assert "prometheus" in stopped["stopped"]
    assert not Path(f"/proc/{pid}").exists()
    assert any((room / "prometheus").iterdir())
    assert scale(room, "dashboards", "status", cwd=tmp_path)["services"] == {}


def test_a_load_without_prometheus_is_refused(room: Path, results: Path, watched: Watched) -> None:
    cli.run("dashboards", "down", cwd=results.parent, SCALE_DASHBOARDS_DIR=str(room))
    done = cli.run("dashboards", "load", watched.run, "--results", str(results), cwd=results.parent,
                   SCALE_DASHBOARDS_DIR=str(room))  # fmt: skip
    assert done.returncode == 2 and "scale dashboards up" in done.stderr


def test_clean_finds_what_a_power_cut_left(room: Path, tmp_path: Path) -> None:
    up(room)
    pid = scale(room, "dashboards", "status", cwd=tmp_path)["services"]["prometheus"]["pid"]
    os.kill(pid, signal.SIGKILL)
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.05)
    done = cli.run("clean", cwd=tmp_path, SCALE_DASHBOARDS_DIR=str(room))
    assert "prometheus, which does not run" in done.stderr
    assert not (room / "state.json").exists() and any((room / "prometheus").iterdir())
