"""scale verify of a run of reads: an edited count of checked answers is named."""

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


def test_a_trial_of_few_compared_answers_is_cautioned(original, wording):
    def cautions(within):
        return hidden(TrialFacts(answers=(replace(CHECKED, within=within),)))

    wording(*(caution for within in (0, 1, 5, 19) for caution in cautions(within)))
    assert cautions(20) == cautions(None) == ()
    verdict = json.loads((original / TRIAL / "trial.json").read_text())["verdict"]
    assert cautions(5)[0] in verdict["reasons"]


def test_an_untouched_run_of_reads_agrees_and_no_edited_facts(run):
    assert verify_run(run).disagreements == ()
    (counts,) = {(row["checked_before"], row["checked_within"], row["checked_rows"]) for row in rows_of(run)}
    assert counts == ("20", "7", "2")
    path = run / TRIAL / "facts.json"
    document = json.loads(path.read_text())
    document["answers"][0]["compared"] += 1
    path.write_text(json.dumps(document))
    bless(run)
    assert {f"{TRIAL}/trial.json", "operations.csv"} <= named(run)


@pytest.mark.parametrize("name", ["checked_before", "checked_within", "checked_rows", "checked_devices"])
def test_an_edited_count_of_checked_answers_is_named(run, name):
    rows = rows_of(run)
    rows[3][name] = "21"
    with (run / "operations.csv").open("w", newline="") as table:
        out = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    bless(run)
    assert named(run) == {"operations.csv"}
