"""Queries in InfluxQL, with placeholders, answers as rows, and sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work.sums import NS_PER_MS, STEPS, column_types, figures_of
from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import Cells, Query
from scale_sweep.server.targets.influxdb.influxdb_facts import SUMS
from scale_sweep.server.targets.series import DEVICE, MEASUREMENT, in_parts, label, named
from scale_sweep.server.targets.sql_dialect import Dialect, limited, listed, where

_AGGREGATES = {
    "count": "count({0})",
    "avg": "mean({0})",
    "sum": "sum({0})",
    "max": "max({0})",
    "min": "min({0})",
    "spread": "spread({0})",
    "first": "first({0})",
    "last": "last({0})",
    "median": "median({0})",
    "stddev_samp": "stddev({0})",
    "count_distinct": "count(distinct({0}))",
}
_BY_DEVICE, _BY_TIME = f' GROUP BY "{DEVICE}"', " GROUP BY time("
_SQL = Dialect(aggregates=_AGGREGATES, time="time", moment="{0}ms")
_AGGREGATED = tuple(f"SELECT {expression.partition('(')[0]}(" for expression in _AGGREGATES.values())


def rendered(query: Query, data: Workload, method: str) -> str:
    """One statement. Raises CannotAsk."""
    if query.text:
        return query.text
    if query.sets:
        raise CannotAsk(f"InfluxQL has no {query.sets.upper()}")
    source = f'"{MEASUREMENT}"{where(_chosen(query))}'
    order = " ORDER BY time DESC" if query.newest_first else ""
    if query.function:
        value = listed(_SQL.values(query))
        if query.by_tag:
            return f'SELECT {value} FROM {source} GROUP BY "{query.tag}"'
        label = (f'"{query.each_tag or DEVICE}"',) if query.is_grouped else ()
        bucket = (f"time({query.bucket_ms}ms)",) if query.bucket_ms else ()
        groups = f" GROUP BY {listed((*bucket, *label))}" if bucket or label else ""
        if query.fill == "previous" and query.newest_first:
            sentence = "InfluxQL's fill(previous) takes the later value if the newest comes first"
            raise CannotAsk(sentence, remedy="kind = group_by_time")
        stretches = f" fill({query.fill or 'none'}){order}{limited(query)}" if bucket else ""
        return f"SELECT {value} FROM {source}{groups}{stretches}"
    columns = listed(_SQL.columns(query))
    if query.latest:
        groups = _BY_DEVICE if query.devices != 1 else ""
        return f"SELECT {columns} FROM {source}{groups} ORDER BY time DESC LIMIT 1"
    device = f'"{DEVICE}", ' if query.tells_device else ""
    return f"SELECT {device}{columns} FROM {source}{order}{limited(query)}"


def rows_of(text: str, series: Iterable[Mapping[str, Any]]) -> list[Cells]:
    """Times are in epoch=ms. Series come in the order of their tags as texts, and groups are numbers."""
    rows: list[Cells] = []
    for one in series:
        tags = tuple(one.get("tags", {}).values())
        for time, *cells in one["values"]:
            if not text.startswith(_AGGREGATED) or _BY_TIME in text:
                rows.append((time, *tags, *cells))
            else:
                rows.append((*map(label, tags), *cells))
    has_groups = " GROUP BY " in text and _BY_TIME not in text and text.startswith(_AGGREGATED)
    return sorted(rows, key=lambda row: (isinstance(row[0], str), row[0])) if has_groups else rows


def _chosen(query: Query) -> list[str]:
    """Raises CannotAsk."""
    if query.groups > 1:
        raise CannotAsk("InfluxQL compares tags for being equal only", remedy="fraction = 1, or one group")
    group = [f"\"{query.tag}\" = '{{value}}'"] if query.groups else []
    devices = " OR ".join([f"\"{DEVICE}\" = '{{device}}'"] * query.devices)
    one_of = [f"({devices})" if query.devices > 1 else devices] if query.devices else []
    return group + one_of + _SQL.one_tag(query) + _SQL.conditions(query)


FIGURES_MAX = 40  # of one statement
_US_PER_MS, _NS_PER_US = 1000, 1000
_LONG = ("bigint", "timestamp")


@dataclass(frozen=True, kw_only=True)
class SumsStatement:
    figures: Sequence[str]
    text: str
    is_time: bool = False  # its time is the figure


def statements(data: Workload, devices: Sequence[str]) -> Iterator[SumsStatement]:
    """Without devices for all together."""
    kinds, by_device = column_types(data), f' GROUP BY "{DEVICE}"'
    one_of = " OR ".join(f"\"{DEVICE}\" = '{device}'" for device in named(devices))
    chosen, grouped, first = [f"({one_of})"] if one_of else [], by_device if devices else "", next(iter(kinds))
    expressions = {figure: _expression(figure, kinds) for figure in figures_of(data, ("values", "sum"))}
    names = [figure for figure, expression in expressions.items() if expression]
    for some in in_parts(names, FIGURES_MAX):
        yield SumsStatement(figures=some, text=_select(listed(expressions[name] for name in some), chosen, grouped))
    for name in (name for name, kind in kinds.items() if kind == "bool"):
        yield SumsStatement(
            figures=(f"{name}.sum",), text=_select(f'count("{name}")', [*chosen, f'"{name}" = true'], grouped)
        )
    for what in ("first", "last"):
        yield SumsStatement(figures=(what,), text=_select(f'{what}("{first}")', chosen, grouped), is_time=True)
    if STEPS in figures_of(data, SUMS):
        between = _select(f'elapsed("{first}", 1u) AS "apart"', chosen, by_device)
        step = f'"apart" <= {data.step_ms * _US_PER_MS}'
        yield SumsStatement(figures=(STEPS,), text=f'SELECT sum("apart") FROM ({between}) WHERE {step}{grouped}')


def figures_found(statement: SumsStatement, row: Sequence[Any], data: Workload) -> dict[str, Any]:
    if statement.is_time:
        return {statement.figures[0]: int(row[0]) - data.start_ms * NS_PER_MS}
    figures = dict(zip(statement.figures, row[1:], strict=True))
    return {name: value * _NS_PER_US if name == STEPS else value for name, value in figures.items()}


def completed(figures: Mapping[str, Any], data: Workload) -> dict[str, Any]:
    """With what an answer leaves out because it is 0: the sum of a column without a true value, the time between rows
    where there is one only. There are as many rows as a column has values."""
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


def _select(what: str, conditions: Sequence[str], grouped: str) -> str:
    return f'SELECT {what} FROM "{MEASUREMENT}"{where(conditions)}{grouped}'
