"""Parts that languages like SQL share: conditions, aggregates, stretches of time, sums of stored rows, types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scale_sweep.experiment.work.sums import NS_PER_MS, column_types, figures_of
from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import PERCENTILE, Condition, Query, percent_of

RANKED = "ranked"  # the aggregate by which groups are ordered
SINCE = "since_first"  # the time since the first timestamp of the load, as a whole number
_OF_ROWS = {"rows": "count(*)", "first": "min({since})", "last": "max({since})", "times": "sum({since})"}
_FRACTIONS = ("float", "double")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a language spells them."""

    aggregates: Mapping[str, str]  # of a column {0}, {1} percent
    time: str  # the column of the times
    column: str = '"{0}"'
    moment: str = "{0}"  # of a mark {0} for ms since 1970
    length: str = "{0}"  # of {0} ms, added to a moment
    bucket: str = ""  # the start of a stretch of {0} ms; "": the language has its own clause
    value: str = "{0}"  # compared with a column
    tag: str = "{0}"  # compared with a text
    # for sums: a column by name and type, a boolean as a whole number
    summed: Callable[[str, str], str] | None = None
    double: str = "{0}"  # a cast
    added_as_double: tuple[str, ...] = _FRACTIONS  # cast before: a sum of floats in floats is not exact
    since: str = SINCE
    since_start: str = "time - {0}"  # where it gets that name; {0}: the first timestamp
    ns: int = NS_PER_MS  # in a unit of that time

    def columns(self, query: Query) -> tuple[str, ...]:
        return tuple(self.column.format(name) for name in query.columns)

    def values(self, query: Query) -> tuple[str, ...]:
        """The aggregates of each column. Raises KeyError for a function without one."""
        return tuple(
            self.aggregates[self._word(function)].format(self.column.format(name), percent_of(function))
            for function, name in query.values
        )

    def has(self, function: str) -> bool:
        return self._word(function) in self.aggregates

    def _word(self, function: str) -> str:
        """The median may be a percentile."""
        return function if percent_of(function) is None or function in self.aggregates else PERCENTILE

    def times(self, query: Query) -> list[str]:
        at, start, end = (self.moment.format(mark) for mark in ("{at}", "{from}", "{to}"))
        return {
            "always": [],
            "at": [f"{self.time} = {at}"],
            "range": [f"{self.time} >= {start}", f"{self.time} < {end}"],
            "before": [f"{self.time} < {end}"],
        }[query.when]

    def bounds(self, query: Query) -> list[str]:
        """On values: first those with the drawn value."""
        sign = "<" if query.is_below else ">"
        drawn = [f"{self.column.format(name)} {sign} {self.value.format('{value}')}" for name in query.bounds]
        return drawn + [self.condition(one) for one in query.conditions]

    def condition(self, one: Condition) -> str:
        return f"{self.column.format(one.column)} {one.sign} {self.value.format(spelled(one.value))}"

    def one_tag(self, query: Query) -> list[str]:
        """Languages compare a tag with a text also where it is a number."""
        if query.with_tag is None:
            return []
        name, value = query.with_tag
        return [f"{self.tag.format(self.column.format(name))} = '{value}'"]

    def conditions(self, query: Query) -> list[str]:
        return self.times(query) + self.bounds(query)

    def two_ranges(self, query: Query) -> tuple[list[str], list[str]]:
        start, end = (self.moment.format(mark) for mark in ("{from}", "{to}"))
        third = self.length.format(query.third_ms)
        return (
            [f"{self.time} >= {start}", f"{self.time} < {end} - {third}"],
            [f"{self.time} >= {start} + {third}", f"{self.time} < {end}"],
        )

    def aggregated(self, query: Query, source: str, device: str = "") -> str:
        """Aggregates of all rows, or of each stretch of time, device or value of a tag. source: a table with its
        conditions. device: a column."""
        label = (self.column.format(query.each_tag),) if query.each_tag else (device,) if query.by_device else ()
        bucket = (f"{self.bucket.format(query.bucket_ms)} AS bucket",) if query.bucket_ms else ()
        selected = f"SELECT {listed((*bucket, *label, *self.ranked_values(query)))} FROM {source}"
        if not bucket and not label:
            return selected
        each = (*(("bucket",) if bucket else ()), *label)
        order = (f"{each[0]}{descending(query)}", *each[1:])
        ordered = self.ordered(query) if query.by_value else f" ORDER BY {listed(order)}{limited(query)}"
        return f"{selected} GROUP BY {listed(each)}{ordered}"

    def ranked_values(self, query: Query) -> tuple[str, ...]:
        """The first has a name if rows are ordered by it."""
        first, *others = self.values(query)
        return (f"{first} AS {RANKED}" if query.by_value else first, *others)

    def ordered(self, query: Query) -> str:
        """The order by time or by a value, and the limit, with a space before them."""
        by = self.time if not query.by_value else RANKED if query.function else self.column.format(query.by_value)
        return f" ORDER BY {by}{descending(query)}{limited(query)}"

    def expressions(self, data: Workload, computed: Sequence[str]) -> Mapping[str, str]:
        """Expressions of figures of the stored rows (scale_sweep/experiment/work/sums.py), by name."""
        kinds = column_types(data)
        return {figure: self._expression(figure, kinds) for figure in figures_of(data, computed)}

    def _expression(self, figure: str, kinds: Mapping[str, str]) -> str:
        name, _, what = figure.rpartition(".")
        if not name:
            return _OF_ROWS[what].format(since=self.since)
        kind = kinds[name]
        column = self.summed(name, kind) if self.summed else self.column.format(name)
        double = self.double.format(column)
        if what == "values":
            return f"count({column})"
        if what == "timed":
            return f"sum({double} * {self.since})"
        if what == "sum":
            return f"sum({double if kind in self.added_as_double else column})"
        extreme = f"{'min' if what == 'least' else 'max'}({column})"
        return self.double.format(extreme) if kind in _FRACTIONS else extreme

    def in_ns(self, figures: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
        """A row by names, with times in ns."""
        values = dict(zip(figures, row, strict=True))
        for figure, value in values.items():
            if value is not None and figure in ("first", "last", "times"):
                values[figure] = int(value) * self.ns
            elif value is not None and figure.endswith(".timed"):
                values[figure] = float(value) * (self.ns / NS_PER_MS)
        return values

    def named_since(self, data: Workload) -> str:
        return f"{self.since_start.format(data.start_ms * (NS_PER_MS // self.ns))} AS {SINCE}"


def signed_types(names: str, *, ubigint: str = "", **more: str) -> dict[str, str]:
    """By types of columns; an unsigned whole number gets the next wider type. names: of bool, whole numbers of 1, 2, 4
    and 8 bytes, float, double, timestamp and text."""
    flag, one, two, four, eight, single, double, timestamp, text = names.split(", ")
    whole = {"tinyint": one, "smallint": two, "int": four, "bigint": eight}
    unsigned = {"utinyint": two, "usmallint": four, "uint": eight, **({"ubigint": ubigint} if ubigint else {})}
    others = {"float": single, "double": double, "timestamp": timestamp, "binary": text, "nchar": text}
    return {"bool": flag, **whole, **unsigned, **others, **more}


def spelled(value: float) -> str:
    """As for a mark: a whole number without a fraction."""
    return repr(value).removesuffix(".0")


def listed(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def where(conditions: Sequence[str]) -> str:
    """With a space before it; "" without a condition."""
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def descending(query: Query) -> str:
    return " DESC" if (query.largest_first if query.by_value else query.newest_first) else ""


def limited(query: Query) -> str:
    return f" LIMIT {query.limit}" if query.limit else ""
