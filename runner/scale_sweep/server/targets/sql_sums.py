"""The figures of scale_sweep/experiment/work/sums.py as expressions of SQL, over the rows of one table or of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scale_sweep.experiment.work.sums import NS_PER_MS, column_types, figures_of
from scale_sweep.model import Trial, Workload
from scale_sweep.server.targets.device_table import TABLE

_OF_ROWS = {"rows": "count(*)", "first": "min({since})", "last": "max({since})", "times": "sum({since})"}
_FRACTIONS = ("float", "double")


@dataclass(frozen=True, kw_only=True)
class SumsDialect:
    """column: the expression of a column, by its name and type; a boolean as a whole number. double: casts an
    expression to a double. ns: nanoseconds in a unit of `since`. added_as_double: types whose values are cast
    before they are added: a sum of floats in floats is not exact. since: the expression of the time since the first
    timestamp of the load, as a whole number."""

    column: Callable[[str, str], str]
    double: Callable[[str], str]
    ns: int
    added_as_double: tuple[str, ...] = _FRACTIONS
    since: str = "since_first"


def expressions(data: Workload, computed: Sequence[str], dialect: SumsDialect) -> Mapping[str, str]:
    kinds = column_types(data)
    return {figure: _expression(figure, kinds, dialect) for figure in figures_of(data, computed)}


def _expression(figure: str, kinds: Mapping[str, str], dialect: SumsDialect) -> str:
    name, _, what = figure.rpartition(".")
    if not name:
        return _OF_ROWS[what].format(since=dialect.since)
    column, is_fraction = dialect.column(name, kinds[name]), kinds[name] in _FRACTIONS
    if what == "values":
        return f"count({column})"
    if what == "timed":
        return f"sum({dialect.double(column)} * {dialect.since})"
    if what == "sum":
        return f"sum({dialect.double(column) if kinds[name] in dialect.added_as_double else column})"
    function = {"least": "min", "greatest": "max"}[what]
    return dialect.double(f"{function}({column})") if is_fraction else f"{function}({column})"


def in_ns(figures: Sequence[str], row: Sequence[Any], dialect: SumsDialect) -> dict[str, Any]:
    values = dict(zip(figures, row, strict=True))
    for figure, value in values.items():
        if value is not None and figure in ("first", "last", "times"):
            values[figure] = int(value) * dialect.ns
        elif value is not None and figure.endswith(".timed"):
            values[figure] = float(value) * (dialect.ns / NS_PER_MS)
    return values


def of_device_table(trial: Trial, devices: Sequence[str], computed: Sequence[str], dialect: SumsDialect) -> str:
    """One statement over the table that has the rows of all devices, with times in ms: the device and its figures for
    each of these devices; of all rows together, with "" as the device, if there are none."""
    data = trial.work.data
    figures = ", ".join(expressions(data, computed, dialect).values())
    since = f"time - {data.start_ms} AS {dialect.since}"
    only = f" WHERE device_id IN ({', '.join(devices)})" if devices and len(devices) < data.tables else ""
    whose, grouped = ("device_id", " GROUP BY device_id") if devices else ("''", "")
    return f"SELECT {whose}, {figures} FROM (SELECT *, {since} FROM {TABLE}{only}) stored{grouped}"
