"""Queries in QuestDB's SQL, with marks where each request has values of its own. Pure.

The devices are distributed over tables, so that a query of one device names the table of its partition, and a query of
several devices joins one selection for each. Refuses groups of devices: they lie in all tables, whose number is a knob.
Times are numbers of microseconds.
"""

from __future__ import annotations

from runner.errors import CannotAsk
from runner.model import Query, Workload
from runner.targets.questdb.facts import PGWIRE
from runner.targets.series import DEVICE, MEASUREMENT, columns_of
from runner.targets.sql_queries import Dialect, descending, listed, where

_TABLE = f'"{MEASUREMENT}_p{{part}}"'
_MINE, _SAME = f"{DEVICE} = '{{device}}'", f"{DEVICE} = '{{again}}'"
_AGGREGATES = {
    "count": "count({0})",
    "avg": "avg({0}::double)",
    "sum": "sum({0}::double)",
    "max": "max({0})",
    "min": "min({0})",
    "spread": "max({0})::double - min({0})::double",
    "first": "first({0})",
    "last": "last({0})",
    "stddev": "stddev_pop({0}::double)",
    "stddev_samp": "stddev_samp({0}::double)",
    "count_distinct": "count_distinct({0})",
    "max_time": "max(timestamp)",
    "min_time": "min(timestamp)",
}
_SQL = Dialect(
    aggregates=_AGGREGATES,
    time="timestamp",
    moment="{0}000",
    length="{0}000",
    bucket="timestamp_floor('{0}T', timestamp)",
)


def rendered(query: Query, data: Workload, method: str) -> str:
    """One statement. Raises CannotAsk."""
    if method == PGWIRE:
        raise CannotAsk("QuestDB is asked over HTTP, not by PGWire", remedy="--method http")
    if query.text:
        return query.text
    if query.tag:
        raise CannotAsk("QuestDB's devices are in several tables here, and a group of devices is in all of them")
    if query.function:
        _check_counts(query, data)
        return _SQL.aggregated(query, _source(query))
    device = (DEVICE,) if query.tells_device else ()
    cells = listed(("timestamp", *device, *_SQL.columns(query)))
    if query.sets:
        return _set(query, cells)
    if query.latest:
        each = f"SELECT {cells} FROM {_TABLE} WHERE {_MINE} LATEST ON timestamp PARTITION BY {DEVICE}"
        return _all(each, query.devices)
    each = f"SELECT {cells} FROM {_one(query)}"
    many = f"SELECT * FROM ({_all(each, query.devices)})" if query.devices > 1 else each
    return f"{many} ORDER BY timestamp{descending(query)}"


def _check_counts(query: Query, data: Workload) -> None:
    if "count_distinct" in query.functions:
        for column in query.columns:
            if columns_of(data)[column] in ("float", "double"):
                raise CannotAsk("QuestDB counts different values of whole numbers and texts only")


def timed(text: str) -> bool:
    """Whether the rows of the answer begin with a time."""
    return text.replace("SELECT * FROM ", "").lstrip("(").startswith("SELECT timestamp")


def _one(query: Query) -> str:
    """The table of a device, with the conditions of its rows."""
    return f"{_TABLE}{where([_MINE, *_SQL.conditions(query)])}"


def _source(query: Query) -> str:
    """The rows that are aggregated."""
    if query.devices == 1:
        return _one(query)
    each = f"SELECT {listed(('timestamp', *_SQL.columns(query)))} FROM {_one(query)}"
    return f"({_all(each, query.devices)})"


def _set(query: Query, cells: str) -> str:
    """Two thirds of the range, and two thirds of it, of the same device."""
    one, other = _SQL.two_ranges(query)
    each = ([_MINE, *one], [_SAME, *other])
    both = f" {query.sets.upper()} ".join(f"SELECT {cells} FROM {_TABLE}{where(these)}" for these in each)
    return f"SELECT * FROM ({both}) ORDER BY timestamp"


def _all(each: str, devices: int) -> str:
    return " UNION ALL ".join([each] * devices) if devices == 1 else " UNION ALL ".join([f"({each})"] * devices)
