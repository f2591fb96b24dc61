"""Queries in QuestDB's SQL, with placeholders, and sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work.sums import ALL, column_types
from scale_sweep.model.declared import Workload
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import FILLS, Query
from scale_sweep.server.targets.questdb.questdb_facts import PGWIRE
from scale_sweep.server.targets.series import DEVICE, MEASUREMENT, in_parts, named, part_names
from scale_sweep.server.targets.sql_dialect import Dialect, descending, listed, where

_TABLE = f'"{MEASUREMENT}_p{{part}}"'
_MINE, _SAME = f"{DEVICE} = '{{device}}'", f"{DEVICE} = '{{again}}'"
_AGGREGATES = {
    "count": "count({0})",
    "avg": "avg({0}::double)",
    "sum": "sum({0}::double)",
    "max": "max({0})",
    "min": "min({0})",
    "spread": "max({0})::double - min({0})::double",
    "first": "first({0})",
    "last": "last({0})",
    "stddev": "stddev_pop({0}::double)",
    "stddev_samp": "stddev_samp({0}::double)",
    "count_distinct": "count_distinct({0})",
    "rate": "(last({0})::double - first({0})::double) / ((max(timestamp) - min(timestamp)) / 1000000.0)",
    "max_time": "max(timestamp)",
    "min_time": "min(timestamp)",
}
_FILLS = dict(zip(FILLS, ("NULL", "PREV", "LINEAR"), strict=True))


def _summed(name: str, kind: str) -> str:
    return f'"{name}"::int' if kind == "bool" else f'"{name}"'


SQL = Dialect(
    aggregates=_AGGREGATES,
    time="timestamp",
    moment="{0}000",
    length="{0}000",
    bucket="timestamp_floor('{0}T', timestamp)",
    summed=_summed,
    double="({0})::double",
    added_as_double=("float", "double", "bigint", "uint"),  # the last two are LONG
    since_start="timestamp::long - {0}",
    ns=1000,
)
FIGURES_MAX = 40  # of one statement, which is in an address, whose length QuestDB limits


def rendered(query: Query, data: Workload, method: str) -> str:
    """One statement. Raises CannotAsk."""
    if method == PGWIRE:
        raise CannotAsk("QuestDB is asked over HTTP, not by PGWire", remedy="--method http")
    if query.text:
        return query.text
    _check_counts(query, data)
    if query.by_tag:
        groups = listed((_number_of(query.tag), *SQL.values(query)))
        return f"SELECT {groups} FROM {_source(query)} GROUP BY 1 ORDER BY 1"
    if query.fill:
        return _filled(query)
    if query.function:
        return SQL.aggregated(query, _source(query), DEVICE)
    device = (DEVICE,) if query.tells_device else ()
    cells = listed(("timestamp", *device, *SQL.columns(query)))
    if query.sets:
        return _set(query, cells)
    behind = f" LATEST ON timestamp PARTITION BY {DEVICE}" if query.latest else ""
    each = [f"SELECT {cells} FROM {one}{behind}" for one in _tables(query)]
    if query.is_unordered:
        return _all(each)
    many = f"SELECT * FROM ({_all(each)})" if len(each) > 1 else each[0]
    return many + SQL.ordered(query)


def _check_counts(query: Query, data: Workload) -> None:
    if "count_distinct" in query.functions:
        for column in query.columns:
            if column_types(data)[column] in ("float", "double"):
                raise CannotAsk("QuestDB counts different values of whole numbers and texts only")


def timed(text: str) -> bool:
    """Whether the answer's rows begin with a time."""
    return text.replace("SELECT * FROM ", "").lstrip("(").startswith("SELECT timestamp")


def _tables(query: Query) -> list[str]:
    """Tables with conditions: one for each device that is asked for, or every table."""
    if query.devices:
        return [f"{_TABLE}{where([_MINE, *SQL.conditions(query)])}"] * query.devices
    chosen = where([*_groups(query), *SQL.one_tag(query), *SQL.conditions(query)])
    return [f'"{MEASUREMENT}_p{part}"{chosen}' for part in range(query.parts)]


def _source(query: Query) -> str:
    tables = _tables(query)
    if len(tables) == 1:
        return tables[0]
    tag = query.tag if query.by_tag else query.each_tag
    apart = (*((DEVICE,) if query.by_device else ()), *((SQL.column.format(tag),) if tag else ()))
    cells = listed(("timestamp", *apart, *SQL.columns(query)))
    return f"({_all([f'SELECT {cells} FROM {one}' for one in tables])})"


def _filled(query: Query) -> str:
    label = (SQL.column.format(query.each_tag),) if query.each_tag else (DEVICE,) if query.by_device else ()
    source = _source(query)
    if source.startswith("("):
        source = f"({source} ORDER BY timestamp) TIMESTAMP(timestamp)"
    cells = listed(("timestamp", *label, *SQL.values(query)))
    order = listed((f"timestamp{descending(query)}", *label))
    stretches = f"SAMPLE BY {query.bucket_ms}T FILL({_FILLS[query.fill]}) ALIGN TO CALENDAR"
    return f"SELECT {cells} FROM {source} {stretches} ORDER BY {order}"


def _groups(query: Query) -> list[str]:
    if not query.groups:
        return []
    if query.groups == 1:
        return [f"{SQL.column.format(query.tag)} = '{{value}}'"]
    number = _number_of(query.tag)
    return [f"{number} >= {{value}}", f"{number} < {{value}} + {query.groups}"]


def _number_of(tag: str) -> str:
    return f"{SQL.column.format(tag)}::int"


def _set(query: Query, cells: str) -> str:
    one, other = SQL.two_ranges(query)
    each = ([_MINE, *one], [_SAME, *other])
    both = f" {query.sets.upper()} ".join(f"SELECT {cells} FROM {_TABLE}{where(these)}" for these in each)
    return f"SELECT * FROM ({both}) ORDER BY timestamp"


def _all(each: Sequence[str]) -> str:
    return each[0] if len(each) == 1 else " UNION ALL ".join(f"({one})" for one in each)


def statements(trial: Trial, devices: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    """Figures and the statement for them by device, for each table; without devices of all rows, by ""."""
    quoted = listed(f"'{device}'" for device in named(devices))
    only = f" WHERE {DEVICE} IN ({quoted})" if quoted else ""
    since = SQL.named_since(trial.work.data)
    sources = [f"SELECT *, {since} FROM '{table}'{only}" for table in part_names(trial)]
    expressions = SQL.expressions(trial.work.data, ALL)
    for some in in_parts(tuple(expressions), FIGURES_MAX):
        figures = listed(expressions[name] for name in some)
        if not devices:
            yield some, f"SELECT '' AS {DEVICE}, {figures} FROM ({' UNION ALL '.join(sources)})"
        for source in sources if devices else ():
            yield some, f"SELECT {DEVICE}, {figures} FROM ({source}) GROUP BY {DEVICE}"
