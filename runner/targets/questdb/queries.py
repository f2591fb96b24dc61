"""Queries in QuestDB's SQL, with marks where each request has values of its own. Pure.

The devices are distributed over tables, so that a query of one device names the table of its partition, and a query of
several devices joins one selection for each. Refuses groups of devices: they lie in all tables, whose number is a knob.
Times are numbers of microseconds.
"""

from __future__ import annotations

from runner.errors import CannotAsk
from runner.model import Query, Workload
from runner.targets.questdb.facts import PGWIRE
from runner.targets.series import DEVICE, MEASUREMENT

_TABLE = f'"{MEASUREMENT}_p{{part}}"'
_MINE = f"{DEVICE} = '{{device}}'"
_AGGREGATES = {
    "count": "count({0})",
    "avg": "avg({0}::double)",
    "sum": "sum({0}::double)",
    "max": "max({0})",
    "min": "min({0})",
    "spread": "max({0})::double - min({0})::double",
    "first": "first({0})",
    "last": "last({0})",
    "max_time": "max(timestamp)",
    "min_time": "min(timestamp)",
}


def rendered(query: Query, data: Workload, method: str) -> str:
    """One statement. Raises CannotAsk."""
    if method == PGWIRE:
        raise CannotAsk("QuestDB is asked over HTTP, not by PGWire", remedy="--method http")
    if query.text:
        return query.text
    if query.tag:
        raise CannotAsk("QuestDB's devices are in several tables here, and a group of devices is in all of them")
    order = " DESC" if query.newest_first else ""
    if query.function:
        return _aggregate(query, order)
    device = (DEVICE,) if query.tells_device else ()
    cells = ", ".join(("timestamp", *device, *map(_quoted, query.columns)))
    if query.sets:
        return _set(query, cells)
    if query.latest:
        each = f"SELECT {cells} FROM {_TABLE} WHERE {_MINE} LATEST ON timestamp PARTITION BY {DEVICE}"
        return _all(each, query.devices)
    each = f"SELECT {cells} FROM {_TABLE} WHERE {_where(query)}"
    many = f"SELECT * FROM ({_all(each, query.devices)})" if query.devices > 1 else each
    return f"{many} ORDER BY timestamp{order}"


def timed(text: str) -> bool:
    """Whether the rows of the answer begin with a time."""
    return text.replace("SELECT * FROM ", "").lstrip("(").startswith("SELECT timestamp")


def _aggregate(query: Query, order: str) -> str:
    value = ", ".join(_AGGREGATES[query.function].format(_quoted(column)) for column in query.columns)
    source = f"{_TABLE} WHERE {_where(query)}"
    if query.devices > 1:
        each = f"SELECT timestamp, {', '.join(map(_quoted, query.columns))} FROM {source}"
        source = f"({_all(each, query.devices)})"
    if not query.bucket_ms:
        return f"SELECT {value} FROM {source}"
    bucket = f"timestamp_floor('{query.bucket_ms}T', timestamp)"
    return f"SELECT {bucket} AS bucket, {value} FROM {source} GROUP BY bucket ORDER BY bucket{order}"


def _set(query: Query, cells: str) -> str:
    """Two thirds of the range, and two thirds of it, of the same device."""
    third = f"{query.third_ms}000"
    one = f"{_MINE} AND timestamp >= {{from}}000 AND timestamp < {{to}}000 - {third}"
    other = f"{DEVICE} = '{{again}}' AND timestamp >= {{from}}000 + {third} AND timestamp < {{to}}000"
    both = f" {query.sets.upper()} ".join(f"SELECT {cells} FROM {_TABLE} WHERE {where}" for where in (one, other))
    return f"SELECT * FROM ({both}) ORDER BY timestamp"


def _all(each: str, devices: int) -> str:
    return " UNION ALL ".join([each] * devices) if devices == 1 else " UNION ALL ".join([f"({each})"] * devices)


def _where(query: Query) -> str:
    found = [_MINE]
    if query.when == "at":
        found.append("timestamp = {at}000")
    elif query.when == "range":
        found.append("timestamp >= {from}000 AND timestamp < {to}000")
    found += [f"{_quoted(column)} > {{value}}" for column in query.bounds]
    return " AND ".join(found)


def _quoted(column: str) -> str:
    return f'"{column}"'
