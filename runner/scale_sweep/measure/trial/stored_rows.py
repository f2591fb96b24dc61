"""Compares the stored rows with those that were sent: the database's sums of each table with the load generator's, in
portions that fit into a share of the trial's time."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from scale_sweep.experiment.work import stores
from scale_sweep.experiment.work.sums import (
    ALL,
    UNREADABLE,
    WRONG_MAX,
    RightFigures,
    column_types,
    differs,
    figures_of,
    right_figures,
    steps_ns,
    table_sums,
    wrong_tags,
)
from scale_sweep.loadgen.verbs import TableRun, Tables, sums_of, tables_of
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.waiting import ask, count_s
from scale_sweep.model.declared import Workload
from scale_sweep.model.loads import Counted, LoadSummary, RowsSummed, TableSums
from scale_sweep.model.planned import Trial
from scale_sweep.server.targets import Facts

TABLES_MAX = 1000  # whose figures are all kept
DRAWN = 200
FIGURES_MAX = 200_000  # 75 bytes each at most, of the 16 MB of facts.json
SHARE = 0.1  # of the trial's time so far
LEAST_S = 2.0
NAMES_S = 300.0
NO_TAGS = "tags: not compared"
EACH_MAX = 5_000_000  # of all tables, if they are compared one by one
TOGETHER = ""
NAMED_MAX = 200  # tables: for more, a database adds up all rows
FIRST_SHARE = 0.1  # of the time, by the estimate
SAFE_SHARE = 0.7  # of the time that is left, for each later portion
LEAST_SHARE = 0.1  # of the time: with less, nothing more is compared
FIXED_S = 0.2  # of the first portion, besides its rows


def rows_summed(
    order: TrialOrder,
    reached: Reached,
    facts: Facts,
    spec: Mapping[str, str],
    summary: LoadSummary | None,
    counted: Counted | None,
    spent_s: float,
) -> RowsSummed | None:
    """None if nothing was written, or is stored. spent_s: the trial's time bounds that of the comparison. Raises
    LoadError or TargetError."""
    trial, begun, results = order.trial, time.monotonic(), list[TableSums]()
    if summary is None or not trial.load.is_ours or not stores(trial.work):
        return None
    if facts.is_simulated or not facts.stores_rows:
        return None
    tables = trial.work.data.tables
    if why := _unknown(trial, facts, summary):
        return RowsSummed(of_tables=tables, note="; ".join([why, *([NO_TAGS] if _stores_tags(trial, facts) else [])]))
    rows = _rows_by_table(summary.table_rows or (), tables)
    figures = figures_of(trial.work.data, facts.sums)
    comparison = _comparison(trial, facts, rows, spent_s, _tables_max(figures))
    named = ask(reached, lambda: tables_of(order.program, spec, reached.address.secret), NAMES_S)
    limit_s = count_s(sum(rows))

    def compared(tables: Sequence[int]) -> Iterator[TableSums]:
        """Each table's; all together's, if there are none."""
        one_by_one: list[Sequence[TableRun]] = [[(table, 1, rows[table])] for table in tables]
        groups = one_by_one or [summary.table_rows or ()]
        decimal = trial.subject.method in facts.decimal_methods
        distinct = counted is not None and counted.is_distinct
        right = sums_of(order.program, spec, groups, decimal=decimal, distinct=distinct)
        devices = [named.names[table] for table in tables]
        stored = _stored(reached, devices, devices or (TOGETHER,), figures, limit_s)
        whose = zip(tables, devices, strict=True) if tables else [(None, TOGETHER)]
        for (table, key), line, group in zip(whose, right, groups, strict=True):
            yield table_sums(table, key, figures, _right(trial, facts, line, group), stored.get(key, {}))

    while some := next_tables(comparison, len(results), time.monotonic() - begun):
        results += compared(some)
    results.sort(key=lambda one: one.table or 0)
    took_s, done = time.monotonic() - begun, len(results)
    is_together = fits_together(comparison, done, took_s)
    if others := _others(comparison, len(figures)) if is_together else []:
        differing = (one for one in compared(others) if differs(figures, one))
        results += itertools.islice(differing, _tables_max(figures) - done)
    elif is_together:
        results += compared(())
    note = "" if others else _left_out(comparison, done, is_together=is_together)
    tags, wrong = _compared_tags(reached, named, rows, limit_s) if _stores_tags(trial, facts) else ("", ())
    return RowsSummed(
        figures=figures,
        tables=tuple(results),
        of_tables=tables,
        each=done + len(others) if others else 0,
        rows=sum(rows) if is_together else sum(rows[table] for table in comparison.order[:done]),
        note="; ".join(filter(None, [note, *_unseen(trial.work.data, facts), tags])),
        wrong_tags=wrong,
        seconds=time.monotonic() - begun,
    )


def _stores_tags(trial: Trial, facts: Facts) -> bool:
    has_some = facts.stores_tags or (facts.has_device_table and trial.work.counts_requests)
    return has_some and bool(trial.work.data.tags)


def _compared_tags(reached: Reached, named: Tables, rows: Sequence[int], limit_s: float) -> tuple[str, tuple[str, ...]]:
    right = {name: tags for name, count, *tags in zip(named.names, rows, *named.tags.values(), strict=True) if count}
    try:
        stored = ask(reached, partial(reached.session.stored_tags, list(named.tags)), limit_s)
        if stored is None:
            return NO_TAGS, ()
        return "", tuple(itertools.islice(wrong_tags(list(named.tags), right, stored), WRONG_MAX))
    except (ValueError, TypeError, LookupError) as error:  # not tags
        return "", (f"the stored tags cannot be read: {type(error).__name__}",)


def _others(comparison: ComparisonPlan, figures: int) -> Sequence[int]:
    """Not in the order, if the figures of all are few enough to compare them one by one."""
    held = {table for table, count in enumerate(comparison.rows) if count}
    return sorted(held - set(comparison.order)) if len(held) * figures <= EACH_MAX else []


def _unseen(data: Workload, facts: Facts) -> Iterator[str]:
    kinds = column_types(data)
    if texts := [name for name in kinds if f"{name}.sum" not in figures_of(data, ALL)]:
        yield f"values of {', '.join(texts)}: not compared, but which of them are NULL"
    if "timed" not in facts.sums and len(texts) < len(kinds):
        yield "values that change places within a device: not compared"


def _stored(
    reached: Reached, devices: Sequence[str], keys: Sequence[str], figures: Sequence[str], limit_s: float
) -> Mapping[str, Mapping[str, Any]]:

    try:
        return ask(reached, partial(reached.session.sums, devices), limit_s)
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return {key: dict.fromkeys(figures, UNREADABLE) for key in keys}


def _right(trial: Trial, facts: Facts, line: Mapping[str, Any], group: Sequence[TableRun]) -> RightFigures:
    steps = steps_ns(trial.work.data, group)
    return right_figures(line, steps=steps, in_doubles=facts.sums_in_doubles, share=facts.sums_share)


def _unknown(trial: Trial, facts: Facts, summary: LoadSummary) -> str:
    """Why rows cannot be compared; "" if they can."""
    work = trial.work
    if not facts.sums:
        return "values of rows: not compared"
    if not summary.is_answered:
        return "rows are not compared: the method has no answers, so that some may be missing"
    if summary.table_rows is None or sum(run[1] for run in summary.table_rows) != work.data.tables:
        return "rows are not compared: requests failed or had no answer, and it is not known which rows are stored"
    if work.preload_rows % work.data.tables or (work.preload_rows and work.data.disorder == "swap"):
        return "rows are not compared: some were written before the load and again by it"
    return ""


def _rows_by_table(runs: Sequence[TableRun], tables: int) -> list[int]:
    rows = [0] * tables
    for first, count, each in runs:
        rows[first : first + count] = [each] * count
    return rows


def _tables_max(figures: Sequence[str]) -> int:
    return max(1, FIGURES_MAX // max(1, len(figures)))


def _comparison(trial: Trial, facts: Facts, rows: Sequence[int], spent_s: float, tables_max: int) -> ComparisonPlan:
    """All tables one by one, or of very many some that are drawn. tables_max: of facts.json."""
    held = [table for table, count in enumerate(rows) if count]
    has_more = len(held) > min(TABLES_MAX, tables_max)
    some = min(DRAWN, tables_max) if has_more else len(held)
    return ComparisonPlan(
        order=random.Random(f"{trial.seed} sums {trial.order}").sample(held, some),
        rows=rows,
        has_more=has_more,
        rows_per_s=facts.sums_per_core_s * max(1.0, trial.cores or 1.0) / (len(trial.work.data.columns) + 1),
        most_s=max(LEAST_S, SHARE * spent_s),
    )


def _left_out(comparison: ComparisonPlan, done: int, *, is_together: bool) -> str:
    """After the first tables of the order (done); "" if all were compared."""
    held = sum(map(bool, comparison.rows))
    if is_together:
        each = f"{done:,} of {held:,} tables were compared one by one, and all together"
        return f"{each}; exchanged devices: not compared"
    if done == held:
        return ""
    return f"spot check: the rows of {done:,} of {held:,} tables were compared"


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    order: Sequence[int]  # as they are drawn
    rows: Sequence[int]  # of each table of the load
    has_more: bool  # all tables together are compared last
    rows_per_s: float  # an estimate
    most_s: float  # for all of it


def next_tables(comparison: ComparisonPlan, done: int, spent_s: float) -> Sequence[int]:
    """After the first ones of the order (done); empty if no more fit."""
    rest = comparison.order[done:]
    usable_s = _usable_s(comparison, done, spent_s)
    held = sum(comparison.rows[table] for table in rest) if len(rest) <= NAMED_MAX else sum(comparison.rows)
    if seconds(comparison, held, done, spent_s) <= usable_s:
        return rest
    sums = itertools.accumulate(comparison.rows[table] for table in rest[:NAMED_MAX])
    fit = sum(seconds(comparison, so_far, done, spent_s) <= usable_s for so_far in sums)
    return rest[: fit if done else max(1, fit)]


def fits_together(comparison: ComparisonPlan, done: int, spent_s: float) -> bool:
    if not comparison.has_more or done < len(comparison.order):
        return False
    return seconds(comparison, sum(comparison.rows), done, spent_s) <= _usable_s(comparison, done, spent_s)


def seconds(comparison: ComparisonPlan, rows: int, done: int, spent_s: float) -> float:
    """By the estimate, or longer if the first ones took longer."""
    estimated_s = sum(comparison.rows[table] for table in comparison.order[:done]) / comparison.rows_per_s
    slower = max(1.0, spent_s / (estimated_s + FIXED_S)) if done else 1.0
    return rows / comparison.rows_per_s * slower


def _usable_s(comparison: ComparisonPlan, done: int, spent_s: float) -> float:
    if not done:
        return FIRST_SHARE * comparison.most_s
    left_s = comparison.most_s - spent_s
    return SAFE_SHARE * left_s if left_s > LEAST_SHARE * comparison.most_s else 0.0
