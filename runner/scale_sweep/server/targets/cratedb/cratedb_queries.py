"""Renders queries in CrateDB's SQL, with placeholders for values that each request draws."""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model import Query, Workload
from scale_sweep.server.targets.cratedb.cratedb_facts import PGWIRE, UNNEST
from scale_sweep.server.targets.device_table import DEVICES, TABLE, DeviceTable
from scale_sweep.server.targets.sql_dialect import Dialect, listed


def _summed(name: str, kind: str) -> str:
    return f'CASE "{name}" WHEN true THEN 1 WHEN false THEN 0 END' if kind == "bool" else f'"{name}"'


SQL = Dialect(
    aggregates={
        "count": "count({0})",
        "avg": "avg({0}::double precision)",
        "sum": "sum({0}::double precision)",
        "max": "max({0})",
        "min": "min({0})",
        "spread": "max({0})::double precision - min({0})::double precision",
        "first": "min_by({0}, time)",
        "last": "max_by({0}, time)",
        "stddev": "stddev_pop({0}::double precision)",
        "stddev_samp": "stddev_samp({0}::double precision)",
        "count_distinct": "count(DISTINCT {0})",
        "rate": "(max_by({0}, time)::double precision - min_by({0}, time)::double precision)"
        " / nullif((max(time)::bigint - min(time)::bigint) / 1000.0, 0)",
        "max_time": "max(time) FILTER (WHERE {0} IS NOT NULL)",
        "min_time": "min(time) FILTER (WHERE {0} IS NOT NULL)",
    },
    time="time",
    bucket="date_bin('{0} milliseconds'::interval, time, 0)",
    value="{0}::double precision",
    tag="{0}::text",
    summed=_summed,
    double="({0})::double precision",
    added_as_double=("float", "double", "bigint", "uint", "timestamp"),
)


def _newest(query: Query, cells: str, chosen: str) -> str:
    rank = "row_number() OVER (PARTITION BY device_id ORDER BY time DESC)"
    columns = listed(("time", "device_id", *SQL.columns(query)))
    ranked = f"SELECT {columns}, {rank} AS place FROM {TABLE}{chosen}"
    return f"SELECT {cells} FROM ({ranked}) ranked WHERE place = 1 ORDER BY device_id"


_TABLES = DeviceTable(title="CrateDB", sql=SQL, newest=_newest, by_time="SELECT * FROM ({0}) both_sets ORDER BY time")


def rendered(query: Query, data: Workload, method: str) -> str:
    """One SQL statement: each request fills the placeholders. Raises CannotAsk."""
    if method == PGWIRE:
        raise CannotAsk("CrateDB is asked over HTTP, not by its protocol of PostgreSQL", remedy=f"--method {UNNEST}")
    if query.sets and query.sets != "union" and not query.text:
        raise CannotAsk(f"CrateDB has no {query.sets.upper()}", remedy="set = union")
    return replace(_TABLES, joined=_joined(query)).rendered(query)


def _joined(query: Query) -> str:
    named = (query.tag, query.each_tag, query.with_tag[0] if query.with_tag else "")
    tags = listed(SQL.column.format(tag) for tag in dict.fromkeys(filter(None, named)))
    tagged = f"SELECT device_id AS tagged_id, {tags} FROM {DEVICES}"
    return f"{TABLE} JOIN ({tagged}) tagged ON device_id = tagged_id" if tags else TABLE
