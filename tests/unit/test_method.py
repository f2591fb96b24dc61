"""Runs judged, fitted and reported by another method: figures and digests are held, the rest is counted and said."""

import csv
import json
import re
from pathlib import Path

import pytest

from runner import compose, method
from runner.report.documents import documents
from runner.store import sums
from runner.store.codec import to_json
from runner.store.reader import read_run
from runner.verify import verify_run
from tests.unit.stored_runs import unpacked

TRIAL = "trials/cores-1-r2"
WORDS = {  # of the stored reasons, with today's
    " the generator ": " the load generator ",
    "was held back": "was throttled",
    "too short to tell": "too short to show",
}
DOCUMENTS = 3  # fit.json, report.md, report.html


@pytest.fixture
def run(tmp_path, monkeypatch) -> Path:
    """Five trials, four of them VALID, stored by method 1, which is today's for these tests: its rules judge them alike.

    Its reasons, fits and reports are in today's words.
    """
    monkeypatch.setattr(method, "METHOD", 1)
    path = unpacked("cpu", tmp_path)
    for file in (path / "points.csv", *path.glob("trials/*/trial.json")):
        text = file.read_text()
        for before, now in WORDS.items():
            text = text.replace(before, now)
        file.write_text(text)
    made = documents(read_run(path))
    for name, fit in made.fits.items():
        (path / name).write_text(to_json(fit))
    for name, text in made.pages.items():
        (path / name).write_text(text)
    bless(path)
    return path


@pytest.fixture
def other(monkeypatch, run) -> None:
    monkeypatch.setattr(method, "METHOD", 2)


def bless(run: Path) -> None:
    names = [str(p.relative_to(run)) for p in run.rglob("*") if p.is_file() and p.name != sums.NAME]
    (run / sums.NAME).write_text(sums.sums_text({n: sums.digest((run / n).read_bytes()) for n in names}))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def named(run: Path) -> set[str]:
    return {d.file for d in verify_run(run).disagreements}


def said(run: Path) -> list[str]:
    return [note for note in verify_run(run).notes if "another method" in note]


def table(run: Path) -> list[dict[str, str]]:
    with (run / "points.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def write_table(run: Path, rows: list[dict[str, str]]) -> None:
    with (run / "points.csv").open("w", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    bless(run)


def demote(run: Path) -> None:
    """The trial's verdict, in trial.json and points.csv alike."""
    edit(run / TRIAL / "trial.json", '"kind": "VALID"', '"kind": "UNSTEADY"')
    rows = (run / "points.csv").read_text().splitlines(keepends=True)
    at = next(i for i, row in enumerate(rows) if row.startswith("cores-1-r2,"))
    rows[at] = rows[at].replace(",VALID,", ",UNSTEADY,", 1)
    (run / "points.csv").write_text("".join(rows))
    bless(run)


def test_of_the_same_method_nothing_is_said(run):
    assert said(run) == []
    assert named(run) == set()


def test_what_another_method_judged_alike_is_counted_and_no_fault(run, other):
    assert named(run) == set()
    assert said(run) == [f"judged by another method: 0 of {5 + DOCUMENTS} differ"]


def test_a_verdict_that_would_be_another_is_a_fault_within_one_method(run):
    demote(run)
    assert named(run) == {f"{TRIAL}/trial.json", "points.csv"}


def test_a_verdict_that_would_be_another_is_said_across_methods(run, other):
    demote(run)
    assert named(run) == set()
    # Fit and reports too: they were made with the trial, and would now be made without it.
    assert said(run) == [f"judged by another method: {1 + DOCUMENTS} of {5 + DOCUMENTS} differ"]


def test_a_verdict_that_only_one_file_tells_is_found_across_methods(run, other):
    edit(run / TRIAL / "trial.json", '"kind": "VALID"', '"kind": "UNSTEADY"')
    bless(run)
    assert named(run) == {"points.csv"}


def test_a_text_or_a_fit_is_counted_across_methods_and_found_when_it_is_lost(run, other):
    edit(run / "report.md", "speedup", "speed up")
    edit(run / "fit.json", '"rows_per_s_mean": ', '"rows_per_s_mean": 1')
    bless(run)
    assert named(run) == set()
    assert said(run) == [f"judged by another method: 2 of {5 + DOCUMENTS} differ"]
    (run / "fit.json").unlink()
    (run / "report.html").write_bytes(b"\xff\xfe")
    bless(run)
    assert named(run) == {"fit.json", "report.html"}
    assert said(run) == [f"judged by another method: 1 of {5 + DOCUMENTS - 2} differ"]


FIGURES = {
    f"{TRIAL}/trial.json": ('"server_cpu_cores": 0.', '"server_cpu_cores": 1.'),
    f"{TRIAL}/series.csv": ("\n1.", "\n1.1"),
    "timeseries.csv": ("cores-1-r2,1.", "cores-1-r2,1.1"),
    "points.csv": ("cores-1-r2,", "cores-1-r2,1"),
}


@pytest.mark.parametrize("file", FIGURES)
def test_a_changed_figure_is_found_across_methods(run, other, file):
    edit(run / file, *FIGURES[file])
    bless(run)
    assert named(run) == {file}


@pytest.mark.parametrize(("raw", "key"), [("loadgen.jsonl", '"rows_window":'), ("samples.jsonl", '"memory_bytes": ')])
def test_a_changed_raw_file_is_found_across_methods(run, other, raw, key):
    path = run / TRIAL / raw
    path.write_text(re.sub(f"{key}([1-9])", lambda found: f"{key}1{found[1]}", path.read_text()))
    bless(run)
    assert any(file.startswith(TRIAL) for file in named(run))


def test_a_changed_byte_is_found_across_methods(run, other):
    edit(run / "report.md", "speedup", "speed up")
    assert named(run) == {"report.md"}


def test_a_run_reported_anew_by_todays_method_has_its_fits_and_texts_compared(run, other):
    compose.report(compose.reopen_to_report(read_run(run)))
    assert said(run) == ["judged by another method: 0 of 5 differ"]
    assert named(run) == set()
    edit(run / "report.md", "speedup", "speed up")
    bless(run)
    assert named(run) == {"report.md"}


def test_a_figure_that_was_not_known_yet_stays_unknown(run):
    path = run / TRIAL / "trial.json"
    told = json.loads(path.read_text())
    del told["measurement"]["memory_used_gb"]
    path.write_text(json.dumps(told))
    bless(run)
    assert named(run) == {"points.csv"}, "it is told there"
    rows = table(run)
    next(row for row in rows if row["trial_id"] == "cores-1-r2")["memory_used_gb"] = ""
    write_table(run, rows)
    assert named(run) == set()


def test_a_column_that_a_former_version_had_not_is_no_fault_and_a_changed_one_is(run):
    write_table(run, [{name: cell for name, cell in row.items() if name != "hot_thread"} for row in table(run)])
    assert named(run) == set()
    edit(run / "points.csv", "cores-0.5-r1,", "cores-0.5-r1,7")
    bless(run)
    assert named(run) == {"points.csv"}


def test_every_trial_says_the_method_that_judged_it(run, other):
    assert {r.method for r in read_run(run).results} == {1}
    compose.reopen_run(read_run(run))
    assert {json.loads(p.read_text())["method"] for p in run.glob("trials/*/trial.json")} == {1}
    assert read_run(run).manifest["method"] == 1
