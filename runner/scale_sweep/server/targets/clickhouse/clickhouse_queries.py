"""Renders queries in ClickHouse's SQL, with placeholders for values that each request draws."""

from __future__ import annotations

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model import Query, Workload
from scale_sweep.model.questions import COUNTS
from scale_sweep.server.targets.device_table import DEVICES, TABLE, DeviceTable
from scale_sweep.server.targets.sql_dialect import Dialect

SQL = Dialect(
    aggregates={
        "count": "count({0})",
        "avg": "avg(toFloat64({0}))",
        "sum": "sum(toFloat64({0}))",
        "max": "max({0})",
        "min": "min({0})",
        "spread": "toFloat64(max({0})) - toFloat64(min({0}))",
        "first": "argMin({0}, time)",
        "last": "argMax({0}, time)",
        "percentile": "quantileExactInclusive({1} / 100.0)({0})",
        "stddev": "stddevPop(toFloat64({0}))",
        "stddev_samp": "stddevSamp(toFloat64({0}))",
        "count_distinct": "uniqExact({0})",
        "rate": "(toFloat64(argMax({0}, time)) - toFloat64(argMin({0}, time)))"
        " / nullIf((max(time) - min(time)) / 1000, 0)",
        "max_time": "maxIf(time, isNotNull({0}))",
        "min_time": "minIf(time, isNotNull({0}))",
    },
    time="time",
    column="`{0}`",
    bucket="intDiv(time, {0}) * {0}",  # the type of a remainder may be too small for it
    tag="toString({0})",
    double="toFloat64({0})",
    added_as_double=("float", "double", "bigint", "ubigint", "timestamp"),
)


def _newest(query: Query, cells: str, chosen: str) -> str:
    return f"SELECT {cells} FROM {TABLE}{chosen} ORDER BY device_id, time DESC LIMIT 1 BY device_id"


_TABLES = DeviceTable(
    title="ClickHouse",
    sql=SQL,
    newest=_newest,
    joined=f"{TABLE} ALL INNER JOIN {DEVICES} USING (device_id)",
    by_tag="{0}",
    by_time="SELECT DISTINCT * FROM ({0}) ORDER BY time",
    union="UNION ALL",
)


def rendered(query: Query, data: Workload, method: str) -> str:
    """One SQL statement: each request fills the placeholders. The aggregate of no rows is 0 in ClickHouse and NULL in
    SQL, so there it returns no row. Raises CannotAsk."""
    text = _TABLES.rendered(query)
    if not query.is_one_aggregate or query.text:
        return text
    if not query.counts:
        return f"{text} HAVING count() > 0"
    if (query.bounds or query.conditions) and set(query.functions) - set(COUNTS):
        raise CannotAsk("ClickHouse has 0, and not NULL, for the aggregate of no rows beside their number")
    return text
