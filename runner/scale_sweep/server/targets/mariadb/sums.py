"""Sums of the stored rows as one statement of MariaDB. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.experiment.work.sums import NS_PER_MS
from scale_sweep.model import Trial
from scale_sweep.server.targets.sql_sums import SumsDialect, expressions

TABLE = "measurement"
SUMS = ("rows", "first", "last", "times", "values", "sum", "least", "greatest", "timed")
# A sum of whole numbers is a decimal, which is exact.
DIALECT = SumsDialect(column=lambda name, kind: f"`{name}`", double=lambda what: f"({what} + 0e0)", ns=NS_PER_MS)


def sums_statement(trial: Trial, devices: Sequence[str]) -> str:
    """The device and its figures for each of these devices; of all rows together, with "" as the device, if there are
    none."""
    data = trial.work.data
    figures = ", ".join(expressions(data, SUMS, DIALECT).values())
    since = f"time - {data.start_ms} AS since_first"
    only = f" WHERE device_id IN ({', '.join(devices)})" if devices and len(devices) < data.tables else ""
    whose, grouped = ("device_id", " GROUP BY device_id") if devices else ("''", "")
    return f"SELECT {whose}, {figures} FROM (SELECT *, {since} FROM {TABLE}{only}) stored{grouped}"
