"""Computes aggregates of rows: of all rows, of each stretch of time, of each group of devices, of each device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scale_sweep.experiment.work.columns import (
    DOUBLE_ERROR,
    FLOAT_ERROR,
    WHOLE_MAX,
    Array,
    ColumnValues,
    Right,
    TableRows,
    as_stored,
    computed,
    joined,
)
from scale_sweep.model.questions import COUNTS, Drawn, Query, percent_of

Known = tuple[Array, Array]  # times, and the values that are no NULL


def aggregated(query: Query, drawn: Drawn, parts: Sequence[TableRows]) -> Right:
    """One row, or one for each stretch of time that has rows."""
    form = _stretches if query.bucket_ms else _together
    first, *others = (form(query, column, parts) for column in query.columns)
    keys = 1 if query.bucket_ms else 0
    right = Right(columns=(*first.columns, *(column for right in others for column in right.columns[keys:])))
    return filled(query, drawn, right) if query.fill else right


def aggregated_each(query: Query, drawn: Drawn, groups: Mapping[Any, Sequence[TableRows]]) -> Right:
    """Ordered by time, then by the group: a device or the value of a tag."""
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
        of_nothing = (0 if function in COUNTS else None), 0.0
        values_and_sizes = [value_of(function, *of) if len(of[0]) else of_nothing for of in each]
        columns.append(
            computed([value for value, _ in values_and_sizes], [size for _, size in values_and_sizes], error)
        )
    return columns


# A standard deviation is computed from differences, which have the error of the values and not their own: a server that
# keeps 15 digits of a double, or the 24 bits of a float, changes each value by up to so much of it.
_DIGITS_15, _BITS_24 = 1e-14, 1.2e-7


def value_of(function: str, times: Array, values: Array) -> tuple[Any, float]:
    """The aggregate, and the size of the numbers from which it was computed; 0: exact. None: no value."""
    if function == "count":
        return len(values), 0.0
    if function == "count_distinct":
        return len(set(values) if values.dtype == object else np.unique(values)), 0.0
    if function in ("first", "last"):
        return _single(values[np.argmin(times) if function == "first" else np.argmax(times)])
    if function in ("max", "min"):
        return _single(values.max() if function == "max" else values.min())
    if function == "spread":
        high, low = _plain(values.max()), _plain(values.min())
        return high - low, abs(float(high)) + abs(float(low))
    if function == "rate":
        return _rate(times, values)
    if function in ("stddev", "stddev_samp"):
        return _deviation(values, less=int(function == "stddev_samp"))
    percent = percent_of(function)
    return _total(function, values) if percent is None else _percentile(values, percent)


def _total(function: str, values: Array) -> tuple[Any, float]:
    is_whole = values.dtype.kind != "f"
    wide = np.abs(values.astype(np.float64))
    if function == "avg":
        total = _whole_sum(values) if is_whole else float(values.astype(np.float64).sum())
        return total / len(values), float(wide.mean())
    size = float(wide.sum())
    if is_whole:
        return _whole_sum(values), size if size <= WHOLE_MAX else size * len(values)
    return float(values.astype(np.float64).sum()), size


def _percentile(values: Array, percent: int) -> tuple[float, float]:
    wide = np.sort(values.astype(np.float64))
    rank, rest = divmod(percent * (len(wide) - 1), 100)
    low, high = float(wide[rank]), float(wide[min(rank + 1, len(wide) - 1)])
    return low + (high - low) * rest / 100, max(abs(low), abs(high))


def _deviation(values: Array, less: int) -> tuple[float | None, float]:
    if len(values) <= less:
        return None, 0.0
    wide = values.astype(np.float64)
    deviation, is_float = float(wide.std(ddof=less)), values.dtype == np.float32
    part = _BITS_24 / FLOAT_ERROR if is_float else _DIGITS_15 / DOUBLE_ERROR
    return deviation, deviation + part * float(np.abs(wide).max())


def _rate(times: Array, values: Array) -> tuple[float | None, float]:
    oldest, newest = np.argmin(times), np.argmax(times)
    seconds = float(times[newest] - times[oldest]) / 1000
    if not seconds:
        return None, 0.0
    first, last = float(values[oldest]), float(values[newest])
    return (last - first) / seconds, (abs(first) + abs(last)) / seconds


def _single(value: Any) -> tuple[Any, float]:
    plain = _plain(value)
    return plain, abs(plain) if isinstance(plain, float) else 0.0


def _whole_sum(values: Array) -> int:
    if values.dtype == object:
        return sum(int(value) for value in values)
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


STRETCHES_MAX = 100_000  # of one range


def filled(query: Query, drawn: Drawn, right: Right) -> Right:
    """A row for each stretch of the range."""
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
