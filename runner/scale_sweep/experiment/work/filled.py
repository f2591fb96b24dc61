"""Gives rows to the stretches of a range that have none: NULL, the value of the previous stretch, or one on the line
between the previous and the next one."""

from __future__ import annotations

import numpy as np

from scale_sweep.experiment.work.columns import Array, ColumnValues, Right, as_stored
from scale_sweep.model import Drawn, Query

STRETCHES_MAX = 100_000  # of one range


def filled(query: Query, drawn: Drawn, right: Right) -> Right:
    """A row for each stretch of the range. right: those that have rows; none, if there are no rows."""
    width = query.bucket_ms
    starts = np.arange(drawn.from_ms // width * width, drawn.to_ms, width)
    known = np.zeros(0, dtype=np.int64) if not right else (right.columns[0].values - starts[0]) // width
    order = np.argsort(known)  # the oldest first
    values = [column.ordered(order) for column in right.columns[1:]] or [as_stored(np.zeros(0))] * len(query.values)
    places = np.arange(len(starts))
    older = np.searchsorted(known[order], places, side="right") - 1  # the last stretch with rows up to each
    columns = (as_stored(starts), *(_filled(query, column, known[order], older) for column in values))
    is_outside = (older < 0) | (places > known.max(initial=-1))
    whole = Right(columns=columns, optional=is_outside)
    return whole.ordered(places[::-1]) if query.newest_first else whole


def _filled(query: Query, column: ColumnValues, known: Array, older: Array) -> ColumnValues:
    places = np.arange(len(older))
    is_known = np.isin(places, known)
    if query.fill == "linear":
        return _on_lines(column, known, places)
    has_value = (older >= 0) & (is_known | (query.fill == "previous"))
    return _taken(column, older, has_value)


def _taken(column: ColumnValues, numbers: Array, has_value: Array) -> ColumnValues:
    """The values of these numbers, and NULL where there is none."""
    sizes = None if column.sizes is None else np.zeros(len(numbers))
    if sizes is not None and column.sizes is not None:
        sizes[has_value] = column.sizes[numbers[has_value]]
    if column.values.dtype.kind == "f":
        values = np.full(len(numbers), np.nan)
    else:
        values = np.full(len(numbers), None, dtype=object)
    values[has_value] = column.values[numbers[has_value]]
    return ColumnValues(values=values, error=column.error, sizes=sizes)


def _on_lines(column: ColumnValues, known: Array, places: Array) -> ColumnValues:
    if not len(known):
        return ColumnValues(values=np.full(len(places), np.nan))
    values = np.interp(places, known, column.values, left=np.nan, right=np.nan)
    sizes = np.abs(column.values) if column.sizes is None else column.sizes
    next_known = np.minimum(np.searchsorted(known, places), len(known) - 1)
    last_known = np.maximum(np.searchsorted(known, places, side="right") - 1, 0)
    return ColumnValues(values=values, error=column.error, sizes=np.maximum(sizes[next_known], sizes[last_known]))
