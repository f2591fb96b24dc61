"""Reads that return an aggregate of columns, by stretches of time or groups of devices; and all rows of one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scale_sweep.experiment.work.aggregated import STRETCHES_MAX
from scale_sweep.experiment.work.read import BOUND, COLUMN, COLUMNS, DEVICES, NUMBERS, RANGE, WHOLE, Parameters, Read
from scale_sweep.model.declared import Operation, Work
from scale_sweep.model.questions import (
    COUNTS,
    FILL_NULL,
    FILLS,
    FURTHER,
    OF_ONE_DEVICE,
    PERCENTILE,
    PLAIN,
    Query,
    is_function,
    wants_number,
)

FUNCTIONS = tuple("p1 to p99" if name == PERCENTILE else name for name in (*PLAIN, *FURTHER))
FUNCTION = {
    "function": f"{', '.join(FUNCTIONS)}; default avg",
    "functions": "several functions, each of every column, instead of function",
}
_BUCKET = {"bucket": "length of one stretch of time, like 10m; default 10m"}
_EACH = {"each": "device, or a tag: the aggregates of each device or value by itself; default: all devices together"}
_TOP = {"top": "only so many groups of each, with the greatest values first; default: all"}
_FILL = {"fill": "the value of a stretch without rows: null, previous or linear; default: it has no row"}
_OF_SEVERAL_ROWS = ("rate", "stddev_samp")  # NULL where a stretch has one row
_EXACT = ("sum", "max", "min", "spread", "first", "last")  # whole numbers of whole numbers
_LIMIT = {"limit": "the newest so many stretches; default 5"}
_COLUMNS = {"columns": "several columns, each aggregated, instead of column"}


@dataclass(frozen=True)
class _Aggregate(Read):
    name: str
    title: str
    is_ranged: bool = True
    is_bound: bool = False
    by_time: bool = False
    newest_first: bool = False
    is_limited: bool = False

    @property
    def parameters(self) -> Mapping[str, str]:  # type: ignore[override]
        narrow = {**(RANGE if self.is_ranged else {}), **(BOUND if self.is_bound else {})}
        grouped = {**_EACH, **_TOP}
        if self.by_time:
            grouped = {**_BUCKET, **(_LIMIT if self.is_limited else {**_EACH, **_FILL})}
        return {**DEVICES, **COLUMN, **_COLUMNS, **FUNCTION, **narrow, **grouped}

    def query(self, work: Work, operation: Operation) -> Query:
        parameters = Parameters(work, operation)
        function, *more = functions = functions_of(parameters)
        query = Query(
            devices=parameters.devices(),
            columns=columns_of(parameters, functions),
            function=function,
            more_functions=tuple(more),
            bucket_ms=parameters.time_ms("bucket", "10m") if self.by_time else 0,
            newest_first=self.newest_first,
        )
        query = parameters.grouped(parameters.tagged(query))
        if (end := end_of(functions)) and query.devices != 1 and not query.by_device:
            many = f"{query.devices or 'all'} devices have rows at the same time"
            raise ValueError(f"function = {end}: {many}; ask for one device")
        query = parameters.over_range(query) if self.is_ranged else query
        query = parameters.newest_before(query) if self.is_limited else filled_by(parameters, query)
        return parameters.bounded(query) if self.is_bound else query


def filled_by(parameters: Parameters, query: Query) -> Query:
    """Raises ValueError where databases differ."""
    fill = parameters.text("fill", "")
    if not fill:
        return query
    if fill not in FILLS:
        raise ValueError(f"fill = {fill}: not one of {', '.join(FILLS)}")
    for function, column in query.values:
        kind = parameters.kind_of(column)
        if function in COUNTS:
            raise ValueError(f"fill: {function} of no rows is 0 in some databases and NULL in others; leave it out")
        if kind not in NUMBERS:
            raise ValueError(f"fill: {column} is {kind}, and only numbers are filled")
        if fill != FILL_NULL and function in _OF_SEVERAL_ROWS:
            raise ValueError(f"fill = {fill}: {function} has no value in a stretch of one row; use fill = null")
        if fill == "linear" and function in _EXACT and kind in WHOLE:
            sentence = f"databases round the values between two whole numbers of {column} differently"
            raise ValueError(f"fill = linear: {sentence}; use function = avg, or a column of fractions")
    if query.bucket_ms and query.span_ms // query.bucket_ms >= STRETCHES_MAX:
        raise ValueError(f"fill: a range has {STRETCHES_MAX:,} stretches of time at most; make bucket longer")
    return replace(query, fill=fill)


def functions_of(parameters: Parameters) -> tuple[str, ...]:
    several = parameters.text("functions", "")
    if several and parameters.text("function", ""):
        raise ValueError("function: functions names them already; leave one of the two out")
    names = tuple(dict.fromkeys(name.strip() for name in (several or parameters.text("function", "avg")).split(",")))
    for name in names:
        if not is_function(name):
            raise ValueError(f"{'functions' if several else 'function'} = {name}: not one of {', '.join(FUNCTIONS)}")
    return names


def end_of(functions: Sequence[str]) -> str:
    return next((name for name in functions if name in OF_ONE_DEVICE), "")


def columns_of(parameters: Parameters, functions: Sequence[str]) -> tuple[str, ...]:
    """Raises ValueError where a function does not fit the type of one."""
    wanting, column = next(filter(wants_number, functions), ""), parameters.text("column", "")
    names: tuple[str, ...]
    if not parameters.text("columns", ""):
        names, where = (
            (parameters.any_column("column") if column else parameters.number("column"),),
            f"function = {wanting}",
        )
    elif column:
        raise ValueError("column: columns names them already; leave one of the two out")
    else:
        names, where = parameters.columns(), "columns"
    for name in names:
        if wanting and parameters.kind_of(name) not in NUMBERS:
            raise ValueError(f"{where}: {name} is {parameters.kind_of(name)}, and {wanting} needs a number")
    return names


AGGREGATE = _Aggregate("aggregate", "an aggregate over a time range")
AGGREGATE_VALUE = _Aggregate(
    "aggregate_value", "an aggregate over all time, of rows above a bound", is_ranged=False, is_bound=True
)
AGGREGATE_RANGE_VALUE = _Aggregate(
    "aggregate_range_value", "an aggregate over a time range, of rows above a bound", is_bound=True
)
GROUP_BY_TIME = _Aggregate("group_by_time", "an aggregate of each stretch of time", by_time=True)
GROUP_BY_TIME_DESC = _Aggregate(
    "group_by_time_desc", "an aggregate of each stretch of time, newest first", by_time=True, newest_first=True
)
GROUP_BY_TIME_LIMIT = _Aggregate(
    "group_by_time_limit",
    "an aggregate of each of the newest stretches of time before a time",
    by_time=True,
    newest_first=True,
    is_limited=True,
)


TAG = {"tag": "the tag whose value is the group; default: the first whole number of few values"}
_BY_NAME = {("groupid", "int"): (1, 10), ("devgroup", "int"): (0, 99)}  # as the load generator draws them
_BY_TYPE = {"tinyint": (0, 100), "utinyint": (0, 200)}
_KNOWN = "groupid:int (1 to 10), devgroup:int (0 to 99), tinyint (0 to 100), utinyint (0 to 200)"
_FRACTION = "the part of all groups that one request reads, 0.1 to 1"


class _Grouped(Read):
    def _over(self, work: Work, parameters: Parameters, query: Query, groups: int = 0, fraction: str = "1") -> Query:
        known = {}  # the first and the last group by each tag that can say one
        for name, _, kind in (tag.partition(":") for tag in work.data.tags):
            if ends := _BY_NAME.get((name, kind)) or _BY_TYPE.get(kind):
                known[name] = ends
        if not known:
            raise ValueError(f"tag: no tag of {', '.join(work.data.tags) or 'the tables'} names a group: {_KNOWN}")
        tag = parameters.text("tag", next(iter(known)))
        if tag not in known:
            raise ValueError(f"tag = {tag}: not one of {', '.join(known)}, whose values are groups ({_KNOWN})")
        first, last = known[tag]
        count = last - first + 1
        some = groups or max(1, round(parameters.fraction("fraction", fraction) * count))
        return replace(query, devices=0, tag=tag, groups=some % count, low=first, high=last - some + 1)

    def _aggregate(self, parameters: Parameters) -> Query:
        function, *more = functions = functions_of(parameters)
        if end := end_of(functions):
            raise ValueError(f"function = {end}: the devices of a group have rows at the same time")
        return Query(columns=columns_of(parameters, functions), function=function, more_functions=tuple(more))


class _GroupByTag(_Grouped):
    name, title = "group_by_tag", "an aggregate of each group of devices, by a tag"
    parameters: Mapping[str, str] = {**TAG, "fraction": f"{_FRACTION}; default 1", **COLUMN, **FUNCTION}

    def query(self, work: Work, operation: Operation) -> Query:
        parameters = Parameters(work, operation)
        return replace(self._over(work, parameters, self._aggregate(parameters)), by_tag=True)


_STRETCH = {"bucket": "length of one stretch of time, like 1m; default: all time together"}


class _AggregateTag(_Grouped):
    name, title = "aggregate_tag", "an aggregate over all time, of the devices of some groups"
    parameters: Mapping[str, str] = {**TAG, "fraction": f"{_FRACTION}; default 0.1", **COLUMN, **FUNCTION, **_STRETCH}

    def query(self, work: Work, operation: Operation) -> Query:
        parameters = Parameters(work, operation)
        query = replace(self._aggregate(parameters), bucket_ms=parameters.time_ms("bucket", ""))
        return self._over(work, parameters, query, fraction="0.1")


class _ScanTag(_Grouped):
    name, title = "scan_tag", "all rows of the devices of one group"
    parameters: Mapping[str, str] = {**TAG, **COLUMNS}

    def query(self, work: Work, operation: Operation) -> Query:
        parameters = Parameters(work, operation)
        return self._over(work, parameters, Query(columns=parameters.columns()), groups=1)


GROUP_BY_TAG, AGGREGATE_TAG, SCAN_TAG = _GroupByTag(), _AggregateTag(), _ScanTag()
