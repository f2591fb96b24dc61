"""Answers that are the first rows in an order, or are ordered by a value: rows with equal values may come in any order,
and any of them may be the last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scale_sweep.experiment.work.columns import Array, Right
from scale_sweep.model import Cells, Query


def ranked(query: Query, right: Right) -> Right:
    """The rows in the order of the query: as many as are asked for, and those whose value equals that of the last. All
    rows as they are, if databases order them differently (`has_null`)."""
    if not right or has_null(query, right):
        return right
    column = right.columns[_place(query)]
    sign = -1 if _is_descending(query) else 1
    ordered = right.ordered(np.argsort(sign * _numbers(column.values), kind="stable"))
    if not query.limit or query.limit >= len(right):
        return ordered
    distances, slack = _beyond_last(query, ordered)
    return ordered.first(int(np.count_nonzero(distances <= slack)))


def has_null(query: Query, right: Right) -> bool:
    """Whether a value by which the rows are ordered is NULL: it is the first in some databases, the last in others, and
    in others the smallest or the largest."""
    return bool(query.is_ranked and right and np.isnan(right.columns[_place(query)].values.astype(np.float64)).any())


def rows_of(query: Query, right: Right) -> int:
    return min(query.limit, len(right)) if query.limit and query.is_ranked else len(right)


def misplaced(query: Query, right: Right, came: Sequence[Cells]) -> tuple[str, Right]:
    """The mistake in the order or the choice of the rows, in a few words, "" if there is none; and the right rows in
    the order in which they came. right: of `ranked`. came: as many rows as are right."""
    if not came:
        return "", right
    place = _place(query)
    values = [row[place] for row in came]
    what = query.by_value or "time"
    if None in values:
        return f"row {values.index(None) + 1} of {len(came):,} is NULL in {what}, by which the rows are ordered", right
    sign = -1 if _is_descending(query) else 1
    if any(sign * a > sign * b for a, b in zip(values, values[1:], strict=False)):
        return f"the rows are not ordered by {what}, {'largest' if sign < 0 else 'smallest'} first", right
    numbers = {right.row(number)[: query.keys]: number for number in range(len(right))}
    places = [numbers.get(tuple(row[: query.keys])) for row in came]
    chosen = [number for number in places if number is not None]
    if len(set(chosen)) < len(came):
        odd = next((n for n, number in enumerate(places) if number is None or number in places[:n]))
        return f"row {odd + 1} of {len(came):,} is not one of the first rows, or came before: {came[odd]}", right
    if query.limit and query.limit < len(right):
        distances, slack = _beyond_last(query, right)
        if missing := set(np.flatnonzero(distances < -slack).tolist()) - set(chosen):
            return f"a row is missing that comes before the last: {right.row(min(missing))}", right
    return "", right.ordered(np.array(chosen))


def _beyond_last(query: Query, ordered: Right) -> tuple[Array, float]:
    """How far each row's value is behind that of the last row that is asked for, and how far equal values may be apart:
    means are compared within the error of their type."""
    column = ordered.columns[_place(query)]
    last = _numbers(column.values)[query.limit - 1]
    sign = -1 if _is_descending(query) else 1
    size = abs(last) if column.sizes is None else float(column.sizes[query.limit - 1])
    computed = column.error * size if query.function else 0.0
    return sign * (_numbers(column.values) - last), 2 * computed


def _numbers(values: Array) -> Array:
    return values if values.dtype.kind in "if" else values.astype(np.float64)


def _place(query: Query) -> int:
    if not query.by_value:
        return 0
    return query.keys + (0 if query.function else query.columns.index(query.by_value))


def _is_descending(query: Query) -> bool:
    return query.largest_first if query.by_value else query.newest_first
