"""Runs judged, fitted and reported by another method: figures and digests are held, the rest is counted and said."""

import csv
import json
import re
from pathlib import Path

import pytest

from scale_sweep.cli import compose
from scale_sweep.judge import method
from scale_sweep.results.store import files
from scale_sweep.results.store.reader import read_run
from scale_sweep.results.store.texts import points_text
from scale_sweep.verify.run import verify_run
from tests.unit.stored import reopened
from tests.unit.stored_runs import unpacked

OURS = method.METHOD
TRIAL = "trials/cores-1-r2"
DOCUMENTS = 3  # fit.json, report.md, report.html


@pytest.fixture
def run(tmp_path) -> Path:
    """Five trials, all of them VALID, judged by this version's method."""
    return unpacked("cpu", tmp_path)


@pytest.fixture
def other(monkeypatch, run) -> None:
    monkeypatch.setattr(method, "METHOD", OURS + 1)


def bless(run: Path) -> None:
    """Makes the list of digests good again, as one who covers a track would."""
    names = [str(p.relative_to(run)) for p in run.rglob("*") if p.is_file() and p.name != files.SUMS]
    (run / files.SUMS).write_text(files.sums_text({n: files.digest((run / n).read_bytes()) for n in names}))


def edit(run: Path, file: str, old: str, new: str) -> None:
    text = (run / file).read_text()
    assert old in text
    (run / file).write_text(text.replace(old, new, 1))
    bless(run)


def named(run: Path) -> set[str]:
    return {d.file for d in verify_run(run).disagreements}


def said(run: Path) -> list[tuple[int, int]]:
    """How many differ, of how many, of what another method judged."""
    notes = [re.search(r"another method: (\d+) of (\d+) differ", note) for note in verify_run(run).notes]
    return [(int(found[1]), int(found[2])) for found in notes if found]


def demote(run: Path) -> None:
    """The trial's verdict, in trial.json and points.csv alike."""
    edit(run, f"{TRIAL}/trial.json", '"kind": "VALID"', '"kind": "UNSTEADY"')
    again = read_run(run)
    (run / "points.csv").write_text(points_text(again.plan, again.results))
    bless(run)


def test_within_one_method_missing_columns_and_other_verdicts_are_faults(run):
    assert (said(run), named(run)) == ([], set())
    without_a_column(run)
    assert named(run) == {"points.csv"}
    demote(run)
    assert named(run) == {f"{TRIAL}/trial.json", "points.csv"}


def test_what_another_method_judged_alike_is_no_fault_and_common_columns_are_compared(run, other):
    assert (said(run), named(run)) == ([(0, 5 + DOCUMENTS)], set())
    assert {r.method for r in read_run(run).results} == {OURS}
    reopened(run)
    assert {json.loads(p.read_text())["method"] for p in run.glob("trials/*/trial.json")} == {OURS}
    assert read_run(run).manifest["method"] == OURS
    without_a_column(run)
    assert named(run) == set()
    (note,) = [note for note in verify_run(run).notes if "points.csv" in note]
    assert f"(method {OURS})" in note and "without fitted" in note


def without_a_column(run: Path) -> None:
    with (run / "points.csv").open(newline="") as file:
        table = list(csv.reader(file))
    at = table[0].index("fitted")
    with (run / "points.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([*row[:at], *row[at + 1 :]] for row in table)
    bless(run)


def test_a_verdict_that_would_be_another_is_said_across_methods_and_found_where_one_file_tells_it(run, other):
    edit(run, f"{TRIAL}/trial.json", '"kind": "VALID"', '"kind": "UNSTEADY"')
    assert named(run) == {"points.csv"}
    edit(run, f"{TRIAL}/trial.json", '"kind": "UNSTEADY"', '"kind": "VALID"')
    demote(run)
    # Fit and reports too: they were made with the trial, and would now be made without it.
    assert (said(run), named(run)) == ([(1 + DOCUMENTS, 5 + DOCUMENTS)], set())


def test_a_text_or_a_fit_is_counted_across_methods_and_found_when_it_is_lost(run, other):
    (run / "report.md").write_text((run / "report.md").read_text().replace("speedup", "speed up", 1))
    assert named(run) == {"report.md"}
    edit(run, "fit.json", '"rate_mean": ', '"rate_mean": 1')
    assert (said(run), named(run)) == ([(2, 5 + DOCUMENTS)], set())
    (run / "fit.json").unlink()
    (run / "report.html").write_bytes(b"\xff\xfe")
    bless(run)
    assert (said(run), named(run)) == ([(1, 5 + DOCUMENTS - 2)], {"fit.json", "report.html"})


FIGURES = {
    f"{TRIAL}/trial.json": ('"server_cpu_cores": 0.', '"server_cpu_cores": 1.'),
    f"{TRIAL}/series.csv": ("\n1.", "\n1.1"),
    "timeseries.csv": ("cores-1-r2,1.", "cores-1-r2,1.1"),
    "points.csv": ("cores-1-r2,", "cores-1-r2,1"),
}


@pytest.mark.parametrize("file", FIGURES)
def test_a_changed_figure_is_found_across_methods(run, other, file):
    edit(run, file, *FIGURES[file])
    assert named(run) == {file}


@pytest.mark.parametrize(("raw", "key"), [("loadgen.jsonl", '"rows_window": '), ("samples.jsonl", '"memory_bytes": ')])
def test_a_changed_raw_file_is_found_across_methods(run, other, raw, key):
    path = run / TRIAL / raw
    path.write_text(re.sub(f"{key}([1-9])", lambda found: f"{key}1{found[1]}", path.read_text()))
    bless(run)
    assert any(file.startswith(TRIAL) for file in named(run))


def test_a_run_reported_anew_by_todays_method_has_its_fits_and_texts_compared(run, other):
    compose.report(reopened(run, compose.reopen_to_report))
    assert (said(run), named(run)) == ([(0, 5)], set())
    edit(run, "report.md", "speedup", "speed up")
    assert named(run) == {"report.md"}
