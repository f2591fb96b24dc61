"""Queries and sums in PostgreSQL's SQL."""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import Query
from scale_sweep.server.targets.device_table import TABLE, DeviceTable
from scale_sweep.server.targets.postgres.postgres_facts import COPY, JSONB
from scale_sweep.server.targets.sql_dialect import Dialect, descending, listed

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
METRICS = "metrics"  # the column of `jsonb`, as tsdbperf names it
_IN_JSON = {"float": "float8", "double": "float8", "bool": "boolean", "timestamp": "text", "binary": "text"}


def _summed(name: str, kind: str) -> str:
    return f'"{name}"::int' if kind == "bool" else f'"{name}"'


def _member(name: str, kind: str) -> str:
    value = f"({METRICS}->>'{name}')"
    if kind == "bool":
        return f"{value}::boolean::int"
    return f"{value}::{_IN_JSON.get(kind, 'numeric' if 'int' in kind else 'text')}"


SQL = Dialect(
    aggregates=_AGGREGATES,
    time="time",
    length="interval '{0} milliseconds'",
    bucket=_BUCKET.format("{0}", "time"),
    value="{0}::float8",
    summed=_summed,
    double="{0}::float8",
    # seconds as a double have an error of a quarter of a microsecond at most until 2038
    since_start="(date_part('epoch', time) * 1e6::float8)::int8 - {0}",
    ns=1000,
)
SQL_OF_JSON = replace(SQL, summed=_member)


def _filled(query: Query, chosen: str) -> str:
    """NULL beside a stretch without rows. Raises CannotAsk."""
    if query.is_grouped:
        raise CannotAsk("PostgreSQL fills stretches of all devices together only", remedy="no each")
    names = tuple(f"v{number}" for number in range(len(query.values)))
    values = (f"{value} AS {name}" for value, name in zip(SQL.values(query), names, strict=True))
    bucket = SQL.bucket.format(query.bucket_ms)
    groups = f"SELECT {bucket} AS bucket, {listed(values)} FROM {TABLE}{chosen} GROUP BY bucket"
    first, last = _BUCKET.format(query.bucket_ms, "{from}"), f"{{to}} - {SQL.length.format(1)}"
    stretches = f"generate_series({first}, {last}, {SQL.length.format(query.bucket_ms)}) AS stretch(bucket)"
    joined = f"{stretches} LEFT JOIN ({groups}) AS held USING (bucket)"
    return f"SELECT {listed(('bucket', *names))} FROM {joined} ORDER BY bucket{descending(query)}"


def _newest(query: Query, cells: str, chosen: str) -> str:
    if not query.devices:
        return f"SELECT DISTINCT ON (device_id) {cells} FROM {TABLE}{chosen} ORDER BY device_id, time DESC"
    devices = listed("({device}::integer)" for _ in range(query.devices))
    inner = f"SELECT * FROM {TABLE} WHERE device_id = asked.id ORDER BY time DESC LIMIT 1"
    return f"SELECT {cells} FROM (VALUES {devices}) AS asked(id), LATERAL ({inner}) AS newest"


_TABLES = DeviceTable(title="PostgreSQL", sql=SQL, newest=_newest, filled=_filled, group="{value}::float8::integer")


def rendered(query: Query, data: Workload, method: str) -> str:
    """With placeholders. Raises CannotAsk."""
    if method == JSONB and not query.text:
        raise CannotAsk(f"--method {JSONB} has no column for each value", remedy=f"--method {COPY}")
    return _TABLES.rendered(query)
