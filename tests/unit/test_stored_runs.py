"""Runs that an earlier version stored still open, show, report, compare, export and verify, with the same figures."""

import csv
import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from runner.cli import app
from runner.errors import EXIT_DISAGREES, UsageError
from runner.store.follow import Follower
from runner.store.reader import read_run
from runner.verify import verify_run
from tests.unit.stored_runs import NAMES, unpacked

# What the version that made them said of each: verdicts by trial, in plan order.
V, S, O, A = "VALID", "RESOURCE_NOT_SATURATED", "OFFERED_NOT_MET", "ABORTED"
VERDICTS = {
    "cpu": {"cores-1-r1": S, "cores-0.5-r1": V, "cores-1-r2": V, "cores-0.5-r2": V, "cores-1-anchor": V},
    "disk": {"disks-2-r1": S, "disks-1-r1": V, "disks-2-bridge-1-r1": V, "disks-2-anchor": V},
    "two-processes": {"cores-1-r1": V},
    "aborted": {"cores-1-r1": A, "cores-1-r2": V},
    "killed": {"cores-1-r1": S},
    "varied": {"cores-1-500-r1": V, "cores-1-100-r1": O, "cores-1-500-anchor": V},
}
UNREPORTED = {"fit.json", "report.md", "report.html"}  # a killed run has none of them yet


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def path(name, tmp_path) -> Path:
    return unpacked(name, tmp_path)


def scale(*words: object):
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def stored_documents(path: Path) -> dict[str, dict]:
    """The plain trial.json of each trial."""
    found = {p.parent.name: json.loads(p.read_text()) for p in path.glob("trials/*/trial.json")}
    assert found
    return found


def test_every_kind_of_run_is_there():
    assert set(NAMES) == set(VERDICTS)


def test_it_opens_with_its_trials_figures_and_verdicts(name, path):
    run = read_run(path)
    documents = stored_documents(path)
    assert {r.trial.trial_id: str(r.verdict.kind) for r in run.results} == VERDICTS[name]
    for result in run.results:
        told = documents[result.trial.trial_id]
        for figure, value in told["measurement"].items():
            if figure != "disks":
                assert getattr(result.measurement, figure) == value
        assert set(result.measurement.disks) == set(told["measurement"]["disks"])
        assert list(result.verdict.reasons) == told["verdict"]["reasons"]
        assert dict(result.trial.knobs) == told["trial"]["knobs"]
        assert run.timeseries[result.trial.trial_id] or result.verdict.kind == A
    assert (run.fit is None) == (name in ("killed", "varied"))  # varied has a fit for each variant


def test_the_list_names_it(name, path):
    rows = json.loads(scale("list", "--results", path.parent, "--json").stdout)
    status = "running" if name == "killed" else "complete"
    assert [(row["run"], row["target"], row["status"]) for row in rows] == [(path.name, "postgres", status)]


def test_it_is_shown_with_its_figures(path):
    assert scale("show", path).exit_code == 0
    shown = json.loads(scale("show", path, "--json").stdout)
    rates = {t["trial"]["trial_id"]: t["measurement"]["rows_per_s"] for t in shown["trials"]}
    assert rates == {i: t["measurement"]["rows_per_s"] for i, t in stored_documents(path).items()}


def disagreeing(path: Path) -> set[str]:
    return {d.file for d in verify_run(path).disagreements}


def test_verify_says_what_the_version_that_made_it_said(name, path):
    unreported = UNREPORTED if name == "killed" else set()
    assert disagreeing(path) == unreported
    assert scale("verify", path).exit_code == (EXIT_DISAGREES if unreported else 0)


def test_a_changed_figure_is_found(path):
    measured = {i: t["measurement"]["rows_per_s"] for i, t in stored_documents(path).items()}
    trial_id = next(i for i, rate in measured.items() if rate)
    document = path / "trials" / trial_id / "trial.json"
    told = json.loads(document.read_text())
    told["measurement"]["rows_per_s"] *= 1.01
    document.write_text(json.dumps(told))
    assert f"trials/{trial_id}/trial.json" in disagreeing(path)


def test_it_is_reported_anew_and_agrees_then(path):
    before = read_run(path)
    assert scale("report", path).exit_code == 0
    after = read_run(path)
    assert after.results == before.results
    assert after.plan == before.plan
    assert disagreeing(path) == set()


def test_it_is_reported_with_another_question(path):
    assert scale("report", path, "--predict", "2", "--need", "90k").exit_code == 0
    assert read_run(path).plan.sweep.predict == (2.0,)
    assert read_run(path).manifest["sweep"]["need"] == [90000.0]
    assert disagreeing(path) == set()


def test_it_compares_with_itself(name, path):
    valid = {i for i, kind in VERDICTS[name].items() if kind == V and not i.endswith("anchor") and "bridge" not in i}
    if not valid:
        with pytest.raises(UsageError):
            scale("compare", path, path)
        return
    done = scale("compare", path, path, "--json")
    known = [p for p in json.loads(done.stdout)["points"] if p["ratio"] is not None]
    assert sum(p["trials_a"] for p in known) == len(valid)
    assert all(math.isclose(p["ratio"], 1.0) for p in known)


def test_its_points_are_exported_as_they_are_stored(path, tmp_path):
    files = {kind: tmp_path / f"points.{kind}" for kind in ("csv", "json", "parquet")}
    flags = [word for kind, file in files.items() for word in (f"--{kind}", file)]
    assert scale("export", path, *flags).exit_code == 0
    rows = {row["trial_id"]: row for row in json.loads(files["json"].read_text())}
    stored = {row["trial_id"]: row for row in csv.DictReader((path / "points.csv").open())}
    assert set(rows) == set(stored)
    for trial_id, row in stored.items():
        assert rows[trial_id]["verdict"] == row["verdict"]
        for figure in ("rows", "rows_per_s", "durable_rows_per_s", "server_cpu_cores", "response_ms_p50"):
            assert rows[trial_id][figure] == (float(row[figure]) if row[figure] else None)
    assert files["parquet"].read_bytes()[:4] == b"PAR1"
    with files["csv"].open() as file:
        assert len(list(csv.DictReader(file))) == len(stored)


def test_its_ticks_are_exported_with_their_times(path, tmp_path):
    ticks, metrics = tmp_path / "ticks.json", tmp_path / "metrics"
    assert scale("export", path, "--what", "timeseries", "--json", ticks, "--openmetrics", metrics).exit_code == 0
    assert {row["trial_id"] for row in json.loads(ticks.read_text())} == set(stored_documents(path))
    assert metrics.read_bytes().endswith(b"# EOF\n")


def test_it_can_be_followed(name, path):
    finished = [e.result.trial.trial_id for e in Follower(path).poll() if type(e).__name__ == "TrialFinished"]
    assert sorted(finished) == sorted(VERDICTS[name])


def test_its_anchor_bridge_and_variants_keep_their_roles(tmp_path):
    disk = read_run(unpacked("disk", tmp_path))
    assert {t.role for t in disk.plan.trials} == {"point", "anchor", "bridge"}
    assert [t.bridged_from for t in disk.plan.trials if t.role == "bridge"] == [1.0]
    varied = read_run(unpacked("varied", tmp_path))
    assert {t.variant["rows_per_request"] for t in varied.plan.trials} == {"100", "500"}


def test_two_load_processes_are_read_as_one_load(tmp_path):
    path = unpacked("two-processes", tmp_path)
    (log,) = path.glob("trials/*/loadgen.jsonl")
    assert [json.loads(line)["event"] for line in log.read_text().splitlines()].count("hello") == 2
    (result,) = read_run(path).results
    assert result.measurement.rows_acked == result.measurement.rows_counted
