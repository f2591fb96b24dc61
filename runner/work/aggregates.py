"""Reads that return an aggregate of columns: of a time range, above a bound, by stretches of time.

IoT-benchmark's letters: aggregate Q4, aggregate_value Q5, aggregate_range_value Q6, group_by_time Q7,
group_by_time_desc Q11. Several devices are aggregated together. Refuses a function that does not fit the column's type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner.model import Operation, Query, Work
from runner.work.read import BOUND, COLUMN, DEVICES, NUMBERS, RANGE, Given, Read

FUNCTIONS = ("avg", "count", "sum", "max", "min", "spread", "first", "last")
OF_NUMBERS = ("avg", "sum", "max", "min", "spread")
FUNCTION = {"function": f"{', '.join(FUNCTIONS)}; default avg"}
_BUCKET = {"bucket": "length of one stretch of time, like 10m; default 10m"}
_EACH = {"each": "device: the aggregates of each device by itself; default: all devices together"}
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
        grouped = {**_BUCKET, **(_LIMIT if self.is_limited else _EACH)} if self.by_time else {}
        return {**DEVICES, **COLUMN, **_COLUMNS, **FUNCTION, **narrow, **grouped}

    def query(self, work: Work, operation: Operation) -> Query:
        """One row, or one for each interval of time that has rows."""
        given = Given(work, operation)
        function = given.text("function", "avg")
        query = Query(
            devices=given.devices(),
            columns=columns_of(given, function),
            function=function,
            bucket_ms=given.time_ms("bucket", "10m") if self.by_time else 0,
            newest_first=self.newest_first,
            by_device=given.each() == "device",
        )
        if function in ("first", "last") and query.devices != 1 and not query.by_device:
            many = f"{query.devices or 'all'} devices have rows at the same time"
            raise ValueError(f"function = {function}: {many}; ask for one device")
        query = given.over_range(query) if self.is_ranged else query
        query = given.newest_before(query) if self.is_limited else query
        return given.above(query) if self.is_bound else query


def columns_of(given: Given, function: str) -> tuple[str, ...]:
    """The columns that are aggregated: those of `columns`, else that of `column`."""
    if not given.text("columns", ""):
        return (column_of(given, function),)
    if given.text("column", ""):
        raise ValueError("column: columns names them already; leave one of the two out")
    names = given.columns()
    for name in names:
        if function in OF_NUMBERS and given.kind_of(name) not in NUMBERS:
            raise ValueError(f"columns: {name} is {given.kind_of(name)}, and {function} wants a number")
    column_of(given, function)
    return names


def column_of(given: Given, function: str) -> str:
    """The column that is aggregated. Raises ValueError where the function does not fit its type."""
    if function not in FUNCTIONS:
        raise ValueError(f"function = {function}: not one of {', '.join(FUNCTIONS)}")
    if function not in OF_NUMBERS and given.text("column", ""):
        return given.any_column("column")
    column = given.number("column") if not given.text("column", "") else given.any_column("column")
    if function in OF_NUMBERS and given.kind_of(column) not in NUMBERS:
        raise ValueError(f"function = {function}: {column} is {given.kind_of(column)}, and {function} wants a number")
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
