"""Runs that an earlier version stored still open, show, report, compare, export and verify, with the same figures."""

import csv
import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from runner import compose
from runner.cli import app
from runner.errors import EXIT_DISAGREES, StoreError, UsageError
from runner.identity import identity
from runner.model import TrialFinished
from runner.store.codec import SCHEMA
from runner.store.files import RunFiles
from runner.store.follow import Follower
from runner.store.reader import read_run, stored_format, stored_manifest
from runner.store.rewrite import rewrite
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
NOW = {  # names of figures that were others in format 1
    "client_cpu_cores": "generator_cpu_cores",
    "client_cpu_percent": "generator_cpu_percent",
    "client_cpu_mhz": "generator_cpu_mhz",
    "passed_over_s": "transient_s",
    "passed_over_rows_per_s": "transient_rows_per_s",
}
OPEN_LOOP = {"varied"}  # its rates are what was offered, so there is no capacity to compare
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
                assert getattr(result.measurement, NOW.get(figure, figure)) == value
        assert set(result.measurement.disks) == set(told["measurement"]["disks"])
        assert list(result.verdict.reasons) == told["verdict"]["reasons"]
        assert dict(result.trial.knobs) == told["trial"]["knobs"]
        assert run.timeseries[result.trial.trial_id] or result.verdict.kind == A
    assert (run.fit is None) == (name in ("killed", "varied"))  # varied has a fit for each variant


def test_the_list_names_it(name, path):
    rows = json.loads(scale("list", "--results", path.parent, "--json").stdout)
    status = "interrupted" if name == "killed" else "complete"
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


def contents(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def changed(before: dict[str, bytes], path: Path) -> set[str]:
    after = contents(path)
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def is_document_of_a_report(file: str) -> bool:
    return file in ("manifest.json", "SHA256SUMS") or file.startswith(("fit", "report"))


def test_a_report_keeps_the_format_with_plan_trials_and_tables_to_the_byte(path):
    before = contents(path)
    assert scale("report", path).exit_code == 0
    assert all(is_document_of_a_report(file) for file in changed(before, path))
    assert stored_format(path) == 1
    assert "upgraded_from" not in stored_manifest(path)
    assert stored_manifest(path)["reported_by"]["code"] == identity()["code"]


def test_a_run_that_keeps_its_format_takes_no_trial(path):
    run = read_run(path)
    with pytest.raises(StoreError, match="older format"):
        compose.reopen_to_report(run)(TrialFinished(result=run.results[0]))


RAW = ("spec", "loadgen.jsonl", "samples.jsonl", "facts.json", "journal.jsonl", "series.csv", "server.log")


def test_a_run_that_is_continued_is_rewritten_as_a_whole_and_its_raw_files_are_not(path):
    before, run = contents(path), read_run(path)
    compose.reopen_run(run)
    assert not any(file.endswith(RAW) for file in changed(before, path))
    assert {f"trials/{i}/trial.json" for i in stored_documents(path)} <= changed(before, path)
    assert stored_format(path) == SCHEMA
    assert stored_manifest(path)["upgraded_from"] == 1
    assert {d["schema"] for d in stored_documents(path).values()} == {SCHEMA}
    assert json.loads((path / "plan.json").read_text())["schema"] == SCHEMA
    again = read_run(path)
    assert (again.plan, again.results, again.timeseries, again.fit) == (run.plan, run.results, run.timeseries, run.fit)
    compose.report(compose.reopen_run(again))
    assert disagreeing(path) == set()
    assert stored_manifest(path)["upgraded_from"] == 1


def test_a_kill_while_a_run_is_rewritten_leaves_one_that_reads_verifies_and_goes_on(tmp_path, monkeypatch):
    run = read_run(unpacked("cpu", tmp_path / "whole"))
    written, write = [], RunFiles.write

    def write_some(self, name, text, *, safely=False):
        if name != "SHA256SUMS":
            if len(written) == most:
                raise KeyboardInterrupt
            written.append(name)
        write(self, name, text, safely=safely)

    for most in range(len(run.results) + 2):
        path = unpacked("cpu", tmp_path / str(most))
        written.clear()
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(RunFiles, "write", write_some)
            rewrite(path)
        half = read_run(path)
        assert (half.plan, half.results) == (run.plan, run.results)
        assert disagreeing(path) == set()
        compose.report(compose.reopen_run(half))
        assert disagreeing(path) == set()
    assert written[-1] == "plan.json"


@pytest.mark.parametrize("file", ["manifest.json", "plan.json", "trials/cores-1-r1/trial.json"])
def test_rewriting_does_not_make_an_edited_document_good(tmp_path, file):
    path = unpacked("cpu", tmp_path)
    document = path / file
    edited = document.read_text().replace('"cores"', '"cores" ', 1)
    assert edited != document.read_text()
    document.write_text(edited)
    compose.report(compose.reopen_run(read_run(path)))
    assert disagreeing(path) == {file}


@pytest.mark.parametrize("file", ["manifest.json", "plan.json", "fit.json", "trials/cores-1-r1/trial.json"])
def test_a_format_that_is_not_known_is_refused_with_those_that_are(tmp_path, file):
    path = unpacked("cpu", tmp_path)
    document = json.loads((path / file).read_text())
    (path / file).write_text(json.dumps({**document, "schema": 9}))
    with pytest.raises(StoreError, match=f"{file} is of schema 9; this version reads 1, 2 and 3"):
        read_run(path)


@pytest.mark.parametrize("file", ["manifest.json", "plan.json", "fit.json", "trials/cores-1-r1/trial.json"])
@pytest.mark.parametrize("content", ["[]", "{}", "1", "null", '{"sweep": 1}', '{"trial": []}', '{"sch'])
def test_a_document_of_another_shape_is_refused_by_its_name(tmp_path, file, content):
    path = unpacked("cpu", tmp_path)
    (path / file).write_text(content)
    with pytest.raises(StoreError, match=file):
        read_run(path)


def test_it_compares_with_itself(name, path):
    valid = {i for i, kind in VERDICTS[name].items() if kind == V and not i.endswith("anchor") and "bridge" not in i}
    if not valid or name in OPEN_LOOP:
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


def test_its_drift_check_ablation_trial_and_variants_keep_their_roles(tmp_path):
    disk = read_run(unpacked("disk", tmp_path))
    assert {t.role for t in disk.plan.trials} == {"point", "drift_check", "ablation"}
    assert [t.knobs_of_level for t in disk.plan.trials if t.role == "ablation"] == [1.0]
    varied = read_run(unpacked("varied", tmp_path))
    assert {t.variant["rows_per_request"] for t in varied.plan.trials} == {"100", "500"}


def test_what_a_trial_says_itself_since_format_2_is_worked_out(tmp_path):
    disk = {t.trial_id: t for t in read_run(unpacked("disk", tmp_path)).plan.trials}
    points = {"disks-1-r1": "disks-1", "disks-2-r1": "disks-2", "disks-2-bridge-1-r1": "disks-2-bridge-1"}
    assert {i: t.point_id for i, t in disk.items()} == {**points, "disks-2-anchor": "disks-2"}
    assert {i: t.resources.disks for i, t in disk.items() if t.role == "point"} == {"disks-1-r1": 1, "disks-2-r1": 2}
    assert disk["disks-2-r1"].load.partitions == 8
    assert disk["disks-2-bridge-1-r1"].load.partitions == 4
    assert not any(t.load.may_discard for t in disk.values())
    varied = {t.trial_id: t for t in read_run(unpacked("varied", tmp_path)).plan.trials}
    assert {i: t.point_id for i, t in varied.items()} == {
        "cores-1-500-r1": "cores-1-500",
        "cores-1-100-r1": "cores-1-100",
        "cores-1-500-anchor": "cores-1-500",
    }
    assert [t.work.data.rows_per_request for t in varied.values()] == [500, 100, 500]
    told = {(t.subject.target, t.subject.method, t.resources.disks) for t in varied.values()}
    assert told == {("postgres", "copy", 0)}
    (two,) = read_run(unpacked("two-processes", tmp_path)).plan.trials
    assert (two.load.connections, two.work.data.rows_per_request, two.block) == (4, 100, 1)


def test_two_load_processes_are_read_as_one_load(tmp_path):
    path = unpacked("two-processes", tmp_path)
    (log,) = path.glob("trials/*/loadgen.jsonl")
    assert [json.loads(line)["event"] for line in log.read_text().splitlines()].count("hello") == 2
    (result,) = read_run(path).results
    assert result.measurement.rows_acked == result.measurement.rows_counted
