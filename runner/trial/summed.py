"""Compares the stored rows with those that were sent: the database's sums of each table with the load generator's.

Refuses to guess which rows are stored: after a failed request nobody knows, and then nothing is compared.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from runner.loadgen.rows import tables_of
from runner.loadgen.sums import TableRun, sums_of
from runner.model import Counted, LoadSummary, RowsSummed, Trial
from runner.targets import Facts
from runner.trial.asking import asked, count_s
from runner.trial.order import TrialOrder
from runner.trial.provision import Reached
from runner.work import stores
from runner.work.sums import UNREADABLE, Right, figures_of, right_figures, steps_ns, table_sums

TABLES_MAX = 1000  # compared one by one; of more, DRAWN are, and all together
DRAWN = 200
FIGURES_MAX = 200_000  # of the tables compared one by one: 75 bytes each at most, of the 16 MB of facts.json
SHARE = 0.1  # of the time since the trial began; what would take longer is left out
LEAST_S = 2.0
NAMES_S = 300.0
TOGETHER = ""  # the name of all tables together


def rows_summed(
    order: TrialOrder,
    reached: Reached,
    facts: Facts,
    spec: Mapping[str, str],
    summary: LoadSummary | None,
    counted: Counted | None,
    spent_s: float,
) -> RowsSummed | None:
    """The stored rows beside those that were sent; None if nothing was written, or the database computes no sums.

    spent_s: the time of the trial so far, which bounds that of the comparison. Raises LoadError or TargetError.
    """
    trial, begun = order.trial, time.monotonic()
    if summary is None or not trial.load.is_ours or not stores(trial.work) or not facts.sums:
        return None
    tables = trial.work.data.tables
    if why := _unknown(trial, summary):
        return RowsSummed(of_tables=tables, note=why)
    rows = _rows_by_table(summary.table_rows or (), tables)
    figures = figures_of(trial.work.data, facts.sums)
    chosen = _chosen(trial, facts, rows, spent_s, _tables_max(figures))
    groups: list[Sequence[TableRun]] = [[(table, 1, rows[table])] for table in chosen.tables]
    if chosen.is_together:
        groups.append(summary.table_rows or ())
    decimal = trial.subject.method in facts.decimal_methods
    distinct = counted is not None and counted.is_distinct
    right = sums_of(order.program, spec, groups, decimal=decimal, distinct=distinct)
    names = asked(reached, lambda: tables_of(order.program, spec, reached.address.secret), NAMES_S).names
    keys = [names[table] for table in chosen.tables]
    limit_s = count_s(sum(rows))
    stored = dict(_stored(reached, keys, keys, figures, limit_s)) if keys else {}
    if chosen.is_together:
        stored |= _stored(reached, (), (TOGETHER,), figures, limit_s)
    whose = [*zip(chosen.tables, keys, strict=True), *([(None, TOGETHER)] if chosen.is_together else [])]
    return RowsSummed(
        figures=figures,
        tables=tuple(
            table_sums(table, key, figures, _right(trial, facts, line, group), stored.get(key, {}))
            for (table, key), line, group in zip(whose, right, groups, strict=True)
        ),
        of_tables=tables,
        rows=sum(rows) if chosen.is_together else sum(rows[table] for table in chosen.tables),
        note=chosen.note,
        seconds=time.monotonic() - begun,
    )


def _stored(
    reached: Reached, devices: Sequence[str], keys: Sequence[str], figures: Sequence[str], limit_s: float
) -> Mapping[str, Mapping[str, Any]]:
    """The database's sums, by key. From an answer that holds something else, no figure is a number."""
    try:
        return asked(reached, partial(reached.session.sums, devices), limit_s)
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return {key: dict.fromkeys(figures, UNREADABLE) for key in keys}


def _right(trial: Trial, facts: Facts, line: Mapping[str, Any], group: Sequence[TableRun]) -> Right:
    steps = steps_ns(trial.work.data, group)
    return right_figures(line, steps=steps, in_doubles=facts.sums_in_doubles, share=facts.sums_share)


@dataclass(frozen=True, kw_only=True)
class _Chosen:
    """tables: compared one by one. is_together: all tables together, too. note: what was left out and why."""

    tables: Sequence[int]
    is_together: bool = False
    note: str = ""


def _unknown(trial: Trial, summary: LoadSummary) -> str:
    """Why it is not known which rows are stored; "" if it is."""
    work = trial.work
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
    """The number of tables whose figures facts.json can keep."""
    return max(1, FIGURES_MAX // max(1, len(figures)))


def _chosen(trial: Trial, facts: Facts, rows: Sequence[int], spent_s: float, tables_max: int) -> _Chosen:
    """All tables; of very many, or where that would take too long, some that are drawn. tables_max: those whose figures
    facts.json can keep."""
    held = [table for table, count in enumerate(rows) if count]
    per_s = facts.sums_per_core_s * max(1.0, trial.cores or 1.0) / (len(trial.work.data.columns) + 1)
    most_s, all_s = max(LEAST_S, SHARE * spent_s), sum(rows) / per_s
    if all_s <= most_s and len(held) <= min(TABLES_MAX, tables_max):
        return _Chosen(tables=held)
    drawn = random.Random(f"{trial.seed} sums").sample(held, min(DRAWN, tables_max, len(held)))
    if all_s <= most_s:
        note = f"{len(drawn):,} of {len(held):,} tables were compared one by one, and all together"
        return _Chosen(tables=sorted(drawn), is_together=True, note=note)
    sums = [*itertools.accumulate(rows[table] for table in drawn)]
    fit = max(1, sum(so_far <= most_s * per_s for so_far in sums))
    note = (
        f"the rows of {fit:,} of {len(held):,} tables were compared: those of all would take about {all_s:.0f} s, "
        f"which is more than {SHARE:.0%} of the trial"
    )
    return _Chosen(tables=sorted(drawn[:fit]), note=note)
