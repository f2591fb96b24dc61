"""A query in no database's language, what is drawn for it, and what was checked of its answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from scale_sweep.model.functions import COUNTS

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
_NEEDED_LOOSELY = (SEVERAL_COLUMNS, MORE_BOUNDS)  # also where the answers are only counted


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Only rows whose value in this column is above or below a number."""

    column: str
    sign: Literal["<", ">"]
    value: float

    @property
    def of_whole(self) -> Condition:
        return replace(self, value=float(math.floor(self.value) if self.sign == ">" else math.ceil(self.value)))


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query for rows of some devices, or for aggregates of their columns. A row of an answer: the time in ms, the
    device (if there are several), the columns. Of an aggregate: the start of the bucket in ms, if there are buckets,
    the device (by_device) or the value of the tag as a text (each_tag), and of each column the value of each function.
    Rows are ordered by time. A stretch without rows has a row only if it is filled. What is drawn for each request:"""

    devices: int = 1  # how many; 0: all of them, or those of groups if there is a tag
    columns: tuple[str, ...] = ()  # the returned columns, or the aggregated ones
    when: When = "always"  # of all time, of one moment, of [from, to), or of all time before `to`
    function: str = ""  # "" for rows
    more_functions: tuple[str, ...] = ()  # further functions of the same columns
    # the aggregate of each stretch of time, whose starts are multiples of it since 1970; 0: of all rows together
    bucket_ms: int = 0
    # what a stretch of the range without rows has: NULL, the value of the previous stretch, or one on the line between
    # the previous and the next one; "": it has no row
    fill: str = ""
    bound_column: str = ""  # only rows with a value above the drawn one in this column; "": all rows
    is_below: bool = False  # below it instead
    more_bounds: tuple[str, ...] = ()  # further columns that are compared with the same drawn value
    conditions: tuple[Condition, ...] = ()  # only rows that meet them too
    # the answers are counted and not compared, so a target may aggregate each device by itself, and begin stretches of
    # time with the range
    is_loose: bool = False
    newest_first: bool = False
    latest: bool = False  # the last row of each device
    # union, intersect or except of two ranges, the first two thirds and the last two thirds of the span; "": one range
    sets: str = ""
    tag: str = ""  # the devices are those of some groups; the value of this tag is the number of the group
    groups: int = 0  # how many consecutive groups, of which the drawn value is the first; 0: all groups
    # the aggregate of each group. A row of the answer is then the group and the value, ordered by the group. Rows of a
    # group come in any order
    by_tag: bool = False
    by_device: bool = False  # the aggregates of each device by itself, in each stretch of time or of all rows
    each_tag: str = ""  # those of the devices with the same value of this tag; "": none
    with_tag: tuple[str, str] | None = None  # only devices with this value of a tag, by its name; None: all
    limit: int = 0  # the first so many rows of the answer; 0: all
    by_value: str = ""  # the rows are ordered by this column, or by its first aggregate; "": by time
    largest_first: bool = False  # and the largest value comes first
    text: str = ""  # the user's own, with placeholders; the other fields are then not known
    span_ms: int = 0  # length of the range
    # starts of ranges, and moments, are multiples of it from the first row on, 0: of the time between two rows
    step_ms: int = 0
    recent_ms: int = 0  # starts lie within the newest so many ms, 0: anywhere
    # low, high: of the value, uniform
    low: float = 0.0
    high: float = 0.0
    # the trial's tables or partitions, over which a target may distribute the devices: its text may name each
    parts: int = 1

    @property
    def bounds(self) -> tuple[str, ...]:
        """The columns that are compared with the drawn value."""
        return (self.bound_column, *self.more_bounds) if self.bound_column else ()

    def compared(self, value: float) -> tuple[Condition, ...]:
        sign: Literal["<", ">"] = "<" if self.is_below else ">"
        drawn = (Condition(column=column, sign=sign, value=value) for column in self.bounds)
        return (*drawn, *self.conditions)

    @property
    def functions(self) -> tuple[str, ...]:
        """All functions; empty for rows."""
        return (self.function, *self.more_functions) if self.function else ()

    @property
    def values(self) -> tuple[tuple[str, str], ...]:
        """The function and the column of each value in a row of an aggregate, in order."""
        return tuple((function, column) for column in self.columns for function in self.functions)

    @property
    def counts(self) -> bool:
        """Whether an aggregate of no rows has a 0."""
        return any(function in COUNTS for function in self.functions)

    @property
    def tells_device(self) -> bool:
        """Whether a row of the answer says whose it is."""
        if self.function:
            return self.by_device
        return (self.devices != 1 and not self.text) or bool(self.tag)

    @property
    def is_one_aggregate(self) -> bool:
        """Whether the answer is one row, of aggregates of all rows together."""
        return bool(self.function) and not (self.bucket_ms or self.by_tag or self.is_grouped)

    @property
    def is_grouped(self) -> bool:
        """Whether an aggregate is of each device, or of each value of a tag, by itself."""
        return self.by_device or bool(self.each_tag)

    @property
    def has_time(self) -> bool:
        return not self.function or self.bucket_ms > 0

    @property
    def keys(self) -> int:
        """How many cells of a row, from the first on, say which row it is: its time, and whose it is."""
        return int(self.has_time) + int(self.tells_device or bool(self.each_tag))

    @property
    def is_ranked(self) -> bool:
        """Whether the answer is the first rows of a longer one, or ordered by a value: equal values have any order."""
        return bool(self.by_value) or (self.limit > 0 and self.when != "before")

    @property
    def third_ms(self) -> int:
        """The part of the span that each of two overlapping ranges lacks: the first at its end, the other at its
        start."""
        return self.span_ms // 3

    @property
    def is_unordered(self) -> bool:
        """Whether the rows of the answer may come in any order."""
        return self.latest or self.is_grouped or bool(self.tag and not self.function)

    @property
    def needs(self) -> tuple[str, ...]:
        """The words that a language must have, beside rows and one aggregate of named devices; for people."""
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
    """The drawn parameters of one query."""

    devices: tuple[int, ...]  # numbers of tables, from 0
    # the group of each device, if a tag selected them. Times in ms; to_ms is exclusive
    groups: tuple[int | str, ...] = ()
    from_ms: int = 0
    to_ms: int = 0
    value: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Preloaded:
    """The data present before the load: rows by the database's count, bytes by which its files had grown when it was at
    rest (None: the files are not visible), seconds for loading and coming to rest."""

    rows: int
    data_bytes: int | None
    seconds: float
    # how the trial got files that were loaded once for several trials, "reflink" or "copy"; "": it loaded its own
    copied: str = ""
    copied_s: float | None = None  # seconds for the copy
    # the share of the pages of its files that was in the page cache just before the load
    cached_percent: float | None = None
    idle_cores: float | None = None  # cores that the server used when it was taken to be at rest; None: not known
    # the part of data_bytes in its write-ahead log; None: not known, so it may be in data_bytes
    log_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class AnswersChecked:
    """The number of an operation's answers that were compared with the right ones: complete answers before the window,
    and the number of rows of those within the load."""

    operation: str
    whole: int = 0
    counted: int = 0
    compared: int = 0  # of the latter, those whose whole content was
    within: int | None = None  # of those, the ones in the window; None: not known
    seconds: float = 0.0  # for that comparison, after the load
    wrong: tuple[str, ...] = ()  # sentences about the first that differ
    devices: str = ""  # those whose values were compared, as ranges (0-3,7); "": not known
    tested_rows: int = 0  # rows that these queries compare with bounds
    passed_rows: int = 0  # those within them


@dataclass(frozen=True, kw_only=True)
class OperationFigures:
    """The figures of one operation over the whole window."""

    weight: float
    window_s: float | None = None
    requests: int | None = None  # answered ones
    requests_per_s: float | None = None
    # written and acknowledged, None if it does not write. read_*: rows, values and megabytes in the answers, None if it
    # does not read
    rows_per_s: float | None = None
    read_rows_per_s: float | None = None
    read_values_per_s: float | None = None
    read_mb_per_s: float | None = None
    errors: int | None = None  # in all phases
    empty: int | None = None  # answers without a row
    # checked_before, checked_within: answers that were compared with the right ones, before the load and of the load
    checked_before: int | None = None
    checked_within: int | None = None
    checked_rows: int | None = None  # of the load, only by their number of rows
    checked_devices: str = ""  # whose values were compared, as ranges
    check_cpu_s: float | None = None  # CPU time of the load generator for the requests whose answers were compared
    check_s: float | None = None  # for the comparison, after the load
    # of the rows that those queries compare with bounds, the share within them; None: there is no bound. *_ms: by the
    # name of the quantile (min, mean, p10 ... p999, max); empty if not known
    passed_percent: float | None = None
    response_ms: Mapping[str, float | None] = field(default_factory=dict)
    service_ms: Mapping[str, float | None] = field(default_factory=dict)
