"""Which rows meet the conditions of a query on their values, and when no answer can be judged by them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scale_sweep.experiment.work.columns import Array, TableRows
from scale_sweep.model import Condition, Drawn, Query

BOUND_ERROR = 2.5e-7  # relative: two steps of a float's 24 bits
FLOAT_WHOLE_MAX = 2**24  # a float holds every whole number up to it


def passed(query: Query, drawn: Drawn, rows: TableRows) -> TableRows:
    return kept(rows, _mask(query, drawn, rows)) if query.compared(drawn.value) else rows


def kept(rows: TableRows, mask: Array) -> TableRows:
    return TableRows(times=rows.times[mask], columns={name: values[mask] for name, values in rows.columns.items()})


def counted(query: Query, drawn: Drawn, held: Mapping[int, TableRows]) -> tuple[int, int]:
    """The number of rows that are compared with bounds, and of those within them. Without a bound, none are. held: each
    device's rows."""
    if not query.compared(drawn.value):
        return 0, 0
    masks = [_mask(query, drawn, held[device]) for device in drawn.devices]
    return sum(map(len, masks)), sum(int(np.count_nonzero(mask)) for mask in masks)


def is_undecided(query: Query, drawn: Drawn, held: Mapping[int, TableRows]) -> bool:
    """Whether a value is so near a bound that the types in which it is stored and sent decide on which side it is."""
    bounds = query.compared(drawn.value)
    return any(_is_near(rows.columns[one.column], one.value) for rows in held.values() for one in bounds)


def _mask(query: Query, drawn: Drawn, rows: TableRows) -> Array:
    met = [_meets(one, rows.columns[one.column]) for one in query.compared(drawn.value)]
    all_met: Array = np.logical_and.reduce(met)
    return all_met


def _meets(condition: Condition, column: Array) -> Array:
    """NULL meets none."""
    values = column.astype(float)
    with np.errstate(invalid="ignore"):
        met: Array = values > condition.value if condition.sign == ">" else values < condition.value
    return met


def _is_near(column: Array, bound: float) -> bool:
    """Whether a value may lie on the other side in another type. A whole number that a float holds lies on the same
    side of such a bound in all types."""
    if column.dtype.kind in "iu" and bound.is_integer() and abs(bound) < FLOAT_WHOLE_MAX:
        return False
    return bool(np.isclose(column.astype(float), bound, rtol=BOUND_ERROR, atol=0).any())
