"""Queries in CQL, with marks where each request has values of its own."""

from __future__ import annotations

import re
from dataclasses import replace

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model import Query, Workload
from scale_sweep.server.targets.cassandra.types import stored_tags
from scale_sweep.server.targets.series import MEASUREMENT, columns_of
from scale_sweep.server.targets.sql_queries import Dialect, listed

KEYSPACE = "scale"
TABLE = f"{KEYSPACE}.{MEASUREMENT}"
WITH_FRACTION = ("float", "double")
# Means and sums in double precision: the mean of an int is an int there, and so is the sum.
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
    kinds = columns_of(data)
    whole = {column for column in kinds if kinds[column] not in WITH_FRACTION}
    query = replace(query, conditions=tuple(c.of_whole if c.column in whole else c for c in query.conditions))
    if query.is_below and query.bound_column in whole and not query.low == query.high == round(query.low):
        raise CannotAsk("CQL compares whole numbers with a whole number only", remedy="a bound without a fraction")
    if query.bucket_ms and query.devices != 1:
        remedy = "no bucket" if query.tag else "devices = 1"
        raise CannotAsk("CQL groups the rows of each device by themselves", remedy=remedy)
    where = _groups(query, data) if query.tag else _where(query)
    return f"SELECT {_cells(query)} FROM {TABLE}{f' WHERE {where}' if where else ''}{_behind(query)}"


def bound_column(text: str) -> str:
    """The column that a statement compares with the drawn value; "" if there is none."""
    match = _BOUND.search(text)
    return match.group(1) if match else ""


def counting(text: str) -> str:
    """The statement that counts the rows of a mean or a sum, which Cassandra says is 0 where there are none; "" for
    other statements."""
    return _OF_NOTHING_0.sub("SELECT count(ts) FROM ", text) if _OF_NOTHING_0.match(text) else ""


def _cells(query: Query) -> str:
    if query.function:
        value = _CQL.values(query)[0]
        return f"{_bucket(query)}, {value}" if query.bucket_ms else value
    return listed(("ts", *(("device",) if query.tells_device else ()), *_CQL.columns(query)))


def _bucket(query: Query) -> str:
    return f"floor(ts, {query.bucket_ms}ms)"


def _where(query: Query) -> str:
    marks = listed(["{device}"] * query.devices)
    named = f"device = {marks}" if query.devices == 1 else f"device IN ({marks})"
    return " AND ".join((named, *_CQL.times(query), *_CQL.bounds(query)))


def _groups(query: Query, data: Workload) -> str:
    tag, kind = _CQL.column.format(query.tag), stored_tags(data.tags)[query.tag]
    if query.groups <= 1:
        return f"{tag} = {{value}}" if query.groups else ""
    return f"{tag} >= {{value}} AND {tag} < ({kind}){{value}} + {query.groups}"


def _behind(query: Query) -> str:
    is_end = query.function in ("first", "last")
    newest = query.newest_first or query.latest or query.function == "last"
    group = f" GROUP BY {_bucket(query)}" if query.bucket_ms else ""
    is_sorted = newest or query.devices > 1 and not query.function
    order = f" ORDER BY ts {'DESC' if newest else 'ASC'}" if is_sorted else ""
    limit = " PER PARTITION LIMIT 1" if query.latest else " LIMIT 1" if is_end else ""
    return f"{group}{order}{limit}{' ALLOW FILTERING' if query.bound_column else ''}"
