"""The dashboards' queries against a real Prometheus that watched a real sweep, and again after the run was loaded.

Grafana is not needed here.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.integration.observed_sweep import Observed
from tests.integration.panel_queries import BOARDS, Watched, check, scale, targets, up, values_of, watch

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def room(dashboards: Path) -> Path:
    return dashboards


@pytest.fixture(scope="module")
def results(observed: Observed) -> Path:
    return observed.folder / "r"


@pytest.fixture(scope="module")
def watched(observed: Observed, room: Path) -> Watched:
    return watch(up(room), observed.path)


@pytest.mark.parametrize("board", ["live", "trial"])
def test_every_query_of_a_running_sweep_has_data(watched: Watched, board: str) -> None:
    check(watched, board, values_of(watched), watched.at)


def test_the_page_of_operations_shows_also_a_load_that_only_writes(watched: Watched) -> None:
    """Its table and its median over n are of loads that read."""
    for title, target in targets("operations"):
        if "scale_trial_operation" not in target["expr"]:
            seen = [watched.instant(target["expr"], watched.at - back, values_of(watched)) for back in range(4)]
            assert any(seen), title


@pytest.mark.parametrize("board", ["live", "curve", "targets", "trial", "operations"])
def test_variables_offer_the_run_and_its_trials(watched: Watched, board: str) -> None:
    variables = json.loads((BOARDS / f"{board}.json").read_text())["templating"]["list"]
    offered = {v["name"]: offers(watched, v) for v in variables}
    assert offered["run"] == [watched.run]
    assert offered["sweep"] == ["cpu"]
    if board == "trial":
        assert offered["trial"][0] == watched.trial, "the trial that began last comes first"
        assert len(offered["trial"]) == 3
    if board in ("curve", "targets"):
        assert offered["unit"] == ["rows"]
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
