"""Computes the right answer to a query from the rows that the load generator makes."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from scale_sweep.experiment.work.aggregated import aggregated, aggregated_each, aggregated_groups
from scale_sweep.experiment.work.columns import Array, Right, TableRows, as_stored, has_null, misplaced, ranked, rows_of
from scale_sweep.experiment.work.drawn import walked
from scale_sweep.model.declared import Work
from scale_sweep.model.questions import COUNTS, Cells, Condition, Drawn, Query

Stretch = tuple[int, int, int]  # a range of rows: table, first row, number of rows


def draws(query: Query, work: Work, count: int, seed: int, place: int = 0) -> list[Drawn]:
    """Parameters of `count` queries. Devices follow a place in their order, so that consecutive places ask for all."""
    data, chance = work.data, random.Random(f"{seed}/{place}")
    devices = walked(data.tables, seed, place, count * query.devices)
    step = query.step_ms or data.step_ms
    whole = work.rows_present * data.step_ms
    width = query.span_ms if query.when in ("range", "before") else data.step_ms
    last = max(0, whole - width) // step
    first = max(0, -(-(whole - query.recent_ms) // step)) if query.recent_ms else 0
    drawn = []
    for number in range(count):
        start = data.start_ms + step * chance.randint(min(first, last), last)
        drawn.append(
            Drawn(
                devices=devices[number * query.devices : (number + 1) * query.devices],
                from_ms=start,
                to_ms=start + width,
                value=float(chance.randint(round(query.low), round(query.high)))
                if query.tag
                else chance.uniform(query.low, query.high),
            )
        )
    return drawn


def with_groups(query: Query, drawn: Drawn, group_of: Sequence[Any]) -> Drawn:
    """Adds all devices, or those of the drawn groups. group_of: of each device, a number or the value of a tag."""
    if query.each_tag:
        return replace(drawn, devices=tuple(range(len(group_of))), groups=tuple(group_of))
    if not query.tag:
        return drawn if query.devices else replace(drawn, devices=tuple(range(len(group_of))))
    first, count = round(drawn.value), query.groups
    devices = [d for d, group in enumerate(group_of) if not count or first <= group < first + count]
    return replace(drawn, devices=tuple(devices), groups=tuple(group_of[device] for device in devices))


def only(drawn: Drawn, kept: Collection[int]) -> Drawn:
    places = [place for place, device in enumerate(drawn.devices) if device in kept]
    groups = tuple(drawn.groups[place] for place in places) if drawn.groups else ()
    return replace(drawn, devices=tuple(drawn.devices[place] for place in places), groups=groups)


def stretches(query: Query, drawn: Drawn, work: Work) -> list[Stretch]:
    """On which the answer depends."""
    if query.latest:
        return [(device, work.rows_present - 1, 1) for device in drawn.devices]
    if query.when == "always":
        return [(device, 0, work.rows_present) for device in drawn.devices]
    data = work.data
    first = max(0, -(-(_oldest_ms(query, drawn, data.step_ms) - data.start_ms) // data.step_ms))
    end = max(first, min(work.rows_present, -(-(drawn.to_ms - data.start_ms) // data.step_ms)))
    return [(device, first, end - first) for device in drawn.devices]


def _oldest_ms(query: Query, drawn: Drawn, step_ms: int) -> int:
    """No older row is in the answer. Each of the newest stretches before a time has a row."""
    if query.when != "before":
        return drawn.from_ms
    apart = max(query.bucket_ms, -(-step_ms // query.bucket_ms) * query.bucket_ms)
    return (drawn.to_ms - 1) // query.bucket_ms * query.bucket_ms - query.limit * apart


def grows(query: Query) -> bool:
    """Whether rows of the load itself add rows to the answer."""
    is_aggregate = bool(query.function) and not query.bucket_ms
    return query.when == "always" and not (query.latest or query.by_tag or is_aggregate)


def known_answer(query: Query, drawn: Drawn, held: Mapping[int, TableRows]) -> Right | None:
    """None if several are right: a value is too near a bound, or NULL where it orders the rows."""
    if is_undecided(query, drawn, held):
        return None
    right = right_answer(query, drawn, held)
    return None if has_null(query, right) else right


def right_answer(query: Query, drawn: Drawn, held: Mapping[int, TableRows]) -> Right:
    """In order; devices at one time in their order."""
    rows_of_device = {device: _in_set(query, drawn, passed(query, drawn, held[device])) for device in drawn.devices}
    if query.by_tag:
        return aggregated_groups(query, _by_group(drawn, rows_of_device))
    if query.is_grouped:
        each = (
            _by_group(drawn, rows_of_device)
            if query.each_tag
            else {device: [rows] for device, rows in rows_of_device.items()}
        )
        right = aggregated_each(query, drawn, each)
        return ranked(query, right) if query.is_ranked else right
    if query.function:
        right = aggregated(query, drawn, list(rows_of_device.values()))
        return right.first(query.limit) if query.limit else right
    if not rows_of_device:
        return Right()
    times = np.concatenate([rows.times for rows in rows_of_device.values()])
    devices = np.repeat(
        np.array(list(rows_of_device), dtype=np.int64), [len(rows.times) for rows in rows_of_device.values()]
    )
    order = np.lexsort((devices, -times if query.newest_first else times))
    cells = [as_stored(times[order]), *((as_stored(devices[order]),) if query.tells_device else ())]
    for name in query.columns:
        cells.append(as_stored(np.concatenate([rows.columns[name] for rows in rows_of_device.values()])[order]))
    right = Right(columns=tuple(cells))
    return ranked(query, right) if query.is_ranked else right


def _by_group(drawn: Drawn, kept: Mapping[int, TableRows]) -> dict[Any, list[TableRows]]:
    rows_of_group: dict[Any, list[TableRows]] = {}
    for group, device in sorted(zip(drawn.groups, drawn.devices, strict=True)):
        rows_of_group.setdefault(group, []).append(kept[device])
    return rows_of_group


def _in_set(query: Query, drawn: Drawn, rows: TableRows) -> TableRows:
    if not query.sets:
        return rows
    one, other = rows.times < drawn.to_ms - query.third_ms, rows.times >= drawn.from_ms + query.third_ms
    return kept(rows, {"union": one | other, "intersect": one & other, "except": one & ~other}[query.sets])


def difference(query: Query, right: Right, came: Sequence[Cells]) -> str:
    """The mistake in an answer. Whole numbers must be equal, fractions within the error of their type. An aggregate of
    no rows may be no row, or an empty one. Optional rows may be missing."""
    if is_nothing(query, right):
        came, right = [row for row in came if not _holds_nothing(query, row)], Right()
    if right.optional is not None:
        right = _without_missing(query, right, came)
    if len(came) != rows_of(query, right):
        return f"{len(came):,} rows came, {rows_of(query, right):,} are right"
    if query.is_ranked:
        why, right = misplaced(query, right, came)
        if why:
            return why
    elif query.has_time and not _is_ordered([row[0] for row in came], query):
        return f"the rows are not ordered by time, {'newest' if query.newest_first else 'oldest'} first"
    elif query.tells_device or query.each_tag:
        came = sorted(came, key=partial(_place_of, query))
    number = _first_difference(right, came)
    if number is None:
        return ""
    return f"row {number + 1} of {len(right):,} is {_words(came[number])}, right is {_words(right.row(number))}"


def _without_missing(query: Query, right: Right, came: Sequence[Cells]) -> Right:
    keys = {tuple(row[: query.keys]) for row in came}
    wanted = [number for number in range(len(right)) if right.row(number)[: query.keys] in keys]
    needed = np.ones(len(right), dtype=bool) if right.optional is None else ~right.optional
    needed[wanted] = True
    return right.ordered(np.flatnonzero(needed))


def _place_of(query: Query, row: Cells) -> Cells:
    if not query.has_time:
        return row[: query.keys]
    return (-row[0] if query.newest_first else row[0], *row[1 : query.keys])


def _first_difference(right: Right, came: Sequence[Cells]) -> int | None:
    odd = next((number for number, row in enumerate(came) if len(row) != len(right.columns)), None)
    if odd is not None:
        return odd
    differing = [
        column.first_difference(cells) for column, cells in zip(right.columns, zip(*came, strict=True), strict=False)
    ]
    return min((number for number in differing if number is not None), default=None)


def is_nothing(query: Query, right: Right) -> bool:
    """Some databases answer an aggregate of no rows by no row, others by an empty one."""
    is_count_0 = query.counts and len(right) == 1 and _holds_nothing(query, right.row(0))
    return bool(query.function) and not query.bucket_ms and (not right or is_count_0)


def _holds_nothing(query: Query, row: Cells) -> bool:
    kinds = cycle(query.functions)
    return all(cell is None or cell == 0 and function in COUNTS for cell, function in zip(row, kinds, strict=False))


def _is_ordered(times: Sequence[int], query: Query) -> bool:
    if query.is_unordered:
        return True
    later = times[1:]
    return all(a >= b if query.newest_first else a <= b for a, b in zip(times, later, strict=False))


def _words(row: Cells) -> str:
    return "(" + ", ".join(f"{c:.9g}" if isinstance(c, float) else str(c) for c in row) + ")"


BOUND_ERROR = 2.5e-7  # relative: two steps of a float's 24 bits
FLOAT_WHOLE_MAX = 2**24  # a float holds every whole number up to it


def passed(query: Query, drawn: Drawn, rows: TableRows) -> TableRows:
    return kept(rows, _mask(query, drawn, rows)) if query.compared(drawn.value) else rows


def kept(rows: TableRows, mask: Array) -> TableRows:
    return TableRows(times=rows.times[mask], columns={name: values[mask] for name, values in rows.columns.items()})


def counted(query: Query, drawn: Drawn, held: Mapping[int, TableRows]) -> tuple[int, int]:
    """Rows that are compared with bounds, and those within."""
    if not query.compared(drawn.value):
        return 0, 0
    masks = [_mask(query, drawn, held[device]) for device in drawn.devices]
    return sum(map(len, masks)), sum(int(np.count_nonzero(mask)) for mask in masks)


def is_undecided(query: Query, drawn: Drawn, held: Mapping[int, TableRows]) -> bool:
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
    """A whole number that a float holds is on one side of such a bound in all types."""
    if column.dtype.kind in "iu" and bound.is_integer() and abs(bound) < FLOAT_WHOLE_MAX:
        return False
    return bool(np.isclose(column.astype(float), bound, rtol=BOUND_ERROR, atol=0).any())
