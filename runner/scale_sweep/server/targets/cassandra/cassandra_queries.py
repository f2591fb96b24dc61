"""CQL: types, queries with placeholders, sums, tables. Types that are not here have none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work.sums import ALL, NS_PER_MS, column_types, figures_of
from scale_sweep.loadgen.verbs import Tables
from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import Query
from scale_sweep.server.targets.series import MEASUREMENT, in_parts, named
from scale_sweep.server.targets.sql_dialect import Dialect, listed, signed_types, where

TYPES = signed_types("boolean, tinyint, smallint, int, bigint, float, double, bigint, text")


def stored_tags(tags: Sequence[str]) -> dict[str, str]:
    split = ((name, kind.partition("(")[0]) for name, _, kind in (tag.partition(":") for tag in tags))
    return {name: TYPES[kind] for name, kind in split if kind in TYPES}


KEYSPACE = "scale"
TABLE = f"{KEYSPACE}.{MEASUREMENT}"
WITH_FRACTION = ("float", "double")
# In double precision: the mean of an int would be an int, and so the sum.
_AGGREGATES = {
    "count": "count({0})",
    "avg": "avg(CAST({0} AS double))",
    "sum": "sum(CAST({0} AS double))",
    "max": "max({0})",
    "min": "min({0})",
    "spread": "max(CAST({0} AS double)) - min(CAST({0} AS double))",
    "first": "{0}",
    "last": "{0}",
}
_CQL = Dialect(aggregates=_AGGREGATES, time="ts")
_OF_NOTHING_0 = re.compile(r"SELECT (avg|sum)\(CAST\(\S+ AS double\)\) FROM ")
_BOUND = re.compile(r'"(\w+)" [<>] \{value\}')


def rendered(query: Query, data: Workload, method: str) -> str:
    """One statement. Raises CannotAsk."""
    if query.text:
        return query.text
    if query.sets:
        raise CannotAsk(f"CQL has no {query.sets.upper()}")
    if query.by_tag:
        raise CannotAsk("CQL groups by the primary key only, and no tag is in it", remedy="aggregate_tag")
    kinds = column_types(data)
    whole = {column for column in kinds if kinds[column] not in WITH_FRACTION}
    query = replace(query, conditions=tuple(c.of_whole if c.column in whole else c for c in query.conditions))
    if query.is_below and query.bound_column in whole and not query.low == query.high == round(query.low):
        raise CannotAsk("CQL compares whole numbers with a whole number only", remedy="a bound without a fraction")
    if query.bucket_ms and query.devices != 1:
        remedy = "no bucket" if query.tag else "devices = 1"
        raise CannotAsk("CQL groups the rows of each device by themselves", remedy=remedy)
    chosen = _groups(query, data) if query.tag else _chosen(query)
    return f"SELECT {_cells(query)} FROM {TABLE}{where(chosen)}{_behind(query)}"


def bound_column(text: str) -> str:
    """That is compared with the drawn value; "" if there is none."""
    match = _BOUND.search(text)
    return match.group(1) if match else ""


def counting(text: str) -> str:
    """The statement that counts the rows of a mean or a sum, which is 0 without rows; "" for others."""
    return _OF_NOTHING_0.sub("SELECT count(ts) FROM ", text) if _OF_NOTHING_0.match(text) else ""


def _cells(query: Query) -> str:
    if query.function:
        value = _CQL.values(query)[0]
        return f"{_bucket(query)}, {value}" if query.bucket_ms else value
    return listed(("ts", *(("device",) if query.tells_device else ()), *_CQL.columns(query)))


def _bucket(query: Query) -> str:
    return f"floor(ts, {query.bucket_ms}ms)"


def _chosen(query: Query) -> list[str]:
    marks = listed(["{device}"] * query.devices)
    one = f"device = {marks}" if query.devices == 1 else f"device IN ({marks})"
    return [one, *_CQL.conditions(query)]


def _groups(query: Query, data: Workload) -> list[str]:
    tag, kind = _CQL.column.format(query.tag), stored_tags(data.tags)[query.tag]
    if query.groups <= 1:
        return [f"{tag} = {{value}}"] if query.groups else []
    return [f"{tag} >= {{value}}", f"{tag} < ({kind}){{value}} + {query.groups}"]


def _behind(query: Query) -> str:
    is_end = query.function in ("first", "last")
    newest = query.newest_first or query.latest or query.function == "last"
    group = f" GROUP BY {_bucket(query)}" if query.bucket_ms else ""
    is_sorted = newest or query.devices > 1 and not query.function
    order = f" ORDER BY ts {'DESC' if newest else 'ASC'}" if is_sorted else ""
    limit = " PER PARTITION LIMIT 1" if query.latest else " LIMIT 1" if is_end else ""
    return f"{group}{order}{limit}{' ALLOW FILTERING' if query.bound_column else ''}"


FIGURES_MAX = 30  # of one statement
_OF_ROWS = {"rows": "count(ts)", "first": "min(ts)", "last": "max(ts)", "times": "sum({since})"}
_OF_COLUMN = {
    "values": 'count("{name}")',
    "sum": 'sum(CAST("{name}" AS {added}))',
    "least": 'min("{name}")',
    "greatest": 'max("{name}")',
    "timed": 'sum(CAST("{name}" AS double) * ({since}))',
}
_AS_BIGINT = ("tinyint", "smallint", "int", "utinyint", "usmallint", "uint")


def statements(data: Workload, devices: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    """Figures, and the statement for them by device."""
    kinds = column_types(data)
    trues = {f"{name}.sum": name for name, kind in kinds.items() if kind == "bool"}
    names = [name for name in figures_of(data, ALL) if name not in trues]
    quoted = listed(f"'{device}'" for device in named(devices))
    chosen = [f"device IN ({quoted})"] if quoted else []
    for some in in_parts(names, FIGURES_MAX):
        yield some, _select([_expression(name, kinds, data) for name in some], chosen)
    for figure, name in trues.items():
        true = _select([f'count("{name}")'], [*chosen, f'"{name}" = true'])
        yield (figure,), f"{true} ALLOW FILTERING"


def figures_found(names: Sequence[str], row: Sequence[Any], data: Workload) -> dict[str, Any]:
    figures = dict(zip(names, row, strict=True))
    for name in ("first", "last"):
        if figures.get(name) is not None:
            figures[name] = (figures[name] - data.start_ms) * NS_PER_MS
    if figures.get("times") is not None:
        figures["times"] *= NS_PER_MS
    return figures


def _select(figures: Sequence[str], conditions: Sequence[str]) -> str:
    return f"SELECT device, {listed(figures)} FROM {TABLE}{where(conditions)} GROUP BY device"


def _expression(figure: str, kinds: Mapping[str, str], data: Workload) -> str:
    name, _, what = figure.rpartition(".")
    since = f"to_unix_timestamp(ts) - {data.start_ms}"
    if not name:
        return _OF_ROWS[what].format(since=since)
    return _OF_COLUMN[what].format(name=name, since=since, added="bigint" if kinds[name] in _AS_BIGINT else "double")


DEVICES = 500  # whose tags are written by one statement
_WHOLE = ("tinyint", "smallint", "int", "bigint")


def table(data: Workload) -> str:
    """A device is a partition, its rows ordered by time."""
    tags = "".join(f', "{name}" {kind} STATIC' for name, kind in stored_tags(data.tags).items())
    columns = "".join(f', "{name}" {TYPES[kind]}' for name, kind in column_types(data).items())
    return f"CREATE TABLE {TABLE} (device text, ts timestamp{tags}{columns}, PRIMARY KEY (device, ts))"


def indexes(data: Workload) -> Iterator[str]:
    """On each tag that can be a group."""
    for name, kind in stored_tags(data.tags).items():
        if kind in _WHOLE:
            yield f"CREATE INDEX ON {TABLE} (\"{name}\") USING 'sai'"


def tag_batches(tags: Sequence[str], tables: Tables) -> Iterator[str]:
    """The tags of all devices, many in each statement."""
    stored = stored_tags(tags)
    names = "".join(f', "{name}"' for name in stored)
    values = zip(*(tables.tags[name] for name in stored), strict=True)
    for part in in_parts(list(zip(tables.names, values, strict=True)), DEVICES):
        inserts = (
            f"INSERT INTO {TABLE} (device{names}) VALUES ('{device}', {_literals(stored.values(), cells)});"
            for device, cells in part
        )
        yield f"BEGIN UNLOGGED BATCH {' '.join(inserts)} APPLY BATCH"


def _literals(kinds: Iterable[str], cells: Sequence[str]) -> str:
    return ", ".join(
        "'{}'".format(cell.replace("'", "''")) if kind == "text" else cell
        for kind, cell in zip(kinds, cells, strict=True)
    )
