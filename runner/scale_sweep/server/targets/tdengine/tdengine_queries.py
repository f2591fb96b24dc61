"""TDengine's SQL: queries with placeholders, sums and counts of the stored rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work.sums import ALL, NS_PER_MS, column_types
from scale_sweep.model.declared import Workload
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import FILLS, Query, percent_of
from scale_sweep.server.targets.series import named
from scale_sweep.server.targets.sql_dialect import Dialect, descending, limited, listed, where
from scale_sweep.server.targets.tdengine.config import precision
from scale_sweep.server.targets.tdengine.dialect import ONE_COLUMN, SCHEMALESS, UNITS_PER_MS

DATABASE, TABLE = "scale", "meters"
_AGGREGATES = {
    "count": "COUNT({0})",
    "avg": "AVG({0})",
    "sum": "SUM({0})",
    "max": "MAX({0})",
    "min": "MIN({0})",
    "spread": "SPREAD({0})",
    "first": "FIRST({0})",
    "last": "LAST({0})",
    "percentile": "PERCENTILE({0}, {1})",
    "stddev": "STDDEV({0})",
    "rate": "(LAST({0}) - FIRST({0})) / SPREAD(ts) * 1000",
}
_FILLS = dict(zip(FILLS, ("NULL", "PREV", "LINEAR"), strict=True))
_SQL = Dialect(aggregates=_AGGREGATES, time="ts", column="`{0}`", length="{0}a", value="'{0}'")


def rendered(query: Query, data: Workload, method: str) -> str:
    """Raises CannotAsk."""
    if method in SCHEMALESS:
        raise CannotAsk(f"the server names the tables that --method {method} writes", remedy="--method stmt")
    if query.text:
        return query.text
    if query.sets:
        return _set(query)
    source = _source(query)
    if query.function:
        _check_functions(query, data)
        return _aggregate(query, source)
    device = ("TBNAME",) if query.tells_device else ()
    if query.latest:
        cells = ("LAST_ROW(ts)", *device, *(f"LAST_ROW({column})" for column in _SQL.columns(query)))
        return f"SELECT {listed(cells)} FROM {source}" + (" PARTITION BY TBNAME" if device else "")
    order = "" if query.is_unordered else _SQL.ordered(query)
    return f"SELECT {listed(('ts', *device, *_SQL.columns(query)))} FROM {source}{order}"


def timed(text: str) -> bool:
    """Whether the answer's rows begin with a time."""
    return text.startswith(("SELECT _wstart", "SELECT ts", "SELECT LAST_ROW(ts)"))


def _check_functions(query: Query, data: Workload) -> None:
    if query.devices != 1 and any(percent_of(function) for function in query.functions):
        raise CannotAsk("TDengine takes a percentile of one table only", remedy="devices = 1")
    if "stddev" in query.functions and any(column_types(data)[column] == "float" for column in query.columns):
        raise CannotAsk(
            "TDengine's STDDEV of a float has an error of 1e-4", remedy="a column of double or whole numbers"
        )


def _aggregate(query: Query, source: str) -> str:
    values = _SQL.values(query)
    if query.by_tag:
        tag = _SQL.column.format(query.tag)
        return f"SELECT {listed((tag, *values))} FROM {source} GROUP BY {tag} ORDER BY {tag}"
    label = (_SQL.column.format(query.each_tag),) if query.each_tag else ("TBNAME",) if query.by_device else ()
    if not query.bucket_ms:
        selected = f"SELECT {listed((*label, *_SQL.ranked_values(query)))} FROM {source}"
        order = _SQL.ordered(query) if query.by_value else ""
        return f"{selected} GROUP BY {listed(label)}{order}" if label else selected
    apart = f" PARTITION BY {listed(label)}" if label else ""
    if query.fill == "previous" and query.newest_first and not label:
        sentence = "TDengine's FILL(PREV) takes the later value if the newest comes first"
        raise CannotAsk(sentence, remedy="kind = group_by_time")
    fill = f" FILL({_FILLS[query.fill]})" if query.fill else ""
    stretches = f"INTERVAL({query.bucket_ms}a){fill} ORDER BY _wstart{descending(query)}{limited(query)}"
    return f"SELECT {listed(('_wstart', *label, *values))} FROM {source}{apart} {stretches}"


def _set(query: Query) -> str:
    """Raises CannotAsk."""
    if query.sets != "union":
        raise CannotAsk(f"TDengine has no {query.sets.upper()}", remedy="of = union")
    cells = listed(("ts", *_SQL.columns(query)))
    each = zip(("{device}", "{again}"), _SQL.two_ranges(query), strict=True)
    both = " UNION ".join(f"SELECT {cells} FROM {DATABASE}.{device}{where(these)}" for device, these in each)
    return f"{both} ORDER BY ts"


def _groups(query: Query) -> list[str]:
    if not query.groups:
        return []
    tag = _SQL.column.format(query.tag)
    if query.groups == 1:
        return [f"{tag} = {{value}}"]
    # The sum of two whole numbers has a fraction, which a build took for 0.
    return [f"{tag} >= {{value}}", f"{tag} < CAST({{value}} + {query.groups} AS INT)"]


def _source(query: Query) -> str:
    if query.tag:
        return f"{DATABASE}.{TABLE}{where(_groups(query))}"
    marks = listed(["'{device}'"] * query.devices)
    chosen = [f"TBNAME IN ({marks})"] if query.devices > 1 else []
    table = "{device}" if query.devices == 1 else TABLE
    return f"{DATABASE}.{table}{where(chosen + _SQL.one_tag(query) + _SQL.conditions(query))}"


_UNITS = {"ms": "1a", "us": "1u", "ns": "1b"}


def sums_dialect(trial: Trial) -> Dialect:
    """The server names the time of schemaless rows, and their only value."""
    method, unit = trial.subject.method, precision(trial)
    time, start = "_ts" if method in SCHEMALESS else "ts", trial.work.data.start_ms * UNITS_PER_MS[unit]

    def column(name: str, kind: str) -> str:
        quoted = "`_value`" if method in ONE_COLUMN else f"`{name}`"
        return f"CAST({quoted} AS INT)" if kind == "bool" else quoted

    return replace(
        _SQL,
        summed=column,
        double="CAST({0} AS DOUBLE)",
        ns=NS_PER_MS // UNITS_PER_MS[unit],
        since=f"TIMEDIFF({time}, {start}, {_UNITS[unit]})",
        added_as_double=("float", "double", "bigint", "ubigint"),
    )


def sums_statement(trial: Trial, devices: Sequence[str]) -> str:
    """Without devices of all rows, by ""."""
    figures = listed(sums_dialect(trial).expressions(trial.work.data, ALL).values())
    if not devices:
        return f"SELECT '', {figures} FROM {DATABASE}.{TABLE}"
    quoted = listed(f"'{device}'" for device in named(devices))
    only = f" WHERE TBNAME IN ({quoted})" if quoted else ""
    return f"SELECT TBNAME, {figures} FROM {DATABASE}.{TABLE}{only} PARTITION BY TBNAME"


SHOWN = 3


def per_table(database: str, table: str, time: str) -> str:
    """Name, count, first and last time."""
    return (
        f"SELECT TBNAME t, COUNT(*) n, CAST(FIRST({time}) AS BIGINT) a, CAST(LAST({time}) AS BIGINT) b "
        f"FROM {database}.{table} GROUP BY TBNAME"
    )


def total(database: str, table: str, time: str) -> str:
    return f"SELECT COUNT(*), SUM(n) FROM ({per_table(database, table, time)})"


def not_consecutive(trial: Trial, database: str, table: str, time: str) -> str:
    """Tables that do not begin with the first timestamp, or whose number of rows does not fit their times."""
    units = UNITS_PER_MS[precision(trial)]
    step, start = trial.work.data.step_ms * units, trial.work.data.start_ms * units
    return (
        f"SELECT t, n, b - a + {step} FROM ({per_table(database, table, time)}) "
        f"WHERE a <> {start} OR b - a + {step} <> n * {step}"
    )
