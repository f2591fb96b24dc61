"""Sums of the stored rows as statements of TDengine."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.experiment.work.sums import ALL, NS_PER_MS
from scale_sweep.model import Trial
from scale_sweep.server.targets.sql_dialect import SumsDialect, expressions
from scale_sweep.server.targets.tdengine.config import precision
from scale_sweep.server.targets.tdengine.dialect import ONE_COLUMN, SCHEMALESS, UNITS_PER_MS
from scale_sweep.server.targets.tdengine.queries import DATABASE, TABLE

DEVICES_MAX = 200  # that a statement names
_UNITS = {"ms": "1a", "us": "1u", "ns": "1b"}


def sums_dialect(trial: Trial) -> SumsDialect:
    """How columns and times are spelled: the server names the time of schemaless rows, and their only value."""
    method, unit = trial.subject.method, precision(trial)
    time, start = "_ts" if method in SCHEMALESS else "ts", trial.work.data.start_ms * UNITS_PER_MS[unit]

    def column(name: str, kind: str) -> str:
        quoted = "`_value`" if method in ONE_COLUMN else f"`{name}`"
        return f"CAST({quoted} AS INT)" if kind == "bool" else quoted

    return SumsDialect(
        column=column,
        double=lambda what: f"CAST({what} AS DOUBLE)",
        ns=NS_PER_MS // UNITS_PER_MS[unit],
        since=f"TIMEDIFF({time}, {start}, {_UNITS[unit]})",
        added_as_double=("float", "double", "bigint", "ubigint"),
    )


def sums_statement(trial: Trial, devices: Sequence[str]) -> str:
    """The device and its figures for each of these devices; of all rows together, with "" as the device, if there are
    none. Of more than DEVICES_MAX devices, all are returned."""
    figures = ", ".join(expressions(trial.work.data, ALL, sums_dialect(trial)).values())
    if not devices:
        return f"SELECT '', {figures} FROM {DATABASE}.{TABLE}"
    quoted = ", ".join(f"'{device}'" for device in devices)
    only = f" WHERE TBNAME IN ({quoted})" if len(devices) <= DEVICES_MAX else ""
    return f"SELECT TBNAME, {figures} FROM {DATABASE}.{TABLE}{only} PARTITION BY TBNAME"
