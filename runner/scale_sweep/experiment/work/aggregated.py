"""Computes aggregates of rows: of all rows, of each stretch of time, of each group of devices, of each device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scale_sweep.experiment.work.columns import (
    DOUBLE_ERROR,
    FLOAT_ERROR,
    Array,
    ColumnValues,
    Right,
    TableRows,
    as_stored,
    computed,
    joined,
)
from scale_sweep.experiment.work.computing import value_of
from scale_sweep.experiment.work.filled import filled
from scale_sweep.model import Drawn, Query
from scale_sweep.model.questions import COUNTS

Known = tuple[Array, Array]  # times, and the values that are no NULL


def aggregated(query: Query, drawn: Drawn, parts: Sequence[TableRows]) -> Right:
    """The aggregates of the rows of all devices together: one row, or one for each stretch of time that has rows, or
    for each of the range if they are filled; a value of each column and function."""
    form = _stretches if query.bucket_ms else _together
    first, *others = (form(query, column, parts) for column in query.columns)
    keys = 1 if query.bucket_ms else 0
    right = Right(columns=(*first.columns, *(column for right in others for column in right.columns[keys:])))
    return filled(query, drawn, right) if query.fill else right


def aggregated_each(query: Query, drawn: Drawn, groups: Mapping[Any, Sequence[TableRows]]) -> Right:
    """A row for each group that has rows, or for each stretch of time of it: ordered by time, then by the group, which
    is a device or the value of a tag."""
    held = {group: parts for group, parts in sorted(groups.items()) if any(len(part.times) for part in parts)}
    each = {group: right for group, parts in held.items() if (right := aggregated(query, drawn, parts))}
    if not each:
        return Right()
    columns = [joined(columns) for columns in zip(*(right.columns for right in each.values()), strict=True)]
    optional = [right.optional for right in each.values() if right.optional is not None]
    places = np.repeat(np.arange(len(each)), [len(right) for right in each.values()])
    names = np.array(list(each), dtype=object if query.each_tag else np.int64)
    labels = as_stored(names[places])
    if not query.bucket_ms:
        return Right(columns=(labels, *columns))
    times, *values = columns
    order = np.lexsort((places, -times.values if query.newest_first else times.values))
    right = Right(columns=(times, labels, *values), optional=np.concatenate(optional) if optional else None)
    return right.ordered(order)


def aggregated_groups(query: Query, groups: Mapping[int, Sequence[TableRows]]) -> Right:
    if not groups:
        return Right()
    first, *others = (_groups(query, column, groups) for column in query.columns)
    return Right(columns=(*first.columns, *(column for right in others for column in right.columns[1:])))


def _groups(query: Query, column: str, groups: Mapping[int, Sequence[TableRows]]) -> Right:
    known = {group: _known(column, parts) for group, parts in groups.items()}
    known_of = {group: of for group, of in known.items() if len(of[0]) or query.counts}
    some = next(values for _, values in known.values())
    return Right(
        columns=(as_stored(np.array(list(known_of), np.int64)), *_computed(query, some, list(known_of.values())))
    )


def _together(query: Query, column: str, parts: Sequence[TableRows]) -> Right:
    known = _known(column, parts) if parts else (np.array([]), np.array([]))
    if len(known[0]) or query.counts:
        return Right(columns=tuple(_computed(query, known[1], [known])))
    return Right()


def _stretches(query: Query, column: str, parts: Sequence[TableRows]) -> Right:
    if not parts:
        return Right()
    times, values = _known(column, parts)
    order = np.argsort(times, kind="stable")
    times, values = times[order], values[order]
    starts, firsts = np.unique(times // query.bucket_ms * query.bucket_ms, return_index=True)
    each = list(zip(np.split(times, firsts[1:]), np.split(values, firsts[1:]), strict=True)) if len(times) else []
    if query.newest_first:
        starts, each = starts[::-1], each[::-1]
    return Right(columns=(as_stored(starts), *_computed(query, values, each)))


def _known(column: str, parts: Sequence[TableRows]) -> Known:
    times = np.concatenate([part.times for part in parts])
    values = np.concatenate([part.columns[column] for part in parts])
    kept = np.array([value is not None for value in values]) if values.dtype == object else ~np.isnan(values)
    return (times, values) if kept.all() else (times[kept], values[kept])


def _computed(query: Query, values: Array, each: Sequence[Known]) -> list[ColumnValues]:
    error = FLOAT_ERROR if values.dtype == np.float32 else DOUBLE_ERROR
    columns = []
    for function in query.functions:
        values_and_sizes = [value_of(function, *of) if len(of[0]) else _of_nothing(function) for of in each]
        columns.append(
            computed([value for value, _ in values_and_sizes], [size for _, size in values_and_sizes], error)
        )
    return columns


def _of_nothing(function: str) -> tuple[int | None, float]:
    return (0 if function in COUNTS else None), 0.0
