"""Renders queries in PostgreSQL's SQL, with placeholders for values that each request draws. Pure.

Sums, means and deviations are computed in double precision: the sum of a real is a real there, with an error that grows
with the rows.
"""

from __future__ import annotations

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model import Query, Workload
from scale_sweep.server.targets.postgres.methods import COPY, JSONB
from scale_sweep.server.targets.sql_queries import Dialect, descending, listed, where

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
    "percentile": "percentile_cont({1} / 100.0) WITHIN GROUP (ORDER BY {0})",
    "stddev": "stddev_pop({0}::float8)",
    "stddev_samp": "stddev_samp({0}::float8)",
    "count_distinct": "count(DISTINCT {0})",
    "rate": "((array_agg({0} ORDER BY time DESC))[1]::float8 - (array_agg({0} ORDER BY time))[1]::float8)"
    " / nullif(extract(epoch FROM max(time) - min(time))::float8, 0)",
    "max_time": "max(time) FILTER (WHERE {0} IS NOT NULL)",
    "min_time": "min(time) FILTER (WHERE {0} IS NOT NULL)",
}
_BUCKET = "date_bin('{0} milliseconds', {1}, timestamptz 'epoch')"
_SQL = Dialect(
    aggregates=_AGGREGATES,
    time="time",
    length="interval '{0} milliseconds'",
    bucket=_BUCKET.format("{0}", "time"),
    value="{0}::float8",
)


def rendered(query: Query, data: Workload, method: str) -> str:
    """One SQL statement, without parameters of its own: each request fills the placeholders. Raises CannotAsk."""
    if query.text:
        return query.text
    if method == JSONB:
        raise CannotAsk(f"--method {JSONB} has no column for each value", remedy=f"--method {COPY}")
    if query.sets:
        return _set(query)
    if query.by_tag:
        groups, source = listed((_tag(query), *_SQL.values(query))), f"{TABLE} JOIN {DEVICES} USING (device_id)"
        return f"SELECT {groups} FROM {source}{where(_groups(query))} GROUP BY 1 ORDER BY 1"
    chosen = where(_chosen(query))
    if query.fill:
        return _filled(query, chosen)
    if query.function:
        joined = f" JOIN {DEVICES} USING (device_id)" if query.each_tag else ""
        return _SQL.aggregated(query, f"{TABLE}{joined}{chosen}", "device_id")
    device = ("device_id",) if query.tells_device else ()
    cells = listed(("time", *device, *_SQL.columns(query)))
    if query.latest:
        return _latest(query, cells, chosen)
    order = "" if query.is_unordered else _SQL.ordered(query)
    return f"SELECT {cells} FROM {TABLE}{chosen}{order}"


def _filled(query: Query, chosen: str) -> str:
    """The aggregates beside every stretch of the range, NULL where it has no rows. Raises CannotAsk."""
    if query.is_grouped:
        raise CannotAsk("PostgreSQL fills stretches of all devices together only", remedy="no each")
    names = tuple(f"v{number}" for number in range(len(query.values)))
    values = (f"{value} AS {name}" for value, name in zip(_SQL.values(query), names, strict=True))
    bucket = _SQL.bucket.format(query.bucket_ms)
    groups = f"SELECT {bucket} AS bucket, {listed(values)} FROM {TABLE}{chosen} GROUP BY bucket"
    first, last = _BUCKET.format(query.bucket_ms, "{from}"), f"{{to}} - {_SQL.length.format(1)}"
    stretches = f"generate_series({first}, {last}, {_SQL.length.format(query.bucket_ms)}) AS stretch(bucket)"
    joined = f"{stretches} LEFT JOIN ({groups}) AS held USING (bucket)"
    return f"SELECT {listed(('bucket', *names))} FROM {joined} ORDER BY bucket{descending(query)}"


def _latest(query: Query, cells: str, chosen: str) -> str:
    """The last row of one device, of all, or of those named: one by one, each from the end of the index."""
    if query.devices == 1:
        return f"SELECT {cells} FROM {TABLE}{chosen} ORDER BY time DESC LIMIT 1"
    if not query.devices:
        return f"SELECT DISTINCT ON (device_id) {cells} FROM {TABLE}{chosen} ORDER BY device_id, time DESC"
    devices = listed("({device}::integer)" for _ in range(query.devices))
    inner = f"SELECT * FROM {TABLE} WHERE device_id = asked.id ORDER BY time DESC LIMIT 1"
    return f"SELECT {cells} FROM (VALUES {devices}) AS asked(id), LATERAL ({inner}) AS newest"


def _set(query: Query) -> str:
    """Two thirds of the range, and two thirds of it, of the same device."""
    one, other = _SQL.two_ranges(query)
    each = (["device_id = {device}", *one], ["device_id = {again}", *other])
    selected = f"SELECT {listed(('time', *_SQL.columns(query)))} FROM {TABLE}"
    return f" {query.sets.upper()} ".join(f"{selected}{where(these)}" for these in each) + " ORDER BY time"


def _tag(query: Query) -> str:
    return _SQL.column.format(query.tag)


def _groups(query: Query) -> list[str]:
    """The condition that chooses the groups; the tag of each device is in a table of its own."""
    if not query.groups:
        return []
    tag, first = _tag(query), "{value}::float8::integer"
    return [f"{tag} = {first}"] if query.groups == 1 else [f"{tag} >= {first}", f"{tag} < {first} + {query.groups}"]


def _chosen(query: Query) -> list[str]:
    """The conditions of the rows."""
    if query.tag:
        groups = where(_groups(query))
        return [f"device_id IN (SELECT device_id FROM {DEVICES}{groups})"] if groups else []
    marks = listed(["{device}"] * query.devices)
    named = [f"device_id = {marks}" if query.devices == 1 else f"device_id IN ({marks})"] if query.devices else []
    if query.with_tag:
        named = [f"device_id IN (SELECT device_id FROM {DEVICES}{where(_SQL.one_tag(query))})"]
    return named + _SQL.conditions(query)
