"""A real sweep as it is seen: in Prometheus, live and as a stored run, in its terminal, and by `scale watch`."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scale_sweep.watch.exporter.values import PHASES
from tests.integration import watching
from tests.integration.cli import run

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def room(dashboards: Path) -> Path:
    return dashboards


@pytest.fixture(scope="module")
def results(observed: watching.Observed) -> Path:
    return observed.folder / "r"


@pytest.fixture(scope="module")
def watched(observed: watching.Observed, room: Path) -> watching.Watched:
    return watching.watch(watching.up(room), observed.path)


@pytest.mark.parametrize("board", ["live", "trial"])
def test_every_query_of_a_running_sweep_has_data(watched: watching.Watched, board: str) -> None:
    watching.check(watched, board, watching.values_of(watched), watched.at)


@pytest.mark.parametrize("board", ["live", "curve", "trial"])
def test_variables_offer_the_run_and_its_trials(watched: watching.Watched, board: str) -> None:
    variables = json.loads((watching.BOARDS / f"{board}.json").read_text())["templating"]["list"]
    offered = {v["name"]: offers(watched, v) for v in variables}
    assert offered["run"] == [watched.run]
    assert offered["sweep"] == ["cpu"]
    if board == "trial":
        assert offered["trial"][0] == watched.trial, "the trial that began last comes first"
        assert len(offered["trial"]) == 3
    if board == "curve":
        assert offered["unit"] == ["rows"]
        assert offered["other"] == ["none", watched.run]
        assert offered["axis"] == ["cores"] and offered["variant"] == []


def offers(seen: watching.Watched, variable: dict[str, Any]) -> list[str]:
    """What Grafana would offer: values of a label, or what the pattern finds in the series as text."""
    query = variable["definition"]
    if match := re.fullmatch(r"label_values\((.*), (\w+)\)", query):
        selector = seen.filled(match[1], watching.values_of(seen))
        return list(seen.get(f"label/{match[2]}/values", **{"match[]": selector, "start": seen.begin, "end": seen.end}))
    inner = query.removeprefix("query_result(").removesuffix(")")
    texts = [
        json.dumps(one["metric"]).replace('": "', '="')
        for one in seen.instant(inner, seen.end, watching.values_of(seen))
    ]
    pattern = variable["regex"].strip("/").replace('run="', 'run="')
    return [found[1] for text in texts if (found := re.search(pattern, text))]


@pytest.mark.parametrize("board", ["live", "trial"])
def test_annotations_lie_at_the_boundaries_of_trials(watched: watching.Watched, board: str) -> None:
    for one in json.loads((watching.BOARDS / f"{board}.json").read_text())["annotations"]["list"]:
        series = watched.instant(one["expr"], watched.at, watching.values_of(watched))
        assert series, one["name"]
        if one.get("useValueForTime"):
            begins = [float(s["value"][1]) / 1000 for s in series]
            assert all(watched.begin - 1 <= t <= watched.end for t in begins) and len(set(begins)) == 3


def test_a_stored_run_gives_the_same_answers(watched: watching.Watched, room: Path, results: Path) -> None:
    before = {board: answers(watched, board, watched.at) for board in ("live", "trial")}
    ended = answers(watched, "live", watched.end)["Trials that ended", "B"]
    watching.scale(room, "dashboards", "down", "--purge", cwd=results.parent)
    assert not room.exists()
    url = watching.up(room)
    said = watching.scale(room, "dashboards", "load", watched.run, "--results", str(results), cwd=results.parent)
    assert said["run"] == watched.run and said["loaded"] is True
    again = watching.scale(room, "dashboards", "load", watched.run, "--results", str(results), cwd=results.parent)
    assert again["loaded"] is False
    loaded = replace(watched, prometheus=url)
    assert answers(loaded, "live", watched.end)["Trials that ended", "B"] == pytest.approx(ended)
    for board, expected in before.items():
        watching.check(loaded, board, watching.values_of(loaded), watched.at)
        assert {k for k, v in answers(loaded, board, watched.at).items() if v} >= {k for k, v in expected.items() if v}


def answers(seen: watching.Watched, board: str, at: float) -> dict[tuple[str, str], dict[str, float]]:
    """Values by labels, for each query."""
    found = {}
    for title, target in watching.targets(board):
        series = seen.instant(target["expr"], at, watching.values_of(seen))
        found[title, target["refId"]] = {json.dumps(s["metric"], sort_keys=True): float(s["value"][1]) for s in series}
    return found


@pytest.fixture(scope="module")
def seen(observed):
    """The run's folder, the Prometheus that read it, and the run's document."""
    with watching.prometheus(observed.folder, data=observed.tsdb) as server:
        yield observed.folder, server, observed.document()


@pytest.fixture(scope="module")
def past(seen, tmp_path_factory):
    """The same run in a Prometheus of its own, from the exported file."""
    folder = tmp_path_factory.mktemp("past")
    done = run("export", "last", "--results", "r", "--openmetrics", str(folder / "run.om"), cwd=seen[0])
    assert done.returncode == 0, done.stderr
    assert (folder / "run.om").read_text().endswith("# EOF\n")
    watching.blocks_of(folder / "run.om", folder / "tsdb")
    with watching.prometheus(folder) as server:
        yield server


def end_of(server, trial: str) -> float:
    return server.values(f'last_over_time(scale_trial_end_time_seconds{{trial="{trial}"}}[1h])', "trial")[trial]


def test_prometheus_knows_the_curve_when_the_sweep_has_ended(seen):
    _, server, document = seen
    rates = server.values("last_over_time(scale_trial_rows_per_second[1h])", "trial")
    assert rates == pytest.approx({t["trial"]["trial_id"]: t["measurement"]["rows_per_s"] for t in document["trials"]})
    verdicts = {
        r["metric"]["trial"]: r["metric"]["verdict"] for r in server.query("last_over_time(scale_trial_verdict[1h])")
    }
    assert verdicts == {t["trial"]["trial_id"]: t["verdict"]["kind"] for t in document["trials"]}
    points = {p["level"]: p["rate_mean"] for p in document["fit"]["points"]}
    curve = server.values("last_over_time(scale_curve_rows_per_second[1h])", "level")
    assert {float(level): rate for level, rate in curve.items()} == pytest.approx(points)


def test_rows_acknowledged_and_counted_are_the_databases(seen):
    _, server, document = seen
    for trial in document["trials"]:
        name, m = trial["trial"]["trial_id"], trial["measurement"]
        assert server.values(f'last_over_time(scale_trial_rows_counted{{trial="{name}"}}[1h])', "trial") == {
            name: m["rows_counted"]
        }
        during = server.values(f'max_over_time(scale_rows_acknowledged_total{{trial="{name}"}}[1h])', "trial")[name]
        assert 0.5 * m["rows_acked"] < during <= m["rows_acked"]


def test_no_counter_ever_falls(seen):
    server = seen[1]
    counters = {r["metric"]["__name__"] for r in server.query('last_over_time({__name__=~"scale_.+_total"}[1h])')}
    assert len(counters) >= 11
    for name in counters:
        assert [r for r in server.query(f"resets({name}[1h])") if float(r["value"][1])] == [], name


def test_the_running_trial_was_seen_in_its_phases_on_its_cores(seen):
    _, server, document = seen
    for trial in document["trials"]:
        name, given = trial["trial"]["trial_id"], trial["trial"]["resources"]["amounts"]["cores"]["value"]
        phases = server.values(f'max_over_time(scale_trial_phase{{trial="{name}"}}[1h])', "phase")
        assert phases["measure"] == 1  # a shorter phase may fall between two readings
        assert set(phases) == set(PHASES)
        used = server.values(f'max_over_time(scale_cpu_used_cores{{trial="{name}"}}[1h])', "side")
        assert 0.05 < used["server"] < 1.25 * given
        assert used["generator"] > 0
        limits = server.values(f'max_over_time(scale_cpu_given_cores{{trial="{name}"}}[1h])', "side")
        assert limits["server"] == given
        ceilings = server.values("max_over_time(scale_generator_ceiling_rows_per_second[1h])", "trial")
        assert ceilings[name] == pytest.approx(trial["measurement"]["ceiling_rows_per_s"])


def test_the_past_run_gives_the_answers_of_the_store(seen, past):
    folder, _, document = seen
    for trial in document["trials"]:
        name, m = trial["trial"]["trial_id"], trial["measurement"]
        end = end_of(past, name)
        stored = (folder / document["path"] / "trials" / name / "samples.jsonl").read_text()
        samples = [json.loads(line) for line in stored.splitlines()]
        used = samples[-1]["server"]["cpu_s_total"] - samples[0]["server"]["cpu_s_total"]
        written = samples[-1]["disks"]["d1"]["written_bytes_total"] - samples[0]["disks"]["d1"]["written_bytes_total"]
        cpu = past.values(f'scale_cpu_seconds_total{{trial="{name}"}}', "side", end)
        assert cpu["server"] == pytest.approx(used, abs=1e-6)
        assert past.values(f'scale_disk_written_bytes_total{{trial="{name}"}}', "disk", end) == {"d1": written}
        assert past.values(f'scale_rows_acknowledged_total{{trial="{name}"}}', "trial", end) == {name: m["rows_acked"]}
        assert past.values(f'scale_trial_rows_per_second{{trial="{name}"}}', "trial", end + 1)[name] == pytest.approx(
            m["rows_per_s"]
        )


def test_past_and_live_answer_alike(seen, past):
    """Every series that ends the run with a value has the same value in both; a trial's own within its last second."""
    _, live, document = seen
    kept = '{__name__=~"scale_(trial_(rows|durable|verdict|info|start|end|response|service|disk|cpu).*|curve_.*)"}'

    def series(server):
        rows = server.query(f"last_over_time({kept}[1h])")
        drop = {"job", "instance"}
        return {
            tuple(sorted((k, v) for k, v in r["metric"].items() if k not in drop)): float(r["value"][1]) for r in rows
        }

    now, then = series(live), series(past)
    assert now.keys() == then.keys()
    assert len(now) > 25
    for labels, value in now.items():
        assert math.isclose(value, then[labels], rel_tol=1e-9), labels
    for trial in document["trials"]:
        name = trial["trial"]["trial_id"]
        peak = f'max_over_time(scale_achieved_rows_per_second{{trial="{name}"}}[1h])'
        assert live.values(peak, "trial")[name] <= past.values(peak, "trial")[name] * 1.001


def test_a_taken_port_is_replaced_by_a_free_one_on_loopback_only(observed):
    assert observed.bound == {"0100007F"}
    assert f":{observed.taken}/" not in observed.url
    said = " ".join(observed.sweep.seen.split())
    assert f"metrics at {observed.url}" in said and f"(port {observed.taken} is taken)" in said
    assert b"scale_run_info" in observed.page and watching.checked(observed.page) == ""


def trials_stored(folder: Path) -> list[dict]:
    return [json.loads(p.read_text()) for p in sorted(folder.glob("r/*/trials/*/trial.json"))]


SEEN = "of 3 trials, about| left|rows/s|of 15 k offered|the load generator alone makes|response|p50 |CPU|server 0"
SEEN += "| of 0.3 cores|generator |disk d1|MB/s|% busy|measure"


@pytest.mark.parametrize("which", ["sweep", "watch"])
def test_the_view_shows_plan_rate_cpu_disk_time_left_and_verdicts(observed, which):
    text = getattr(observed, which).seen
    assert observed.codes in ((0, 0, 0), (0, 10, 0)), text[-2000:]  # 10: no trial is VALID
    assert [words for words in SEEN.split("|") if words not in text] == []
    for result in trials_stored(observed.folder):
        assert result["trial"]["trial_id"] in text
        assert result["verdict"]["kind"] in text


def test_ctrl_c_ends_only_the_watching_and_the_terminal_is_as_it_was(observed):
    assert "the sweep continues" in observed.other.seen
    assert len(trials_stored(observed.folder)) == 3
    assert json.loads((observed.path / "manifest.json").read_text())["status"] == "complete"
    for terminal in (observed.sweep, observed.watch, observed.other):
        assert terminal.raw.rfind("\x1b[?25h") > terminal.raw.rfind("\x1b[?25l") >= 0


def test_watching_a_run_that_has_ended_shows_it_and_an_interrupted_one_how_to_go_on(observed, tmp_path):
    done = run("watch", "last", "--results", "r", cwd=observed.folder)
    assert done.returncode == 0
    assert done.stderr.count("trial ") == 3
    assert "report: " in done.stdout
    assert "\x1b[" not in done.stdout + done.stderr
    shutil.copytree(observed.folder / "r", tmp_path / "r")
    manifest = next(tmp_path.glob("r/*/manifest.json"))
    manifest.write_text(manifest.read_text().replace('"complete"', '"interrupted"'))
    done = run("watch", "last", "--results", "r", cwd=tmp_path)
    assert done.returncode == 0 and "scale resume" in done.stderr
