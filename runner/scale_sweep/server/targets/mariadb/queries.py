"""Renders queries in MariaDB's SQL, with placeholders for values that each request draws. Pure.

Times are whole milliseconds. Sums and means are computed in double precision: those of whole numbers are decimals.
"""

from __future__ import annotations

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model import Query, Workload
from scale_sweep.server.targets.mariadb.sums import TABLE
from scale_sweep.server.targets.sql_queries import Dialect, listed, where

DEVICES = "device"
_SQL = Dialect(
    aggregates={
        "count": "count({0})",
        "avg": "avg({0} + 0e0)",
        "sum": "sum({0} + 0e0)",
        "max": "max({0})",
        "min": "min({0})",
        "spread": "max({0}) + 0e0 - min({0})",
        "stddev": "stddev_pop({0} + 0e0)",
        "stddev_samp": "stddev_samp({0} + 0e0)",
        "count_distinct": "count(DISTINCT {0})",
    },
    time="time",
    column="`{0}`",
    bucket="time - time % {0}",
)


def rendered(query: Query, data: Workload, method: str) -> str:
    """One SQL statement: each request fills the placeholders. Raises CannotAsk."""
    if query.text:
        return query.text
    for function in query.functions:
        if function not in _SQL.aggregates:
            raise CannotAsk("MariaDB has no aggregate for the first and the last value", remedy="function = max")
    if query.sets:
        return _set(query)
    joined = f"{TABLE} JOIN {DEVICES} USING (device_id)"
    if query.by_tag:
        groups = listed((_tag(query), *_SQL.values(query)))
        return f"SELECT {groups} FROM {joined}{where(_groups(query))} GROUP BY 1 ORDER BY 1"
    chosen = where(_chosen(query))
    if query.function:
        return _SQL.aggregated(query, f"{joined if query.each_tag else TABLE}{chosen}", "device_id")
    device = ("device_id",) if query.tells_device else ()
    cells = listed(("time", *device, *_SQL.columns(query)))
    if query.latest:
        return _latest(query, cells, chosen)
    order = "" if query.is_unordered else _SQL.ordered(query)
    return f"SELECT {cells} FROM {TABLE}{chosen}{order}"


def _latest(query: Query, cells: str, chosen: str) -> str:
    """The last row of one device, or of each of several: its time is found in the primary key."""
    if query.devices == 1:
        return f"SELECT {cells} FROM {TABLE}{chosen} ORDER BY time DESC LIMIT 1"
    newest = f"SELECT device_id, max(time) AS time FROM {TABLE}{chosen} GROUP BY device_id"
    return f"SELECT {cells} FROM {TABLE} JOIN ({newest}) AS newest USING (device_id, time)"


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
    tag = _tag(query)
    return (
        [f"{tag} = {{value}}"] if query.groups == 1 else [f"{tag} >= {{value}}", f"{tag} < {{value}} + {query.groups}"]
    )


def _chosen(query: Query) -> list[str]:
    """The conditions of the rows."""
    if query.tag:
        groups = where(_groups(query))
        return [f"device_id IN (SELECT device_id FROM {DEVICES}{groups})"] if groups else []
    marks = listed(["{device}"] * query.devices)
    named = [f"device_id IN ({marks})"] if query.devices else []
    if query.with_tag:
        named = [f"device_id IN (SELECT device_id FROM {DEVICES}{where(_SQL.one_tag(query))})"]
    return named + _SQL.conditions(query)
