"""Renders queries in PostgreSQL's SQL, with placeholders for values that each request draws. Pure.

Sums and means are computed in double precision: the sum of a real is a real there, with an error that grows with the
rows.
"""

from __future__ import annotations

from runner.errors import CannotAsk
from runner.model import Query, Workload
from runner.targets.postgres.methods import COPY, JSONB

TABLE, DEVICES = "measurement", "device"
_AGGREGATES = {
    "count": "count({0})",
    "avg": "avg({0}::float8)",
    "sum": "sum({0}::float8)",
    "max": "max({0})",
    "min": "min({0})",
    "spread": "max({0})::float8 - min({0})::float8",
    "first": "(array_agg({0} ORDER BY time))[1]",
    "last": "(array_agg({0} ORDER BY time DESC))[1]",
    "max_time": "max(time) FILTER (WHERE {0} IS NOT NULL)",
    "min_time": "min(time) FILTER (WHERE {0} IS NOT NULL)",
}


def rendered(query: Query, data: Workload, method: str) -> str:
    """One SQL statement, without parameters of its own: each request fills the placeholders. Raises CannotAsk."""
    if query.text:
        return query.text
    if method == JSONB:
        raise CannotAsk(f"--method {JSONB} has no column for each value", remedy=f"--method {COPY}")
    where, order = _where(query), " DESC" if query.newest_first else ""
    if query.sets:
        return _set(query)
    if query.by_tag:
        value, tag = _aggregates(query), _quoted(query.tag)
        return f"SELECT {tag}, {value} FROM {TABLE} JOIN {DEVICES} USING (device_id){where} GROUP BY 1 ORDER BY 1"
    if query.function:
        return _aggregate(query, where, order)
    device = ("device_id",) if query.tells_device else ()
    cells = ", ".join(("time", *device, *map(_quoted, query.columns)))
    if query.is_unordered and not query.latest:
        return f"SELECT {cells} FROM {TABLE}{where}"
    if not query.latest:
        return f"SELECT {cells} FROM {TABLE}{where} ORDER BY time{order}"
    if query.devices == 1:
        return f"SELECT {cells} FROM {TABLE}{where} ORDER BY time DESC LIMIT 1"
    if not query.devices:
        return f"SELECT DISTINCT ON (device_id) {cells} FROM {TABLE} ORDER BY device_id, time DESC"
    asked = ", ".join("({device}::integer)" for _ in range(query.devices))
    inner = f"SELECT * FROM {TABLE} WHERE device_id = asked.id ORDER BY time DESC LIMIT 1"
    return f"SELECT {cells} FROM (VALUES {asked}) AS asked(id), LATERAL ({inner}) AS newest"


def _aggregate(query: Query, where: str, order: str) -> str:
    """One value of each column: of all rows, or of each stretch of time, and there of each device."""
    if not query.bucket_ms:
        return f"SELECT {_aggregates(query)} FROM {TABLE}{where}"
    bucket = f"date_bin('{query.bucket_ms} milliseconds', time, timestamptz 'epoch')"
    device = ", device_id" if query.by_device else ""
    limit = f" LIMIT {query.limit}" if query.limit else ""
    found = f"SELECT {bucket} AS bucket{device}, {_aggregates(query)} FROM {TABLE}{where}"
    return f"{found} GROUP BY bucket{device} ORDER BY bucket{order}{device}{limit}"


def _aggregates(query: Query) -> str:
    return ", ".join(_AGGREGATES[query.function].format(_quoted(column)) for column in query.columns)


def _set(query: Query) -> str:
    """Two thirds of the range, and two thirds of it, of the same device."""
    cells = ", ".join(("time", *map(_quoted, query.columns)))
    third = f"interval '{query.third_ms} milliseconds'"
    one = "device_id = {device} AND time >= {from} AND time < {to} - " + third
    other = "device_id = {again} AND time >= {from} + " + third + " AND time < {to}"
    both = f" {query.sets.upper()} ".join(f"SELECT {cells} FROM {TABLE} WHERE {where}" for where in (one, other))
    return f"{both} ORDER BY time"


def _groups(query: Query) -> str:
    """What chooses the devices of the groups; the tag of each is in a table of its own."""
    if not query.groups:
        return ""
    tag, first = _quoted(query.tag), "{value}::float8::integer"
    chosen = f"{tag} = {first}" if query.groups == 1 else f"{tag} >= {first} AND {tag} < {first} + {query.groups}"
    return chosen if query.by_tag else f"device_id IN (SELECT device_id FROM {DEVICES} WHERE {chosen})"


def _where(query: Query) -> str:
    if query.tag:
        chosen = _groups(query)
        return f" WHERE {chosen}" if chosen else ""
    marks = ", ".join(["{device}"] * query.devices)
    found = [f"device_id = {marks}" if query.devices == 1 else f"device_id IN ({marks})"] if query.devices else []
    if query.when == "at":
        found.append("time = {at}")
    elif query.when == "range":
        found.append("time >= {from} AND time < {to}")
    elif query.when == "before":
        found.append("time < {to}")
    found += [f"{_quoted(column)} > {{value}}::float8" for column in query.bounds]
    return f" WHERE {' AND '.join(found)}" if found else ""


def _quoted(column: str) -> str:
    return f'"{column}"'
