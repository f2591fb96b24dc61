"""Reads that return an aggregate of columns: of a time range, within bounds, by stretches of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scale_sweep.experiment.work.filled import STRETCHES_MAX
from scale_sweep.experiment.work.read import BOUND, COLUMN, DEVICES, NUMBERS, RANGE, WHOLE, Parameters, Read
from scale_sweep.model import FILL_NULL, FILLS, Operation, Query, Work
from scale_sweep.model.questions import COUNTS, FURTHER, OF_ONE_DEVICE, PERCENTILE, PLAIN, is_function, wants_number

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
    def parameters(self) -> Mapping[str, str]:
        """The parameters of an aggregate, and those that restrict its rows."""
        narrow = {**(RANGE if self.is_ranged else {}), **(BOUND if self.is_bound else {})}
        grouped = {**_EACH, **_TOP}
        if self.by_time:
            grouped = {**_BUCKET, **(_LIMIT if self.is_limited else {**_EACH, **_FILL})}
        return {**DEVICES, **COLUMN, **_COLUMNS, **FUNCTION, **narrow, **grouped}

    def query(self, work: Work, operation: Operation) -> Query:
        """One row, or one for each interval of time that has rows."""
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
    """The query with what its stretches without rows have. Raises ValueError where databases have different values."""
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
    """The first of the functions that is of the rows of one device only; "" if none is."""
    return next((name for name in functions if name in OF_ONE_DEVICE), "")


def columns_of(parameters: Parameters, functions: Sequence[str]) -> tuple[str, ...]:
    """The columns that are aggregated: those of `columns`, else that of `column`. Raises ValueError where a function
    does not fit the type of one."""
    wanting = next(filter(wants_number, functions), "")
    if not parameters.text("columns", ""):
        return (_column_of(parameters, wanting),)
    if parameters.text("column", ""):
        raise ValueError("column: columns names them already; leave one of the two out")
    names = parameters.columns()
    for name in names:
        if wanting and parameters.kind_of(name) not in NUMBERS:
            raise ValueError(f"columns: {name} is {parameters.kind_of(name)}, and {wanting} needs a number")
    return names


def _column_of(parameters: Parameters, wanting: str) -> str:
    column = parameters.any_column("column") if parameters.text("column", "") else parameters.number("column")
    if wanting and parameters.kind_of(column) not in NUMBERS:
        raise ValueError(
            f"function = {wanting}: {column} is {parameters.kind_of(column)}, and {wanting} needs a number"
        )
    return column


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
