"""tools/provoke.py: the seed decides the cases, the oracle finds every fault, the files come out as their recipes say."""

import json
import os
import stat
from dataclasses import replace

import pytest

from tools.provoke import case_of, named, shown
from tools.provoking import files, kills
from tools.provoking.case import Case, Outcome, outcome_of, to_line
from tools.provoking.case import case_of as case_of_line
from tools.provoking.corpus import corpus
from tools.provoking.oracle import judge

CASE = Case(name="x", words=("list",))
REFUSED = Outcome(code=2, err="scale: --cores: no number\n  → give one\n")


def test_the_seed_decides_the_cases_of_every_kind():
    cases = [case_of(7, number) for number in range(200)]
    assert cases == [case_of(7, number) for number in range(200)]
    assert len({case.words for case in cases}) > 60
    assert {"plan", "load", "fit", "show", "verify"} <= {case.words[0] for case in cases if case.words}
    assert cases != [case_of(8, number) for number in range(200)]
    for words in (case_of(3, number).words for number in range(2000)):  # nothing is started or removed
        assert words[:1] not in (("sweep",), ("ab",), ("observe",))
        assert words[:1] != ("clean",) or words[1] == "--dry-run"
        assert not {"install", "down"} & set(words)
    targets = ["null", "postgres"]
    assert kills.kills_of(1, 6, targets) == kills.kills_of(1, 9, targets)[:6]
    assert {kill.target for kill in kills.kills_of(1, 6, targets)} == set(targets)


def test_the_corpus_is_readable_and_its_cases_can_be_repeated():
    cases = corpus()
    assert len(cases) > 60
    assert all(named(case.name) == case for case in cases)
    case = replace(CASE, words=("plan", "\udcff"), files=({"path": "a", "fifo": True},), limits={"nofile": 20})
    assert (case_of_line(to_line(case)), outcome_of(to_line(REFUSED))) == (case, REFUSED)  # to another process
    assert f"--case '{cases[0].name}'" in shown(cases[0], REFUSED, ["no remedy"])


@pytest.mark.parametrize(
    ("outcome", "fault"),
    [
        (Outcome(broken="no root"), "run: no root"),
        (Outcome(over_time=True, stack="at read()"), "at read()"),
        (Outcome(code=1, err="Traceback (most recent call last)\n"), "traceback"),
        (Outcome(code=1), "code 1"),
        (Outcome(code=-9), "code -9"),
        (replace(REFUSED, code=3), "3, not 2"),
        (replace(REFUSED, err=""), "0 messages"),
        (replace(REFUSED, err=REFUSED.err * 2), "2 messages"),
        (replace(REFUSED, err=REFUSED.err + "y" * 5000), "characters"),
        (replace(REFUSED, err="scale: no\n"), "no remedy"),
        (replace(REFUSED, out="--memory"), "'--tables'"),
        (replace(REFUSED, out="--tables \x1b[2J"), "control character"),
        (replace(REFUSED, left=("process 7",)), "process 7"),
    ],
)
def test_the_oracle_finds(outcome, fault):
    case = replace(CASE, exits=(2,), says=("--tables",))
    assert any(fault in found for found in judge(case, outcome))
    assert judge(CASE, Outcome(code=0, out="a run\n")) == []
    assert judge(replace(CASE, exits=(2,), says=("--cores",)), REFUSED) == []
    assert judge(CASE, Outcome(code=12, out="it disagrees\n")) == []


def test_files_come_out_as_their_recipes_say(tmp_path):
    trial = "r/trials/cores-1-r1/trial.json"
    recipes = (
        {"path": "r", "run": "killed"},
        {"path": "r/plan.json", "set": ["sweep", "name"], "to": "NaN"},
        {"path": "r/manifest.json", "drop": ["status"]},
        {"path": trial, "fifo": True},
        {"path": "deep/link", "link": "/dev/zero"},
        {"path": "big", "size": 1 << 34},
        {"path": "r/points.csv", "cut": 0.5},
        {"path": trial, "flip": 3, "try": True},
    )
    files.make(tmp_path, recipes)
    assert '"name": NaN' in (tmp_path / "r/plan.json").read_text()
    assert "status" not in json.loads((tmp_path / "r/manifest.json").read_text())
    assert stat.S_ISFIFO((tmp_path / trial).stat().st_mode)
    assert os.readlink(tmp_path / "deep/link") == "/dev/zero"
    assert (tmp_path / "big").stat().st_size == 1 << 34


@pytest.mark.parametrize("made", [{"path": "../x", "text": ""}, {"path": "x", "nonsense": 1}, {"path": "x", "cut": 1}])
def test_a_recipe_that_cannot_be_made_is_refused(tmp_path, made):
    with pytest.raises((ValueError, OSError)):
        files.make(tmp_path, (made,))
