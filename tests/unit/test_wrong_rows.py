"""Sums of stored rows beside the right ones: what may differ, what may not, and what is said of it."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from scale_sweep.experiment.work.sums import ALL, figures_of, right_figures, steps_ns, table_sums, together, wrong_rows
from scale_sweep.judge.figures.trial_facts import TrialFacts, facts_text
from scale_sweep.model.loads import RowsSummed
from scale_sweep.model.measured import VerdictKind
from scale_sweep.results.store.codec import from_json
from tests.unit.factories import make_sweep
from tests.unit.test_verdict import verdict

DATA = replace(make_sweep().work.data, tables=2, columns=("a:int", "b:float", "c:bool", "d:nchar(8)"))
LINE = {
    "rows": 4,
    "units_per_ms": 1,
    "first": 0,
    "last": 3,
    "times": 6,
    "columns": {
        "a": {"values": 4, "sum": 2**70, "least": -3, "greatest": 2**69, "timed": 5.0, "timed_size": 5.0},
        "b": {"values": 3, "sum": 1.5, "size": 7.5, "least": -3.0, "greatest": 4.5, "timed": 2.25, "timed_size": 9.0},
        "c": {"values": 4, "sum": 2, "least": 0, "greatest": 1, "timed": 5.0, "timed_size": 5.0},
        "d": {"values": 0},
    },
}
NAMES = figures_of(DATA, ALL)


def compared(**changes: object) -> RowsSummed:
    right = right_figures(LINE)
    sums = table_sums(0, "d0", NAMES, right, {**right.figures, **changes})
    return RowsSummed(figures=NAMES, tables=(sums,), of_tables=2, rows=4)


def test_figures_that_another_order_of_addition_explains_are_right_and_come_back_from_disk():
    assert NAMES[:4] == ("rows", "first", "last", "times")
    assert {name for name in NAMES if name.startswith("c.")} == {"c.values", "c.sum"}
    assert {name for name in NAMES if name.startswith("d.")} == {"d.values"}
    assert figures_of(DATA, ("rows", "sum")) == ("rows", "a.sum", "b.sum", "c.sum")
    assert "steps" not in figures_of(replace(DATA, disorder="poisson"), ("rows", "steps"))
    for same in (
        {},
        {"a.sum": Decimal(2**70)},
        {"a.sum": float(2**70)},
        {"b.sum": 1.5 + 3e-16},
        {"b.timed": 2.25 - 2e-15},
    ):
        assert wrong_rows(compared(**same)) == (), same
    assert wrong_rows(None) == wrong_rows(RowsSummed(note="not known")) == ()
    facts = replace(TrialFacts(), summed=compared(**{"a.sum": 2**70 + 1}))
    text = facts_text(facts, with_summary=False)
    assert json.loads(text)["summed"]["tables"][0]["name"] == "d0"
    assert from_json(text, TrialFacts, Path("facts.json")).summed == facts.summed
    judged = verdict(wrong_rows=wrong_rows(facts.summed))
    assert judged.kind is VerdictKind.WRONG_ROWS and not judged.kind.is_fitted
    assert judged.reasons[0].startswith("device d0: ")
    assert verdict(wrong_rows=("x",), rows_counted=1).kind is VerdictKind.LOST_ROWS


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"a.sum": 2**70 + 1}, "a: sum: stored 1,180,591,620,717,411,303,425, sent 1,180,591,620,717,411,303,424"),
        ({"b.sum": 1.5 + 1e-12}, "b: sum: stored 1.5"),
        ({"b.least": None}, "b: least value: stored nothing, sent -3.0"),
        ({"times": 6_000_001}, "sum of the times, in ns since the first timestamp: stored 6,000,001, sent 6,000,000"),
        ({"a.values": 3}, "a: number of values other than NULL: stored 3, sent 4"),
        ({"d.values": 1}, "d: number of values other than NULL: stored 1, sent 0"),
        ({"rows": None}, "number of rows: stored nothing, sent 4"),
        ({"rows": "many"}, "number of rows: stored no number, sent 4"),
        ({"rows": "many more"}, "number of rows: stored no number, sent 4"),
        ({"a.sum": ""}, "a: sum: stored no number"),
        ({"a.sum": b"\xff"}, "a: sum: stored no number"),
        ({"a.sum": [2**70]}, "a: sum: stored no number"),
        ({"a.sum": Decimal("NaN")}, "a: sum: stored nan"),
        ({"a.sum": Decimal("Infinity")}, "a: sum: stored no number"),
        ({"a.sum": 10**5000}, "a: sum: stored no number"),
        ({"b.sum": 10**400}, "b: sum: stored 10,000,"),
        ({"b.sum": float("nan")}, "b: sum: stored nan, sent 1.5"),
        ({"b.sum": float("inf")}, "b: sum: stored inf, sent 1.5"),
    ],
)
def test_anything_else_is_named(wrong, words):
    (sentence,) = wrong_rows(compared(**wrong))
    assert sentence.startswith("device d0: ") and words in sentence
    assert "1 of 1" in sentence


def test_the_time_in_steps_is_that_between_the_rows_of_each_table(wording):
    assert steps_ns(replace(DATA, step_ms=10), [(0, 1, 5), (1, 3, 1), (4, 2, 3), (6, 1, 0)]) == (4 + 0 + 2 * 2) * 10**7
    right = right_figures(LINE, steps=3_000_000)
    assert figures_of(DATA, ("rows", "steps", "sum"))[:2] == ("rows", "steps")
    moved = table_sums(0, "d0", ("steps",), right, {"steps": 2_000_000})
    wording(*wrong_rows(RowsSummed(figures=("steps",), tables=(moved,), of_tables=1, rows=4)))


def test_a_server_that_keeps_fewer_digits_is_right_within_them():
    right = right_figures(LINE, share=1e-11)
    for name, off, is_right in (
        ("b.sum", 7e-11, True),
        ("b.sum", 8e-11, False),
        ("b.least", 4e-11, True),
        ("a.least", -1e-8, False),
    ):
        one = table_sums(0, "d0", (name,), right, {name: right.figures[name] + off})
        assert (wrong_rows(RowsSummed(figures=(name,), tables=(one,), of_tables=1, rows=4)) == ()) is is_right
    devices = {
        "d0": {"rows": 2, "first": 0, "last": 30, "a.least": 5, "a.greatest": 7, "a.sum": 12, "b.sum": None},
        "d1": {"rows": 3, "first": 10, "last": 20, "a.least": -1, "a.greatest": 6, "a.sum": 9, "b.sum": None},
    }
    all_ = {"rows": 5, "first": 0, "last": 30, "a.least": -1, "a.greatest": 7, "a.sum": 21, "b.sum": None}
    assert together(devices) == all_
