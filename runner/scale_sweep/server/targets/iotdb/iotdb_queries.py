"""Queries in IoTDB's SQL, with placeholders, answers as rows, and sums."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work.sums import ALL, NS_PER_MS, column_types, figures_of
from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import Cells, Query
from scale_sweep.server.targets.series import begins_with_bucket, in_parts, named
from scale_sweep.server.targets.sql_dialect import Dialect, descending, listed, where

_AGGREGATES = {
    "count": "count({0})",
    "avg": "avg({0})",
    "sum": "sum({0})",
    "max": "max_value({0})",
    "min": "min_value({0})",
    "spread": "max_value({0}) - min_value({0})",
    "first": "first_value({0})",
    "last": "last_value({0})",
    "stddev": "stddev_pop({0})",
    "stddev_samp": "stddev_samp({0})",
    "rate": "(last_value({0}) - first_value({0})) / (max_time({0}) - min_time({0})) * 1000",
    "max_time": "max_time({0})",
    "min_time": "min_time({0})",
}
_SQL = Dialect(aggregates=_AGGREGATES, time="time", column="{0}")
_FILLS = {"previous": "PREVIOUS", "linear": "LINEAR"}
_LATEST = "SELECT max_time("
_SELECTED = re.compile(r"SELECT (.*?) FROM ")


def rendered(query: Query, data: Workload, method: str) -> str:
    """One statement. Raises CannotAsk."""
    if query.text:
        return query.text
    if query.sets:
        raise CannotAsk(f"IoTDB has no {query.sets.upper()}")
    if query.tag:
        raise CannotAsk("IoTDB's devices have no tags here")
    kinds = column_types(data)
    whole = {column for column in kinds if kinds[column] not in ("float", "double")}
    query = replace(query, conditions=tuple(c.of_whole if c.column in whole else c for c in query.conditions))
    if whole.intersection(query.bounds) and not query.low == query.high == round(query.low):
        raise CannotAsk("IoTDB compares whole numbers with a whole number only", remedy="a bound without a fraction")
    devices = listed(["{device}"] * query.devices)
    many = query.devices > 1
    if query.function:
        return _aggregate(query, data, devices)
    order = " ORDER BY TIME" + descending(query) if query.newest_first or many else ""
    if query.latest and many:
        last = listed(f"last_value({column})" for column in query.columns)
        return f"{_LATEST}{query.columns[0]}), {last} FROM {devices} ALIGN BY DEVICE"
    behind = " ORDER BY TIME DESC LIMIT 1" if query.latest else f"{order}{' ALIGN BY DEVICE' if many else ''}"
    return f"SELECT {listed(query.columns)} FROM {devices}{where(_SQL.conditions(query))}{behind}"


def cells_of(text: str, rows: Sequence[Sequence[Any]], kinds: Mapping[str, str]) -> tuple[Cells, ...]:
    """kinds: of the columns, because a truth is a text in an answer."""
    if has_device_first(text):
        rows = times_first(rows)
    match = _SELECTED.match(text)
    names = [name.removeprefix("last_value(").rstrip(")") for name in match.group(1).split(", ")] if match else []
    are_true = [kinds.get(name) == "bool" for name in names if not name.startswith("max_time(")]
    return tuple(tuple(_true(cells, are_true)) for cells in rows)


def has_device_first(text: str) -> bool:
    """Whether a row begins with its device, and has its time in ms behind it."""
    return text.startswith(_LATEST)


def times_first(rows: Sequence[Sequence[Any]]) -> list[Cells]:
    return [(time, device, *values) for device, time, *values in rows]


def _true(cells: Sequence[Any], are_true: Sequence[bool]) -> list[Any]:
    ahead = len(cells) - len(are_true)
    flags = [False] * ahead + list(are_true)
    return [
        cell == "true" if is_true and cell is not None else cell for cell, is_true in zip(cells, flags, strict=True)
    ]


def _aggregate(query: Query, data: Workload, devices: str) -> str:
    if query.devices > 1 and not query.is_loose:
        raise CannotAsk("IoTDB aggregates each device by itself", remedy="devices = 1")
    selected = f"SELECT {listed(_SQL.values(query))} FROM {devices}"
    apart = " ALIGN BY DEVICE" if query.devices > 1 else ""
    if not query.bucket_ms:
        return f"{selected}{where(_SQL.conditions(query))}{apart}"
    if not query.is_loose and not begins_with_bucket(query, data):
        sentence = "IoTDB's stretches of time begin with the range, not with a multiple of their length"
        raise CannotAsk(sentence, remedy="step and span as multiples of bucket")
    stretches = f"([{{from}}, {{to}}), {query.bucket_ms}ms)"
    if query.fill == "previous" and query.newest_first:
        sentence = "IoTDB's FILL(PREVIOUS) takes the later value if the newest comes first"
        raise CannotAsk(sentence, remedy="kind = group_by_time")
    order = " ORDER BY TIME DESC" if query.newest_first else ""
    return f"{selected} GROUP BY {stretches}{_filled(query, data)}{order}{apart}"


def _filled(query: Query, data: Workload) -> str:
    if query.fill in _FILLS:
        return f" FILL({_FILLS[query.fill]})"
    can_be_empty = query.bucket_ms < data.step_ms and not query.is_loose
    return f" HAVING count({query.columns[0]}) > 0" if can_be_empty and not query.fill else ""


FIGURES_MAX = 30  # of one statement
_EXTREMES, _FLOAT = (".least", ".greatest"), struct.Struct("f")
_OF_COLUMN = {
    "values": "count({column})",
    "sum": "sum({number})",
    "least": "min_value({column})",
    "greatest": "max_value({column})",
    "timed": "sum({number} * (time - {start}))",
}
# There is no sum of times alone: each is added to 0 times a value of the first column that has a sum.
_OF_ROWS = {
    "rows": "count({column})",
    "first": "min_time({column})",
    "last": "max_time({column})",
    "times": "sum({number} * 0 + (time - {start}) / {step})",
}


def statements(data: Workload, devices: Sequence[str], database: str) -> Iterator[tuple[Sequence[str], str]]:
    """Figures, and the statement for them by device."""
    kinds = column_types(data)
    names = [name for name in figures_of(data, ALL) if name != "times" or _adding(data)]
    source = listed(named(devices)) or f"{database}.*"
    for some in in_parts(names, FIGURES_MAX):
        expressions = listed(_expression(name, kinds, data) for name in some)
        yield some, f"SELECT {expressions} FROM {source} ALIGN BY DEVICE"


def figures_found(names: Sequence[str], row: Sequence[Any], data: Workload) -> dict[str, Any]:
    """Times become ns since the first timestamp. A float came as 9 digits, which are exact."""
    figures, kinds = dict(zip(names, row, strict=True)), column_types(data)
    for name, value in figures.items():
        if value is not None and name in ("first", "last"):
            figures[name] = (int(value) - data.start_ms) * NS_PER_MS
        elif value is not None and name == "times":
            figures[name] = round(float(value) * data.step_ms * NS_PER_MS)
        elif value is not None and name.endswith(_EXTREMES) and kinds[name.rpartition(".")[0]] == "float":
            (figures[name],) = _FLOAT.unpack(_FLOAT.pack(float(value)))
    return figures


def _expression(figure: str, kinds: Mapping[str, str], data: Workload) -> str:
    name, _, what = figure.rpartition(".")
    column = name or _adding(data) or next(iter(kinds))
    number = f"CAST({column} AS INT32)" if kinds[column] == "bool" else column
    form = _OF_COLUMN[what] if name else _OF_ROWS[what]
    return form.format(column=column, number=number, start=data.start_ms, step=data.step_ms)


def _adding(data: Workload) -> str:
    """The first column that has a sum; "" if there is none."""
    return next(iter(figures_of(data, ("sum",))), "").removesuffix(".sum")
