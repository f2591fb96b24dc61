"""Which tables are compared one by one with the rows that were sent: as many as time and facts.json allow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scale_sweep.experiment.work.sums import ALL, figures_of
from scale_sweep.judge.figures.trial_facts import TrialFacts, facts_text
from scale_sweep.measure.trial.stored_rows import (
    NAMED_MAX,
    SHARE,
    ComparisonPlan,
    _comparison,
    _left_out,
    _tables_max,
    fits_together,
    next_tables,
)
from scale_sweep.model.loads import RowsSummed, TableSums
from scale_sweep.results.store.stored import bytes_max
from scale_sweep.server.targets import load_facts
from tests.unit.factories import make_sweep, make_trial

FACTS = replace(load_facts("postgres"), sums=ALL)
HOUR_S = 3600.0


def comparison_of(columns: int, held: int, rows: int = 10, spent_s: float = HOUR_S):
    """What may be compared of so many tables with rows, of a load with so many columns; and its figures."""
    trial = make_trial(make_sweep())
    work = replace(trial.work, data=replace(trial.work.data, columns=tuple(f"c{n}:double" for n in range(columns))))
    figures = figures_of(work.data, FACTS.sums)
    each = [rows, 0] * held  # every second table has no rows
    return _comparison(replace(trial, work=work), FACTS, each, spent_s, _tables_max(figures)), figures


def portions(comparison: ComparisonPlan, slower: float, fixed_s: float = 0.0) -> tuple[list[int], bool, float]:
    """How many tables each portion has, whether all together are compared too, and the seconds of all of it. The
    database is so many times slower than estimated, and takes fixed_s for each question."""
    sizes: list[int] = []
    spent_s = 0.0
    while tables := next_tables(comparison, sum(sizes), spent_s):
        asked = tables if len(tables) <= NAMED_MAX else range(len(comparison.rows))
        sizes.append(len(tables))
        spent_s += fixed_s + slower * sum(comparison.rows[table] for table in asked) / comparison.rows_per_s
    if is_together := fits_together(comparison, sum(sizes), spent_s):
        spent_s += fixed_s + slower * sum(comparison.rows) / comparison.rows_per_s
    return sizes, is_together, spent_s


@pytest.mark.parametrize("held", [1, 999, 1000])
def test_all_tables_with_rows_are_compared_up_to_a_thousand(held):
    comparison, _ = comparison_of(3, held)
    assert sorted(comparison.order) == list(range(0, 2 * held, 2)) and not comparison.has_more
    assert portions(comparison, 1.0)[:2] == ([held], False)
    assert _left_out(comparison, held, is_together=False) == ""


@pytest.mark.parametrize(("columns", "held", "drawn"), [(3, 1001, 200), (60, 1000, 200), (400, 1000, 99)])
def test_of_more_tables_or_figures_some_are_drawn_and_all_are_compared_together(columns, held, drawn, wording):
    comparison, _ = comparison_of(columns, held)
    assert len(set(comparison.order)) == drawn and not any(table % 2 for table in comparison.order)
    assert portions(comparison, 1.0, fixed_s=0.3)[:2] == ([drawn], True)
    wording(_left_out(comparison, drawn, is_together=True))
    assert comparison_of(columns, held)[0] == comparison  # by the trial's seed


def test_what_would_take_too_long_is_left_out_but_of_one_table(wording):
    comparison, _ = comparison_of(3, 1000, rows=100_000, spent_s=30.0)
    sizes, is_together, _ = portions(comparison, 1.0)
    assert 1 <= sum(sizes) < 200 and not is_together
    wording(_left_out(comparison, sum(sizes), is_together=False))
    one, _ = comparison_of(3, 1, rows=100_000_000, spent_s=30.0)
    assert portions(one, 1.0)[0] == [1]


@pytest.mark.parametrize("slower", [0.5, 1, 2, 4, 8])
@pytest.mark.parametrize("spent_s", [100, 200, 400, 800])
def test_however_slow_the_database_is_the_comparison_takes_no_more_than_its_part_of_the_trial(slower, spent_s):
    comparison, _ = comparison_of(3, 1000, rows=10_000, spent_s=spent_s)
    sizes, _, took_s = portions(comparison, slower, fixed_s=0.05)
    all_s = slower * sum(comparison.rows) / comparison.rows_per_s
    assert took_s <= SHARE * spent_s
    assert sum(sizes) == 1000 or took_s > 0.5 * SHARE * spent_s  # it uses the time that it has
    assert sum(sizes) == 1000 or all_s > 0.5 * SHARE * spent_s


@pytest.mark.parametrize("columns", [3, 50, 60, 99, 400, 4000])
def test_the_figures_of_the_tables_fit_into_the_facts(columns):
    comparison, figures = comparison_of(columns, 1000)
    longest = " ".join(["-1.2345678901234567e+100"] * len(figures))
    one = TableSums(table=999, name="d" * 32, right=longest, stored=longest, error=longest)
    tables = (one,) * (len(comparison.order) + comparison.has_more)
    text = facts_text(replace(TrialFacts(), summed=RowsSummed(figures=figures, tables=tables)), with_summary=False)
    assert len(text.encode()) <= bytes_max("facts.json")
