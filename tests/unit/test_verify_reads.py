"""scale verify of a run of reads: an edited count of checked answers is named, and a table of operations that an older
version wrote is read."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.judge.figures.operations import hidden
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.model import AnswersChecked
from scale_sweep.sweep.resolve import resolve_sweep
from scale_sweep.verify import verify_run
from tests.unit.raw_run import raw_run
from tests.unit.test_verify import TRIAL, bless, named

CHECKED = AnswersChecked(operation="range", whole=20, counted=9, compared=7, within=5, devices="0-6")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    given = {"axis.cores": "1", "workload.step_ms": "10000", "preload.rows": "100k", "workload.tables": "10"}
    work = resolve_sweep("cpu", {**given, "mix": "range"}).work
    return Path(raw_run(tmp_path_factory.mktemp("results"), work=work, answers=(CHECKED,)).path)


@pytest.fixture
def run(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / original.name))


def rows_of(run: Path) -> list[dict[str, str]]:
    with (run / "operations.csv").open(newline="") as table:
        return list(csv.DictReader(table))


def write_rows(run: Path, rows: list[dict[str, str]]) -> None:
    with (run / "operations.csv").open("w", newline="") as table:
        out = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    bless(run)


@pytest.mark.parametrize(
    ("within", "words"),
    [
        (0, "range: no content of an answer in the window was compared, so all of them may be wrong"),
        (1, "range: 1 answer in the window compared: up to 95 % of all may be wrong (95 %)"),
        (5, "range: 5 answers in the window compared: up to 45 % of all may be wrong (95 %)"),
        (19, "range: 19 answers in the window compared: up to 15 % of all may be wrong (95 %)"),
        (20, ""),
        (None, ""),
    ],
)
def test_a_trial_of_few_compared_answers_is_cautioned(within, words):
    facts = TrialFacts(answers=(replace(CHECKED, within=within),))
    assert hidden(facts) == ((words,) if words else ())


def test_the_caution_is_a_reason_of_each_trial(original):
    verdict = json.loads((original / TRIAL / "trial.json").read_text())["verdict"]
    assert any(reason.startswith("range: 5 answers in the window compared") for reason in verdict["reasons"]), verdict


def test_an_untouched_run_of_reads_agrees(run):
    assert verify_run(run).disagreements == ()
    assert {(row["checked_before"], row["checked_within"], row["checked_rows"]) for row in rows_of(run)} == {
        ("20", "7", "2")
    }


@pytest.mark.parametrize("name", ["checked_before", "checked_within", "checked_rows", "checked_devices"])
def test_an_edited_count_of_checked_answers_is_named(run, name):
    rows = rows_of(run)
    rows[3][name] = "21"
    write_rows(run, rows)
    assert named(run) == {"operations.csv"}


def test_a_count_of_checked_answers_edited_in_the_facts_is_named(run):
    path = run / TRIAL / "facts.json"
    document = json.loads(path.read_text())
    document["answers"][0]["compared"] += 1
    path.write_text(json.dumps(document))
    bless(run)
    assert {f"{TRIAL}/trial.json", "operations.csv"} <= named(run)
