"""Sums of the stored rows as one statement of PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.model import Trial
from scale_sweep.server.targets.device_table import TABLE
from scale_sweep.server.targets.postgres.methods import JSONB, METRICS
from scale_sweep.server.targets.sql_dialect import SumsDialect, expressions

NS_PER_US = 1000
SUMS = ("rows", "times", "values", "sum", "least", "greatest", "timed")
_IN_JSON = {"float": "float8", "double": "float8", "bool": "boolean", "timestamp": "text", "binary": "text"}


def sums_dialect(method: str) -> SumsDialect:
    """How columns are spelled: with jsonb they are members of one column."""
    return SumsDialect(
        column=_member if method == JSONB else _column, double=lambda what: f"{what}::float8", ns=NS_PER_US
    )


def sums_statement(trial: Trial, devices: Sequence[str]) -> str:
    """The device and its figures for each of these devices; of all rows together, with "" as the device, if there are
    none. date_part returns seconds as a double, whose error is a quarter of a microsecond at most until 2038."""
    data = trial.work.data
    figures = ", ".join(expressions(data, SUMS, sums_dialect(trial.subject.method)).values())
    since = f"(date_part('epoch', time) * 1e6::float8)::int8 - {data.start_ms * 1000} AS since_first"
    only = f" WHERE device_id IN ({', '.join(devices)})" if devices and len(devices) < data.tables else ""
    whose, grouped = ("device_id::text", " GROUP BY device_id") if devices else ("''", "")
    return f"SELECT {whose}, {figures} FROM (SELECT *, {since} FROM {TABLE}{only}) row{grouped}"


def _column(name: str, kind: str) -> str:
    return f'"{name}"::int' if kind == "bool" else f'"{name}"'


def _member(name: str, kind: str) -> str:
    value = f"({METRICS}->>'{name}')"
    if kind == "bool":
        return f"{value}::boolean::int"
    return f"{value}::{_IN_JSON.get(kind, 'numeric' if 'int' in kind else 'text')}"
