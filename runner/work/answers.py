"""Computes the right answer to a query from the rows that the load generator makes. Pure.

A row is a pure function of seed, table and number, so the answer is known without the database. Refuses to guess the
answer to a text of the user.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from runner.model import Cells, Drawn, Query, Work

Stretch = tuple[int, int, int]  # a range of rows: table, first row, number of rows


@dataclass(frozen=True, kw_only=True)
class TableRows:
    """Consecutive rows of one table. times: ms since 1970. columns: values by name, as they were sent."""

    times: np.ndarray[Any, Any]
    columns: Mapping[str, np.ndarray[Any, Any]]


def draws(query: Query, work: Work, count: int, seed: int) -> list[Drawn]:
    """`count` draws of the query's parameters: distinct devices, starts on multiples of the step, within the data and,
    if the query says so, within its newest part."""
    data, chance = work.data, random.Random(seed)
    step = query.step_ms or data.step_ms
    whole = work.rows_present * data.step_ms
    width = query.span_ms if query.when == "range" else data.step_ms
    last = max(0, whole - width) // step
    first = max(0, -(-(whole - query.recent_ms) // step)) if query.recent_ms else 0
    found = []
    for _ in range(count):
        start = data.start_ms + step * chance.randint(min(first, last), last)
        found.append(
            Drawn(
                devices=tuple(chance.sample(range(data.tables), query.devices)),
                from_ms=start,
                to_ms=start + width,
                value=float(chance.randint(round(query.low), round(query.high)))
                if query.tag
                else chance.uniform(query.low, query.high),
            )
        )
    return found


def with_groups(query: Query, drawn: Drawn, group_of: Sequence[int]) -> Drawn:
    """The draw with the devices of its groups, if it draws groups. group_of: the group of each device."""
    if not query.tag:
        return drawn
    first, count = round(drawn.value), query.groups
    devices = [d for d, group in enumerate(group_of) if not count or first <= group < first + count]
    return replace(drawn, devices=tuple(devices), groups=tuple(group_of[device] for device in devices))


def stretches(query: Query, drawn: Drawn, work: Work) -> list[Stretch]:
    """The rows on which the answer depends."""
    if query.latest:
        return [(device, work.rows_present - 1, 1) for device in drawn.devices]
    if query.when == "always":
        return [(device, 0, work.rows_present) for device in drawn.devices]
    data = work.data
    first = max(0, -(-(drawn.from_ms - data.start_ms) // data.step_ms))
    end = max(first, min(work.rows_present, -(-(drawn.to_ms - data.start_ms) // data.step_ms)))
    return [(device, first, end - first) for device in drawn.devices]


def grows(query: Query) -> bool:
    """Whether rows that are written during the load add rows to the answer. Of other queries the number of rows stays:
    they ask for times before the load, for one row of each device or group, or for one aggregate."""
    is_aggregate = bool(query.function) and not query.bucket_ms
    return query.when == "always" and not (query.latest or query.by_tag or is_aggregate)


def right_answer(query: Query, drawn: Drawn, held: Mapping[int, TableRows]) -> list[Cells]:
    """The rows of the answer, in order; several devices at one time in the order of the devices. held: each device's
    rows."""
    kept = {device: _in_set(query, drawn, _above(query, drawn, held[device])) for device in drawn.devices}
    if query.by_tag:
        return [(group, *row) for group, parts in _by_group(drawn, kept).items() for row in _aggregated(query, parts)]
    if query.function:
        return _aggregated(query, list(kept.values()))
    rows = [
        (int(time), *((device,) if query.tells_device else ()), *(_plain(rows.columns[c][i]) for c in query.columns))
        for device, rows in kept.items()
        for i, time in enumerate(rows.times)
    ]
    sign = -1 if query.newest_first else 1
    return sorted(rows, key=lambda row: (sign * row[0], row[1] if query.tells_device else 0))


def _by_group(drawn: Drawn, kept: Mapping[int, TableRows]) -> dict[int, list[TableRows]]:
    """Of each group in order, its devices' rows."""
    found: dict[int, list[TableRows]] = {}
    for group, device in sorted(zip(drawn.groups, drawn.devices, strict=True)):
        found.setdefault(group, []).append(kept[device])
    return found


def _in_set(query: Query, drawn: Drawn, rows: TableRows) -> TableRows:
    if not query.sets:
        return rows
    one, other = rows.times < drawn.to_ms - query.third_ms, rows.times >= drawn.from_ms + query.third_ms
    kept = {"union": one | other, "intersect": one & other, "except": one & ~other}[query.sets]
    return TableRows(times=rows.times[kept], columns={name: values[kept] for name, values in rows.columns.items()})


def is_undecided(query: Query, drawn: Drawn, held: Mapping[int, TableRows]) -> bool:
    """Whether a value is so near the bound that the types in which it is stored and sent decide on which side it is."""
    columns = [rows.columns[query.bound_column] for rows in held.values()] if query.bound_column else []
    return any(np.isclose(column.astype(float), drawn.value, rtol=BOUND_ERROR, atol=0).any() for column in columns)


def _above(query: Query, drawn: Drawn, rows: TableRows) -> TableRows:
    if not query.bound_column:
        return rows
    with np.errstate(invalid="ignore"):
        kept = rows.columns[query.bound_column].astype(float) > drawn.value
    return TableRows(times=rows.times[kept], columns={name: values[kept] for name, values in rows.columns.items()})


def _aggregated(query: Query, parts: Sequence[TableRows]) -> list[Cells]:
    if not parts:
        return [(0,)] if query.function == "count" and not query.bucket_ms else []
    times = np.concatenate([part.times for part in parts])
    values = np.concatenate([part.columns[query.columns[0]] for part in parts])
    if not query.bucket_ms:
        if not len(times) and query.function != "count":
            return []
        return [(_value(query.function, times, values),)]
    buckets = times // query.bucket_ms * query.bucket_ms
    found: list[Cells] = [
        (int(bucket), _value(query.function, times[buckets == bucket], values[buckets == bucket]))
        for bucket in np.unique(buckets)
    ]
    return found[::-1] if query.newest_first else found


def _value(function: str, times: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> Any:
    if function == "count":
        return len(values)
    if function in ("first", "last"):
        return _plain(values[np.argmin(times) if function == "first" else np.argmax(times)])
    wide = values.astype(float)
    if function == "avg":
        return float(wide.mean())
    if function == "sum":
        return float(wide.sum())
    high, low = float(wide.max()), float(wide.min())
    return {"max": high, "min": low, "spread": high - low}[function]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


BOUND_ERROR = 2.5e-7  # relative: two steps of a float's 24 bits
FLOAT_ERROR = 1e-5  # relative: the error of a float's 24 bits, and of sums in another order


def difference(query: Query, right: Sequence[Cells], came: Sequence[Cells]) -> str:
    """What is wrong with an answer, in a few words; "" if nothing is. Times, counts and whole numbers must be equal,
    other values within the error of their type. An aggregate of no rows may be no row, or an empty one."""
    if is_nothing(query, right):
        nothing = (None, 0) if query.function == "count" else (None,)
        came, right = [row for row in came if any(cell not in nothing for cell in row)], []
    if len(came) != len(right):
        return f"{len(came):,} rows came, {len(right):,} are right"
    has_time = not query.function or query.bucket_ms > 0
    times = [row[0] for row in came]
    if has_time and not _is_ordered(times, newest_first=query.newest_first, free=query.is_unordered):
        return f"the rows are not ordered by time, {'newest' if query.newest_first else 'oldest'} first"
    if query.tells_device:
        sign = -1 if query.newest_first else 1
        came = sorted(came, key=lambda row: (sign * row[0], row[1]))
    for number, (one, other) in enumerate(zip(right, came, strict=True), 1):
        if len(one) != len(other) or not all(_same(a, b) for a, b in zip(one, other, strict=True)):
            return f"row {number} of {len(right):,} is {_words(other)}, right is {_words(one)}"
    return ""


def is_nothing(query: Query, right: Sequence[Cells]) -> bool:
    """Whether it is an aggregate of no rows, a count of them included: some databases answer it by no row, others by
    one that holds nothing."""
    return bool(query.function) and not query.bucket_ms and (not right or right == [(0,)] and query.function == "count")


def _is_ordered(times: Sequence[int], *, newest_first: bool, free: bool) -> bool:
    sign = -1 if newest_first else 1
    return free or all(sign * a <= sign * b for a, b in zip(times, times[1:], strict=False))


def _same(right: Any, came: Any) -> bool:
    if right is None or came is None:
        return right is came
    if isinstance(right, float) or isinstance(came, float):
        return abs(float(right) - float(came)) <= FLOAT_ERROR * max(1.0, abs(float(right)))
    return bool(right == came)


def _words(row: Cells) -> str:
    return "(" + ", ".join(f"{c:.9g}" if isinstance(c, float) else str(c) for c in row) + ")"
