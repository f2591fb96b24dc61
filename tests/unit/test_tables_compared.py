"""Which tables are compared one by one with the rows that were sent: as many as time and facts.json allow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner.figures.facts import TrialFacts
from runner.figures.recorded import facts_text
from runner.model import RowsSummed, TableSums
from runner.store.stored import bytes_max
from runner.targets import load_facts
from runner.trial.summed import _chosen, _tables_max
from runner.work.sums import ALL, figures_of
from tests.unit.factories import make_sweep, make_trial

FACTS = replace(load_facts("postgres"), sums=ALL)
HOUR_S = 3600.0


def chosen(columns: int, held: int, rows: int = 10, spent_s: float = HOUR_S):
    """The choice among so many tables with rows, of a load with so many columns; and its figures."""
    trial = make_trial(make_sweep())
    work = replace(trial.work, data=replace(trial.work.data, columns=tuple(f"c{n}:double" for n in range(columns))))
    figures = figures_of(work.data, FACTS.sums)
    each = [rows, 0] * held  # every second table has no rows
    return _chosen(replace(trial, work=work), FACTS, each, spent_s, _tables_max(figures)), figures


@pytest.mark.parametrize("held", [1, 999, 1000])
def test_all_tables_with_rows_are_compared_up_to_a_thousand(held):
    found, _ = chosen(3, held)
    assert found.tables == list(range(0, 2 * held, 2)) and not found.is_together and not found.note


@pytest.mark.parametrize(("columns", "held", "drawn"), [(3, 1001, 200), (60, 1000, 200), (400, 1000, 99)])
def test_of_more_tables_or_figures_some_are_drawn_and_all_are_compared_together(columns, held, drawn):
    found, _ = chosen(columns, held)
    assert len(set(found.tables)) == drawn and found.is_together
    assert found.tables == sorted(found.tables) and not any(table % 2 for table in found.tables)
    assert found.note == f"{drawn} of {held:,} tables were compared one by one, and all together"
    assert chosen(columns, held)[0] == found  # by the trial's seed


def test_what_would_take_too_long_is_left_out_and_the_note_says_so():
    found, _ = chosen(3, 1000, rows=100_000, spent_s=30.0)
    assert 1 <= len(found.tables) < 200 and not found.is_together
    assert "which is more than 10% of the trial" in found.note


@pytest.mark.parametrize("columns", [3, 50, 60, 99, 400, 4000])
def test_the_figures_of_the_tables_fit_into_the_facts(columns):
    found, figures = chosen(columns, 1000)
    longest = " ".join(["-1.2345678901234567e+100"] * len(figures))
    one = TableSums(table=999, name="d" * 32, right=longest, stored=longest, error=longest)
    tables = (one,) * (len(found.tables) + found.is_together)
    text = facts_text(replace(TrialFacts(), summed=RowsSummed(figures=figures, tables=tables)), with_summary=False)
    assert len(text.encode()) <= bytes_max("facts.json")
