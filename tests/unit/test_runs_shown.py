"""`scale list`, `scale show` and `scale report` on stored runs: what they say of one that is whole, or interrupted."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scale_sweep.analysis.noise import drift_test
from scale_sweep.cli import app
from scale_sweep.model.measured import VerdictKind
from scale_sweep.report.documents import documents
from scale_sweep.results.store.reader import read_plan, read_run
from scale_sweep.results.store.stored import Folder
from tests.unit.raw_run import Shape, raw_run
from tests.unit.stored_runs import NAMES, unpacked
from tests.unit.whole_commands import run


def said(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"}, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_show_names_the_report_only_where_there_is_one(tmp_path):
    whole, killed = unpacked("cpu", tmp_path), unpacked("killed", tmp_path)
    shown = said("show", whole).replace("\n", "")
    assert f"{whole}/report.html" in shown and "resume" not in shown
    shown = said("show", killed).replace("\n", "")
    assert "report.html" not in shown and f"scale report {killed}" in shown
    assert "after 1 of " in shown and f"scale resume {killed}" in shown
    reports = [json.loads(said("show", path, "--json"))["report"] for path in (whole, killed)]
    assert reports == [f"{whole}/report.html", None]
    shutil.rmtree(killed / "trials")  # it ended before its first trial was finished
    shown = said("show", killed)
    assert "no trial is finished" in shown and "verdicts" not in shown


@pytest.mark.parametrize("name", NAMES)
def test_list_counts_the_same_trials_in_both_numbers(name, tmp_path):
    path = unpacked(name, tmp_path)
    planned = len(read_plan(Folder(path)).trials)
    finished = planned if name != "killed" else 1
    (row,) = json.loads(said("list", "--results", tmp_path, "--json"))
    assert row["trials"] == f"{finished} of {planned}"
    assert row["valid"] == str(sum(r.verdict.kind is VerdictKind.VALID for r in read_run(path).results))
    assert f"{finished} of {planned}" in said("list", "--results", tmp_path)


@pytest.mark.parametrize(("name", "count"), [("cpu", 1), ("varied", 2)])
def test_report_prints_the_answers_it_was_asked_for(name, count, tmp_path):
    path, words = unpacked(name, tmp_path), ("Beyond the points", "rate at 2", "needed for 90")
    plain, printed = said("report", path), said("report", path, "--predict", "2", "--need", "90k")
    assert words[0] not in plain and printed.count(words[0]) == count
    assert [one for one in words if one not in printed] == []


@pytest.mark.parametrize("planned", [True, False], ids=["the name of a trial", "the reason of a verdict"])
def test_a_long_text_is_not_written_with_every_trial(planned, tmp_path):
    path = Path(raw_run(tmp_path / "results", shape=Shape(levels=2, replicates=5)).path)
    plan, long = json.loads((path / "plan.json").read_text()), "x" * 100_000
    for trial in plan["trials"]:
        result = path / "trials" / trial["trial_id"] / "trial.json"
        stored = json.loads(result.read_text())
        stored["verdict"] |= {"kind": "ABORTED", "reasons": [] if planned else [long]}
        result.write_text(json.dumps(stored))
    if planned:
        plan["trials"].append({**plan["trials"][-1], "trial_id": long})
        (path / "plan.json").write_text(json.dumps(plan))
    done = run("watch", "last", cwd=tmp_path)
    assert done.code == (6 if planned else 0), done.stderr
    assert len(done.stderr) < 20_000


def test_a_list_of_runs_imports_no_numerics_and_looks_at_no_value_twice(tmp_path):
    manifest = Path(raw_run(tmp_path / "results", shape=Shape(levels=2, replicates=2)).path) / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "commit": "5e1234" + 34 * "7"}))
    looks = "import sys; from scale_sweep.results.store import codec; codec._leaves = None; "
    command = "sys.argv = ['scale', 'list']; from scale_sweep.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    numerics = "print({'numpy', 'scipy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", looks + command + numerics], cwd=tmp_path, text=True, capture_output=True
    )
    assert "4 of" in done.stdout and done.stdout.endswith("set()\n"), done.stdout + done.stderr


def test_the_course_of_a_run_is_fitted_once_for_all_parts_of_its_report(tmp_path):
    run = raw_run(tmp_path / "results", shape=Shape(levels=2, replicates=3))
    drift_test._line.cache_clear()
    documents(run, ())
    assert drift_test._line.cache_info().misses <= 4
