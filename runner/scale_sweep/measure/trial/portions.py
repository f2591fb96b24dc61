"""In which portions the tables of a trial are compared with the rows that were sent, within a given time. Pure.

How fast a database adds its rows is an estimate until the first portion is compared, which is small. What follows it is
as much as fits, at the speed of what was compared. Refuses to leave out the first table, however long it takes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

NAMED_MAX = 200  # tables: a database adds up all of its rows for a question about more
FIRST = 0.1  # of the time is for the first portion, by the estimate
SAFE = 0.7  # of the time that is left is for each later one
LEAST = 0.1  # of the time: where less is left, nothing more is compared
FIXED_S = 0.2  # that the first portion may take besides its rows


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What may be compared.

    order: the tables to compare one by one, as they are drawn. rows: of each table of the load. has_more: tables that
    are not in the order have rows, so that all tables together are compared last. rows_per_s: the estimate. most_s: the
    time for all of it.
    """

    order: Sequence[int]
    rows: Sequence[int]
    has_more: bool
    rows_per_s: float
    most_s: float


def next_tables(comparison: Comparison, done: int, spent_s: float) -> Sequence[int]:
    """The tables to compare next, after the first ones of the order (done) in spent_s; empty if no more fit."""
    rest = comparison.order[done:]
    usable_s = _usable_s(comparison, done, spent_s)
    held = sum(comparison.rows[table] for table in rest) if len(rest) <= NAMED_MAX else sum(comparison.rows)
    if seconds(comparison, held, done, spent_s) <= usable_s:
        return rest
    sums = itertools.accumulate(comparison.rows[table] for table in rest[:NAMED_MAX])
    fit = sum(seconds(comparison, so_far, done, spent_s) <= usable_s for so_far in sums)
    return rest[: fit if done else max(1, fit)]


def fits_together(comparison: Comparison, done: int, spent_s: float) -> bool:
    """Whether all tables together are compared too, after the first ones of the order (done) in spent_s."""
    if not comparison.has_more or done < len(comparison.order):
        return False
    return seconds(comparison, sum(comparison.rows), done, spent_s) <= _usable_s(comparison, done, spent_s)


def seconds(comparison: Comparison, rows: int, done: int, spent_s: float) -> float:
    """How long a comparison of so many rows takes: by the estimate, or longer if that of the first ones did."""
    estimated_s = sum(comparison.rows[table] for table in comparison.order[:done]) / comparison.rows_per_s
    slower = max(1.0, spent_s / (estimated_s + FIXED_S)) if done else 1.0
    return rows / comparison.rows_per_s * slower


def _usable_s(comparison: Comparison, done: int, spent_s: float) -> float:
    if not done:
        return FIRST * comparison.most_s
    left_s = comparison.most_s - spent_s
    return SAFE * left_s if left_s > LEAST * comparison.most_s else 0.0
