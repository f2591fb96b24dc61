"""Renders queries in MariaDB's SQL, with placeholders for values that each request draws."""

from __future__ import annotations

from scale_sweep.model import Query, Workload
from scale_sweep.server.targets.device_table import TABLE, DeviceTable
from scale_sweep.server.targets.sql_dialect import Dialect

SQL = Dialect(
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
    double="({0} + 0e0)",  # a sum of whole numbers is a decimal, which is exact
)


def _newest(query: Query, cells: str, chosen: str) -> str:
    newest = f"SELECT device_id, max(time) AS time FROM {TABLE}{chosen} GROUP BY device_id"
    return f"SELECT {cells} FROM {TABLE} JOIN ({newest}) AS newest USING (device_id, time)"


_TABLES = DeviceTable(title="MariaDB", sql=SQL, newest=_newest)


def rendered(query: Query, data: Workload, method: str) -> str:
    """One SQL statement: each request fills the placeholders. Raises CannotAsk."""
    return _TABLES.rendered(query)
