"""Computes aggregates of rows, and the sizes by which their errors are judged: of all rows, of each stretch of time, of
each group of devices, of each device. Pure. NULLs are in no aggregate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from runner.model import Query
from runner.work.columns import (
    DOUBLE_ERROR,
    FLOAT_ERROR,
    WHOLE_MAX,
    Array,
    Column,
    Right,
    TableRows,
    as_stored,
    computed,
    joined,
)


def aggregated(query: Query, parts: Sequence[TableRows]) -> Right:
    """Of the rows of all devices together: one row, or one for each stretch of time that has rows; a value of each
    column."""
    first, *others = (_of_column(replace(query, columns=(name,)), parts) for name in query.columns)
    return Right(columns=(*first.columns, *(column for right in others for column in right.columns[-1:])))


def aggregated_devices(query: Query, kept: Mapping[int, TableRows]) -> Right:
    """A row for each stretch of time of each device that has rows: ordered by time, then by device."""
    each = {device: found for device, rows in kept.items() if (found := aggregated(query, [rows]))}
    if not each:
        return Right()
    times, *values = (joined(columns) for columns in zip(*(found.columns for found in each.values()), strict=True))
    devices = np.repeat(np.array(list(each), dtype=np.int64), [len(found) for found in each.values()])
    order = np.lexsort((devices, -times.values if query.newest_first else times.values))
    return Right(columns=tuple(column.ordered(order) for column in (times, as_stored(devices), *values)))


def _of_column(query: Query, parts: Sequence[TableRows]) -> Right:
    if not parts:
        return _one(0) if query.function == "count" and not query.bucket_ms else Right()
    times, values = _known(query, parts)
    if not query.bucket_ms:
        if not len(times):
            return _one(0) if query.function == "count" else Right()
        return Right(columns=(_computed(values, [_value(query.function, times, values)]),))
    order = np.argsort(times, kind="stable")
    times, values = times[order], values[order]
    starts, firsts = np.unique(times // query.bucket_ms * query.bucket_ms, return_index=True)
    each = zip(np.split(times, firsts[1:]), np.split(values, firsts[1:]), strict=True)
    found = [_value(query.function, *part) for part in each] if len(times) else []
    if query.newest_first:
        starts, found = starts[::-1], found[::-1]
    return Right(columns=(as_stored(starts), _computed(values, found)))


def aggregated_groups(query: Query, groups: Mapping[int, Sequence[TableRows]]) -> Right:
    """A row for each group that has rows: the group and the aggregate."""
    if not groups:
        return Right()
    known = {group: _known(query, parts) for group, parts in groups.items()}
    found = {g: _value(query.function, *of) for g, of in known.items() if len(of[0]) or query.function == "count"}
    some = next(values for _, values in known.values())
    return Right(columns=(as_stored(np.array(list(found), dtype=np.int64)), _computed(some, list(found.values()))))


def _one(value: int) -> Right:
    return Right(columns=(computed([value], [0.0], 0.0),))


def _known(query: Query, parts: Sequence[TableRows]) -> tuple[Array, Array]:
    """The times and values of all parts, without NULLs."""
    times = np.concatenate([part.times for part in parts])
    values = np.concatenate([part.columns[query.columns[0]] for part in parts])
    kept = np.array([value is not None for value in values]) if values.dtype == object else ~np.isnan(values)
    return (times, values) if kept.all() else (times[kept], values[kept])


def _computed(values: Array, found: Sequence[tuple[Any, float]]) -> Column:
    """values: from which the aggregates were computed; their type decides the error."""
    error = FLOAT_ERROR if values.dtype == np.float32 else DOUBLE_ERROR
    return computed([value for value, _ in found], [size for _, size in found], error)


def _value(function: str, times: Array, values: Array) -> tuple[Any, float]:
    """The aggregate, and the size of the numbers from which it was computed; 0: it is exact."""
    if function == "count":
        return len(values), 0.0
    if function in ("first", "last"):
        return _single(values[np.argmin(times) if function == "first" else np.argmax(times)])
    if function in ("max", "min"):
        return _single(values.max() if function == "max" else values.min())
    is_whole = values.dtype.kind != "f"
    if function == "spread":
        high, low = _plain(values.max()), _plain(values.min())
        return high - low, abs(float(high)) + abs(float(low))
    wide = np.abs(values.astype(np.float64))
    if function == "avg":
        total = _whole_sum(values) if is_whole else float(values.astype(np.float64).sum())
        return total / len(values), float(wide.mean())
    size = float(wide.sum())
    if is_whole:
        return _whole_sum(values), size if size <= WHOLE_MAX else size * len(values)
    return float(values.astype(np.float64).sum()), size


def _single(value: Any) -> tuple[Any, float]:
    plain = _plain(value)
    return plain, abs(plain) if isinstance(plain, float) else 0.0


def _whole_sum(values: Array) -> int:
    """Exact, also beyond 64 bits: the upper and the lower halves are added apart."""
    if values.dtype == object:
        return sum(int(value) for value in values)
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
