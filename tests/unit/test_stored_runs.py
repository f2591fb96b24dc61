"""Stored runs open, show, report, compare, export and verify with the figures in their files; other schemas are refused."""

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scale_sweep.base.errors import EXIT_DISAGREES, StoreError
from scale_sweep.cli import app, compose
from scale_sweep.model.events import PlanGrew, TrialFinished
from scale_sweep.results.identity import identity
from scale_sweep.results.store.codec import SCHEMA, to_json
from scale_sweep.results.store.reader import Follower, read_manifest, read_run
from scale_sweep.results.store.stored import Folder
from scale_sweep.verify.run import verify_run
from tests.needs import module
from tests.unit.stored import reopened
from tests.unit.stored_runs import NAMES, unpacked

UNREPORTED = {"fit.json", "report.md", "report.html"}  # a killed run has none of them yet


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def path(name, tmp_path) -> Path:
    return unpacked(name, tmp_path)


def test_trials_that_join_the_plan_are_followed_and_their_roles_and_variants_read_back(tmp_path):
    path = unpacked("ablation", tmp_path)
    plan = read_run(path).plan
    assert {t.role for t in plan.trials} == {"point", "drift_check", "ablation"}
    assert [t.knobs_of_level for t in plan.trials if t.role == "ablation"] == [1.0]
    (path / "plan.json").write_text(to_json(replace(plan, trials=plan.trials[:1])))
    follower = Follower(Folder(path))
    assert not [event for event in follower.poll() if isinstance(event, PlanGrew)]
    (path / "plan.json").write_text(to_json(plan))
    events = list(follower.poll())
    assert events[0] == PlanGrew(plan=plan)
    assert len([e for e in events if isinstance(e, TrialFinished)]) == len(plan.trials) - 1
    varied = read_run(unpacked("varied", tmp_path))
    assert {t.variant["rows_per_request"] for t in varied.plan.trials} == {"100", "500"}


def test_it_is_listed_shown_followed_and_compared_with_itself(name, path):
    rows = json.loads(scale("list", "--results", path.parent, "--json").stdout)
    status = "interrupted" if name == "killed" else "complete"
    assert [(row["run"], row["target"], row["status"]) for row in rows] == [(path.name, "postgres", status)]
    assert scale("show", path).exit_code == 0
    shown = json.loads(scale("show", path, "--json").stdout)
    rates = {t["trial"]["trial_id"]: t["measurement"]["rows_per_s"] for t in shown["trials"]}
    documents = stored_documents(path)
    assert rates == {i: t["measurement"]["rows_per_s"] for i, t in documents.items()}
    followed = Follower(Folder(path)).poll()
    finished = [event.result.trial.trial_id for event in followed if isinstance(event, TrialFinished)]
    assert sorted(finished) == sorted(documents)
    valid = [r for r in read_run(path).results if r.verdict.kind == "VALID" and r.trial.role == "point"]
    points = json.loads(scale("compare", path, path, "--json").stdout)["points"]
    known = [point for point in points if point["ratio"] is not None]
    assert sum(point["trials_a"] for point in known) == len(valid)
    assert all(math.isclose(point["ratio"], 1.0) for point in known)


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


def disagreeing(path: Path) -> set[str]:
    return {d.file for d in verify_run(path).disagreements}


def test_it_opens_with_its_trials_figures_and_verdicts(name, path):
    run = read_run(path)
    documents = stored_documents(path)
    assert len(run.results) == (1 if name == "killed" else len(run.plan.trials))
    for result in run.results:
        stored = documents[result.trial.trial_id]
        for figure, value in stored["measurement"].items():
            if figure not in ("disks", "steps"):
                assert getattr(result.measurement, figure) == value
        assert set(result.measurement.disks) == set(stored["measurement"]["disks"])
        assert len(result.measurement.steps) == len(stored["measurement"]["steps"])
        assert result.verdict.kind == stored["verdict"]["kind"]
        assert list(result.verdict.reasons) == stored["verdict"]["reasons"]
        assert dict(result.trial.knobs) == stored["trial"]["knobs"]
        assert run.timeseries[result.trial.trial_id]
    assert (run.fit is None) == (name in ("killed", "varied"))  # varied has a fit for each variant


def test_verify_agrees_with_a_whole_run_and_names_what_a_killed_one_lacks_and_a_changed_figure(name, path):
    unreported = UNREPORTED if name == "killed" else set()
    assert disagreeing(path) == unreported
    assert scale("verify", path).exit_code == (EXIT_DISAGREES if unreported else 0)
    trial_id, stored = next((i, t) for i, t in stored_documents(path).items() if t["measurement"]["rows_per_s"])
    stored["measurement"]["rows_per_s"] *= 1.01
    (path / "trials" / trial_id / "trial.json").write_text(json.dumps(stored))
    assert f"trials/{trial_id}/trial.json" in disagreeing(path)


def test_it_is_reported_anew_with_another_question_and_agrees_then(path):
    def contents():
        return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}

    before, files = read_run(path), contents()
    assert scale("report", path).exit_code == 0
    changed = {name for name, content in contents().items() if files.get(name) != content}
    assert files.keys() <= contents().keys()
    assert all(name.startswith(("manifest.json", "SHA256SUMS", "fit", "report")) for name in changed)
    assert read_manifest(Folder(path))["reported_by"]["code"] == identity()["code"]
    after = read_run(path)
    assert (after.results, after.plan) == (before.results, before.plan)
    assert disagreeing(path) == set()
    assert scale("report", path, "--predict", "2", "--need", "90k").exit_code == 0
    after = read_run(path)
    assert after.plan.sweep.predict == (2.0,)
    assert after.manifest["sweep"]["need"] == [90000.0]
    assert disagreeing(path) == set()


@pytest.mark.parametrize("file", ["manifest.json", "plan.json", "fit.json", "trials/cores-1-r1/trial.json"])
def test_a_document_of_another_schema_or_shape_is_refused_by_its_name(tmp_path, file):
    path = unpacked("cpu", tmp_path)
    document = json.loads((path / file).read_text())
    for schema in (1, SCHEMA - 1, SCHEMA + 1, True, "3", None):
        (path / file).write_text(json.dumps({**document, "schema": schema}))
        with pytest.raises(StoreError, match=f"{file} was stored by another version .* schema is {schema}") as e:
            read_run(path)
        assert f" {SCHEMA}" in e.value.message and e.value.remedy
    for content in ("[]", "{}", "1", "null", '{"sweep": 1}', '{"trial": []}', '{"sch'):
        (path / file).write_text(content)
        with pytest.raises(StoreError, match=file):
            read_run(path)


def test_its_points_and_ticks_are_exported_as_they_are_stored(path, tmp_path):
    module("pyarrow")
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
    ticks, metrics = tmp_path / "ticks.json", tmp_path / "metrics"
    assert scale("export", path, "--what", "timeseries", "--json", ticks, "--openmetrics", metrics).exit_code == 0
    assert {row["trial_id"] for row in json.loads(ticks.read_text())} == set(stored_documents(path))
    assert metrics.read_bytes().endswith(b"# EOF\n")


@pytest.mark.parametrize(
    ("file", "value"),
    [("manifest.json", "synthetic-host"), ("plan.json", "cpu"), ("trials/cores-1-r1/trial.json", "2026-01-02T03")],
)
def test_opening_a_run_again_does_not_make_an_edited_document_good(tmp_path, file, value):
    path = unpacked("cpu", tmp_path)
    document = path / file
    assert f'"{value}' in document.read_text()
    document.write_text(document.read_text().replace(f'"{value}', f'"{value}1', 1))
    compose.report(reopened(path))
    assert file in disagreeing(path)
