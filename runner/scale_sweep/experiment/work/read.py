"""The base class of kinds of reads, and the reading of their parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from scale_sweep.base.units import parse_count, parse_seconds
from scale_sweep.experiment.work.drawn import bounds_of
from scale_sweep.experiment.work.operation import OperationKind, Rate
from scale_sweep.model.declared import Operation, Work
from scale_sweep.model.questions import Condition, Query

REQUESTS = Rate(field="requests_per_s", words="requests/s")
WHOLE = ("tinyint", "smallint", "int", "bigint", "utinyint", "usmallint", "uint", "ubigint")
NUMBERS = (*WHOLE, "float", "double")
TEXTS = ("binary", "nchar")
LIMIT_MAX = 10_000
DEVICES = {
    "devices": "how many devices one request reads, or all; default 1",
    "tagged": "instead of devices: those with this value of a tag, like location=Berlin",
}
COLUMNS = {"columns": "the columns returned, by name; default: all"}
COLUMN = {"column": "the column that is aggregated; default: the first number"}
RANGE = {
    "span": "length of the time range, like 1h; default 1h",
    "step": "starts of ranges are multiples of it; default: the time between two rows",
    "recent": "starts lie within the newest so much time; default: anywhere",
}
SIDES = ("above", "below", "between")
BETWEEN = SIDES[2]
BOUND = {
    "bound": "only rows above it: a number, or LOW..HIGH of which each request draws one",
    "side": "above, below (only rows below the bound) or between (only rows from LOW to HIGH); default above",
    "selectivity": "instead of bound: the share of all rows within, like 10%; needs values of the law random",
    "bound_column": "the column that is compared with the bound; default: the first number",
    "where": "further conditions on columns of numbers, like voltage<220,phase>0.5",
}


ORDER = {
    "limit": "only the first so many rows; default: all",
    "order": "a returned column by which the rows are ordered, like voltage or voltage desc; default: time",
}


class Read(OperationKind):
    unit = "requests"
    answers: Literal["", "checked", "unchecked"] = "checked"

    def spec_lines(self, work: Work, operation: Operation) -> dict[str, str]:
        """The target renders the text of a request."""
        query = self.query(work, operation)
        assert query is not None
        drawn = {
            # A moment is the range up to the next row's, for a language that has no range of one moment.
            "span_ms": query.span_ms or (work.data.step_ms if query.when == "at" else 0),
            "step_ms": query.step_ms,
            "recent_ms": query.recent_ms,
            "value_low": query.low,
            "value_high": query.high,
            "value_step": 1 if query.tag else 0,
        }
        lines = {f"ask.{operation.name}.{name}": f"{value:.10g}" for name, value in drawn.items() if value}
        empty = {f"ask.{operation.name}.empty": "zero" if query.counts else "null"}
        return {**lines, **(empty if query.is_one_aggregate else {})}

    def rate(self, *, durable: bool) -> Rate:
        return REQUESTS


class Parameters:
    """Every method raises ValueError with one sentence."""

    def __init__(self, work: Work, operation: Operation) -> None:
        self._work, self._parameters = work, operation.parameters
        self._types = {n: t.partition("(")[0] for n, _, t in (c.partition(":") for c in work.data.columns)}

    def text(self, name: str, default: str) -> str:
        return self._parameters.get(name, default)

    def devices(self) -> int:
        if self.text("devices", "") == "all":
            return 0
        count: int = _read("devices", self.text("devices", "1"), parse_count)
        if not 1 <= count <= self._work.data.tables:
            raise ValueError(f"devices = {count}: 1 to {self._work.data.tables:,} of the tables")
        return count

    def columns(self) -> tuple[str, ...]:
        names = tuple(name.strip() for name in self.text("columns", ",".join(self._types)).split(","))
        for name in names:
            self._known("columns", name)
        return tuple(dict.fromkeys(names))

    def grouped(self, query: Query) -> Query:
        """By a tag, all devices are asked for."""
        by, top, known = self.text("each", ""), self.text("top", ""), self._tags()
        if by not in ("", "device", *known):
            raise ValueError(f"each = {by}: not {', '.join(('device', *known))}")
        if top and not by:
            raise ValueError("top: of which groups? Name them by each")
        if by in known:
            query = replace(query, devices=0, each_tag=by)
        query = replace(query, by_device=by == "device")
        return (
            replace(query, limit=self._limit("top", top), by_value=query.columns[0], largest_first=True)
            if top
            else query
        )

    def tagged(self, query: Query) -> Query:
        text = self.text("tagged", "")
        if not text:
            return query
        if self.text("devices", ""):
            raise ValueError("tagged: devices are named already; leave one of the two out")
        name, _, value = (part.strip() for part in text.partition("="))
        if name not in self._tags() or not value or set(value) & set("'\"\\{}&"):
            known = ", ".join(self._tags())
            raise ValueError(f"tagged = {text}: like TAG=VALUE, without quotes, braces and &; TAG is one of {known}")
        return replace(query, devices=0, with_tag=(name, value))

    def _tags(self) -> list[str]:
        tags = (one.partition(":") for one in self._work.data.tags)
        return [name for name, _, kind in tags if kind.partition("(")[0] in (*WHOLE, *TEXTS)]

    def ordered(self, query: Query) -> Query:
        column, _, direction = self.text("order", "").partition(" ")
        limit = self.text("limit", "")
        if direction not in ("", "desc"):
            raise ValueError(f"order = {column} {direction}: like {column}, or {column} desc")
        if column and (column not in query.columns or self._types[column] not in NUMBERS):
            raise ValueError(f"order = {column}: not a column of numbers that is returned")
        if column and not limit:
            raise ValueError("limit is missing: how many rows, like 10, are wanted in the order of their values")
        ordered = replace(query, by_value=column, largest_first=direction == "desc")
        return replace(ordered, limit=self._limit("limit", limit)) if limit else ordered

    def number(self, name: str) -> str:
        numbers = [column for column, kind in self._types.items() if kind in NUMBERS]
        if name not in self._parameters:
            if not numbers:
                raise ValueError(f"{name}: no column holds numbers")
            return numbers[0]
        column = self.any_column(name)
        if column not in numbers:
            raise ValueError(f"{name} = {column}: {self._types[column]} is not a number")
        return column

    def any_column(self, name: str) -> str:
        column = self.text(name, next(iter(self._types)))
        self._known(name, column)
        return column

    def kind_of(self, column: str) -> str:
        return self._types[column]

    def time_ms(self, name: str, default: str) -> int:
        """0 without a value and a default."""
        text = self.text(name, default)
        if not text:
            return 0
        seconds: float = _read(name, text, parse_seconds)
        ms = round(seconds * 1000)
        if ms <= 0:
            raise ValueError(f"{name} = {text}: must be above 0")
        return ms

    def fraction(self, name: str, default: str) -> float:
        value: float = _read(name, self.text(name, default), float)
        if not 0 < value <= 1:
            raise ValueError(f"{name} = {value:g}: more than 0, and 1 at most")
        return value

    def over_range(self, query: Query) -> Query:
        data = self._work.data
        span, step = self.time_ms("span", "1h"), self.time_ms("step", "")
        present = self._work.rows_present * data.step_ms
        if span > present:
            raise ValueError(
                f"span: {span / 1000:g} s are longer than the {present / 1000:g} s of data that the preload makes "
                f"({self._work.rows_present:,} rows of each table, {data.step_ms} ms apart)"
            )
        if step % data.step_ms:
            raise ValueError(f"step: {step} ms are not a multiple of the {data.step_ms} ms between two rows")
        return replace(query, when="range", span_ms=span, step_ms=step, recent_ms=self.time_ms("recent", ""))

    def newest_before(self, query: Query) -> Query:
        return replace(query, when="before", limit=self._limit("limit", self.text("limit", "5")))

    def _limit(self, name: str, text: str) -> int:
        limit: int = _read(name, text, parse_count)
        if not 1 <= limit <= LIMIT_MAX:
            raise ValueError(f"{name} = {limit}: 1 to {LIMIT_MAX:,}")
        return limit

    def bounded(self, query: Query) -> Query:
        """The drawn bound with its range, and the fixed ones."""
        side, column = self.text("side", SIDES[0]), self.number("bound_column")
        if side not in SIDES:
            raise ValueError(f"side = {side}: not one of {', '.join(SIDES)}")
        low, high = self._bounds(side, column)
        conditions = tuple(self._condition(text) for text in self.text("where", "").split(",") if text.strip())
        query = replace(query, bound_column=column, is_below=side == "below", low=low, high=high, conditions=conditions)
        if side != BETWEEN:
            return query
        return replace(query, high=low, conditions=(Condition(column=column, sign="<", value=high), *conditions))

    def _bounds(self, side: str, column: str) -> tuple[float, float]:
        text, share = self.text("bound", ""), self.text("selectivity", "")
        if text and share:
            raise ValueError("selectivity: the bound is there already; leave one of the two out")
        if share:
            lower, upper = bounds_of(self._work.data, column, _share(share), side)
            return {"above": (lower, lower), "below": (upper, upper), BETWEEN: (lower, upper)}[side]
        if not text:
            raise ValueError("bound is missing: a number, or LOW..HIGH; or a selectivity, like 10%")
        first, dots, last = text.partition("..")
        low = _read("bound", first, float)
        high = _read("bound", last, float) if dots else low
        if not low <= high:
            raise ValueError(f"bound = {text}: runs backwards")
        if side == BETWEEN and low == high:
            raise ValueError(f"bound = {text}: between needs two bounds, LOW..HIGH")
        return low, high

    def _condition(self, text: str) -> Condition:
        sign: Literal["<", ">"] = "<" if "<" in text else ">"
        column, _, value = (part.strip() for part in text.partition(sign))
        if self._types.get(column) not in NUMBERS:
            raise ValueError(f"where = {text.strip()}: like COLUMN<NUMBER or COLUMN>NUMBER, of a column of numbers")
        return Condition(column=column, sign=sign, value=_read("where", value, float))

    def _known(self, parameter: str, column: str) -> None:
        if column not in self._types:
            raise ValueError(f"{parameter} = {column}: no such column; there are {', '.join(self._types)}")


def _share(text: str) -> float:
    number, percent, rest = text.partition("%")
    share: float = _read("selectivity", number.strip(), float)
    if not percent or rest.strip() or not 0 < share < 100:
        raise ValueError(f"selectivity = {text}: a percentage above 0% and below 100%, like 10%")
    return share / 100


def _read(name: str, text: str, reader: Callable[[str], Any]) -> Any:
    try:
        return reader(text)
    except ValueError as error:
        words = f"{text!r} is not a number" if reader is float else str(error)
        raise ValueError(f"{name}: {words}") from None
