"""A query in no database's language, and what was checked of its answers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

PLAIN = ("avg", "count", "sum", "max", "min", "spread", "first", "last")
PERCENTILE = "percentile"  # p1 to p99
FURTHER = ("median", PERCENTILE, "stddev", "stddev_samp", "count_distinct", "rate")  # not in every database
COUNTS = ("count", "count_distinct")  # 0 without rows; of values of any type
ENDS = ("first", "last")
OF_ONE_DEVICE = (*ENDS, "rate")  # several devices have rows of the same time
_PERCENTILE = re.compile(r"p([1-9]\d?)")


def percent_of(function: str) -> int | None:
    """None for another function."""
    match = _PERCENTILE.fullmatch(function)
    return int(match.group(1)) if match else 50 if function == "median" else None


def kind_of(function: str) -> str:
    return PERCENTILE if _PERCENTILE.fullmatch(function) else function


def is_function(name: str) -> bool:
    return name in PLAIN or kind_of(name) in FURTHER and name != PERCENTILE


def wants_number(function: str) -> bool:
    return function not in (*COUNTS, *ENDS)


When = Literal["always", "at", "range", "before"]
FILL_NULL = "null"
FILLS = (FILL_NULL, "previous", "linear")
Cells = tuple[Any, ...]
ALL_DEVICES, SEVERAL_COLUMNS = "all devices together", "aggregates of several columns"
EACH_DEVICE, NEWEST_BEFORE = "aggregates of each device", "the newest stretches of time before a time"
SEVERAL_FUNCTIONS, MORE_BOUNDS = "several functions at once", "rows below a bound, or within several bounds"
FIRST_ROWS, BY_VALUE = "the first rows of a longer answer", "rows in the order of their values"
EACH_TAG, ONE_TAG = "aggregates by any tag", "the devices with one value of a tag"
NEEDS = (
    ALL_DEVICES,
    SEVERAL_COLUMNS,
    EACH_DEVICE,
    NEWEST_BEFORE,
    SEVERAL_FUNCTIONS,
    MORE_BOUNDS,
    FIRST_ROWS,
    BY_VALUE,
    EACH_TAG,
    ONE_TAG,
)
_NEEDED_LOOSELY = (SEVERAL_COLUMNS, MORE_BOUNDS)  # also where answers are only counted


@dataclass(frozen=True, kw_only=True)
class Condition:
    column: str
    sign: Literal["<", ">"]
    value: float

    @property
    def of_whole(self) -> Condition:
        return replace(self, value=float(math.floor(self.value) if self.sign == ">" else math.ceil(self.value)))


@dataclass(frozen=True, kw_only=True)
class Query:
    """A row of an answer: the time in ms, the device if there are several, the columns. Of an aggregate: the start of
    the bucket in ms, the device (by_device) or the tag's value (each_tag), each function of each column. Ordered by
    time."""

    devices: int = 1  # 0: all, or those of groups if there is a tag
    columns: tuple[str, ...] = ()  # returned, or aggregated
    when: When = "always"  # of all time, of a moment, of [from, to), or before `to`
    function: str = ""  # "": rows
    more_functions: tuple[str, ...] = ()  # of the same columns
    bucket_ms: int = 0  # of stretches that begin at multiples of it since 1970; 0: all rows together
    fill: str = ""  # NULL, the value before, or on the line between two; "": a stretch without rows has none
    bound_column: str = ""  # only values above the drawn one
    is_below: bool = False
    more_bounds: tuple[str, ...] = ()  # compared with the same value
    conditions: tuple[Condition, ...] = ()
    is_loose: bool = False  # answers are only counted: devices may be aggregated alone, stretches begin with the range
    newest_first: bool = False
    latest: bool = False  # row of each device
    sets: str = ""  # union, intersect or except of the first and the last two thirds of the span
    tag: str = ""  # the devices are those of groups by this tag
    groups: int = 0  # consecutive, from the drawn one; 0: all
    by_tag: bool = False  # an aggregate of each group, ordered by the group; rows of a group in any order
    by_device: bool = False  # aggregates of each device by itself
    each_tag: str = ""  # of devices with the same value of this tag
    with_tag: tuple[str, str] | None = None  # a tag's name and value; None: all devices
    limit: int = 0  # first rows; 0: all
    by_value: str = ""  # a column, or its first aggregate; "": by time
    largest_first: bool = False
    text: str = ""  # the user's own, with placeholders
    span_ms: int = 0
    step_ms: int = 0  # starts are multiples of it from the first row on, 0: of the time between rows
    recent_ms: int = 0  # starts lie in the newest ms, 0: anywhere
    low: float = 0.0  # low, high: of the value, uniform
    high: float = 0.0
    parts: int = 1  # of the trial's tables, which a text may name

    @property
    def bounds(self) -> tuple[str, ...]:
        return (self.bound_column, *self.more_bounds) if self.bound_column else ()

    def compared(self, value: float) -> tuple[Condition, ...]:
        sign: Literal["<", ">"] = "<" if self.is_below else ">"
        drawn = (Condition(column=column, sign=sign, value=value) for column in self.bounds)
        return (*drawn, *self.conditions)

    @property
    def functions(self) -> tuple[str, ...]:
        return (self.function, *self.more_functions) if self.function else ()

    @property
    def values(self) -> tuple[tuple[str, str], ...]:
        """In the order of a row."""
        return tuple((function, column) for column in self.columns for function in self.functions)

    @property
    def counts(self) -> bool:
        return any(function in COUNTS for function in self.functions)

    @property
    def tells_device(self) -> bool:
        if self.function:
            return self.by_device
        return (self.devices != 1 and not self.text) or bool(self.tag)

    @property
    def is_one_aggregate(self) -> bool:
        return bool(self.function) and not (self.bucket_ms or self.by_tag or self.is_grouped)

    @property
    def is_grouped(self) -> bool:
        """An aggregate of each device, or of each value of a tag."""
        return self.by_device or bool(self.each_tag)

    @property
    def has_time(self) -> bool:
        return not self.function or self.bucket_ms > 0

    @property
    def keys(self) -> int:
        """First cells that say which row it is: its time, and whose."""
        return int(self.has_time) + int(self.tells_device or bool(self.each_tag))

    @property
    def is_ranked(self) -> bool:
        """First rows, or by a value: equal values have any order."""
        return bool(self.by_value) or (self.limit > 0 and self.when != "before")

    @property
    def third_ms(self) -> int:
        """Each of two overlapping ranges lacks it: the first at its end, the other at its start."""
        return self.span_ms // 3

    @property
    def is_unordered(self) -> bool:
        return self.latest or self.is_grouped or bool(self.tag and not self.function)

    @property
    def needs(self) -> tuple[str, ...]:
        """A language must have these, in words, beside rows and one aggregate of named devices."""
        wanted = {
            ALL_DEVICES: self.devices == 0 and not (self.tag or self.text),
            SEVERAL_COLUMNS: bool(self.function) and len(self.columns) > 1,
            SEVERAL_FUNCTIONS: bool(self.more_functions),
            EACH_DEVICE: self.by_device,
            NEWEST_BEFORE: self.when == "before",
            MORE_BOUNDS: self.is_below or bool(self.conditions or self.more_bounds),
            FIRST_ROWS: self.limit > 0 and self.when != "before",
            BY_VALUE: bool(self.by_value),
            EACH_TAG: bool(self.each_tag),
            ONE_TAG: self.with_tag is not None,
        }
        needed = _NEEDED_LOOSELY if self.is_loose else NEEDS
        return tuple(words for words in needed if wanted[words])


@dataclass(frozen=True, kw_only=True)
class Drawn:
    devices: tuple[int, ...]  # from 0
    groups: tuple[int | str, ...] = ()  # of each device, if a tag selected them
    from_ms: int = 0
    to_ms: int = 0
    value: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Preloaded:
    """data_bytes: growth of the files until the server was at rest (None: not visible); seconds: until then."""

    rows: int
    data_bytes: int | None
    seconds: float
    copied: str = ""  # "reflink" or "copy" of files for several trials; "": it loaded its own
    copied_s: float | None = None
    cached_percent: float | None = None  # of its files, just before the load
    idle_cores: float | None = None  # used when it was taken to be at rest
    log_bytes: int | None = None  # the part of data_bytes in the write-ahead log


@dataclass(frozen=True, kw_only=True)
class AnswersChecked:
    """Whole answers before the window, and numbers of rows in the load, beside the right ones."""

    operation: str
    whole: int = 0
    counted: int = 0
    compared: int = 0  # with their whole content
    within: int | None = None  # those in the window; None: not known
    seconds: float = 0.0  # after the load
    wrong: tuple[str, ...] = ()  # sentences about the first
    devices: str = ""  # compared values, as ranges (0-3,7); "": not known
    tested_rows: int = 0  # compared with bounds
    passed_rows: int = 0  # within them


@dataclass(frozen=True, kw_only=True)
class OperationFigures:
    """Over the whole window."""

    weight: float
    window_s: float | None = None
    requests: int | None = None  # answered
    requests_per_s: float | None = None
    rows_per_s: float | None = None  # written and acknowledged; read_*: in the answers
    read_rows_per_s: float | None = None
    read_values_per_s: float | None = None
    read_mb_per_s: float | None = None
    errors: int | None = None
    empty: int | None = None  # without a row
    checked_before: int | None = None  # checked_before, checked_within: compared answers
    checked_within: int | None = None
    checked_rows: int | None = None  # only by their number of rows
    checked_devices: str = ""  # as ranges
    check_cpu_s: float | None = None  # for requests whose answers were compared
    check_s: float | None = None  # after the load
    # of the compared rows, within bounds; *_ms: by quantile (min, mean, p10 ... p999, max)
    passed_percent: float | None = None
    response_ms: Mapping[str, float | None] = field(default_factory=dict)
    service_ms: Mapping[str, float | None] = field(default_factory=dict)
