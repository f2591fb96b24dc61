"""Sums of the stored rows as statements of InfluxQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scale_sweep.experiment.work.sums import NS_PER_MS, STEPS, column_types, figures_of
from scale_sweep.model import Workload
from scale_sweep.server.targets.series import DEVICE, MEASUREMENT

SUMS = ("rows", "first", "last", STEPS, "values", "sum")
FIGURES_MAX = 40  # of one statement
DEVICES_MAX = 200  # that a statement names
_US_PER_MS, _NS_PER_US = 1000, 1000
_LONG = ("bigint", "timestamp")


@dataclass(frozen=True, kw_only=True)
class SumsStatement:
    """A statement and the figures that it returns."""

    figures: tuple[str, ...]
    text: str
    is_time: bool = False  # its time is the figure, and not its values


def statements(data: Workload, devices: Sequence[str]) -> Iterator[SumsStatement]:
    """The statements for these devices, or for all together, if there are none. Of more than DEVICES_MAX devices, all
    are returned."""
    kinds, by_device = column_types(data), f' GROUP BY "{DEVICE}"'
    where, grouped, first = _conditions(devices), by_device if devices else "", next(iter(kinds))
    expressions = {figure: _expression(figure, kinds) for figure in figures_of(data, ("values", "sum"))}
    names = [figure for figure, expression in expressions.items() if expression]
    for at in range(0, len(names), FIGURES_MAX):
        some = tuple(names[at : at + FIGURES_MAX])
        yield SumsStatement(figures=some, text=_select(", ".join(expressions[name] for name in some), where, grouped))
    for name in (name for name, kind in kinds.items() if kind == "bool"):
        yield SumsStatement(
            figures=(f"{name}.sum",), text=_select(f'count("{name}")', [*where, f'"{name}" = true'], grouped)
        )
    for what in ("first", "last"):
        yield SumsStatement(figures=(what,), text=_select(f'{what}("{first}")', where, grouped), is_time=True)
    if STEPS in figures_of(data, SUMS):
        between = _select(f'elapsed("{first}", 1u) AS "apart"', where, by_device)
        step = f'"apart" <= {data.step_ms * _US_PER_MS}'
        yield SumsStatement(figures=(STEPS,), text=f'SELECT sum("apart") FROM ({between}) WHERE {step}{grouped}')


def figures_found(statement: SumsStatement, row: Sequence[Any], data: Workload) -> dict[str, Any]:
    if statement.is_time:
        return {statement.figures[0]: int(row[0]) - data.start_ms * NS_PER_MS}
    figures = dict(zip(statement.figures, row[1:], strict=True))
    return {name: value * _NS_PER_US if name == STEPS else value for name, value in figures.items()}


def completed(figures: Mapping[str, Any], data: Workload) -> dict[str, Any]:
    """With what an answer leaves out, because it is 0: the sum of a column without a true value, and the time between
    rows where there is one only. There are as many rows as a column has values."""
    trues = (f"{name}.sum" for name, kind in column_types(data).items() if kind == "bool")
    rows = max((value for name, value in figures.items() if name.endswith(".values")), default=0)
    return {**dict.fromkeys((STEPS, *trues), 0), **figures, "rows": rows}


def _expression(figure: str, kinds: Mapping[str, str]) -> str:
    name, _, what = figure.rpartition(".")
    if what == "values":
        return f'count("{name}")'
    if kinds[name] == "bool":
        return ""
    return f'sum("{name}"::float)' if kinds[name] in _LONG else f'sum("{name}")'


def _conditions(devices: Sequence[str]) -> list[str]:
    named = " OR ".join(f"\"{DEVICE}\" = '{device}'" for device in devices)
    return [f"({named})"] if 0 < len(devices) <= DEVICES_MAX else []


def _select(what: str, where: Sequence[str], grouped: str) -> str:
    only = f" WHERE {' AND '.join(where)}" if where else ""
    return f'SELECT {what} FROM "{MEASUREMENT}"{only}{grouped}'
