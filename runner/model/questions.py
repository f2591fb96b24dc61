"""A query in no database's language, what is drawn for it, and what was checked of its answers. Data only.

Each target renders it to the text of the load generator's requests. The right answer is computed from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

When = Literal["always", "at", "range"]
Cells = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query for rows of some devices, or for one aggregate of their column.

    columns: the returned columns, or the aggregated one. when: of all time, of one moment, or of [from, to). function:
    "" for rows. bucket_ms: the aggregate of each stretch of time, whose starts are multiples of it since 1970; 0: of
    all rows together. bound_column: only rows with a value above the drawn one in this column; "": all rows. latest:
    the last row of each device. sets: union, intersect or except of two ranges, the first two thirds and the last two
    thirds of the span; "": one range. text: the user's own, with placeholders; the other fields are then not known.

    tag: the devices are those of some groups; the value of this tag is the number of the group. groups: how many
    consecutive groups, of which the drawn value is the first; 0: all groups. by_tag: the aggregate of each group. A row
    of the answer is then the group and the value, ordered by the group. Rows of a group come in any order.

    A row of an answer: the time in ms, the device (if there are several), the columns. Of an aggregate: the start of
    the bucket in ms, if there are buckets, and the value. Rows are ordered by time, and a stretch without rows has no
    row.

    What is drawn for each request: span_ms: length of the range; step_ms: starts of ranges, and moments, are multiples
    of it from the first row on, 0: of the time between two rows; recent_ms: starts lie within the newest so many ms, 0:
    anywhere; low, high: of the value, uniform.
    """

    devices: int = 1
    columns: tuple[str, ...] = ()
    when: When = "always"
    function: str = ""
    bucket_ms: int = 0
    bound_column: str = ""
    newest_first: bool = False
    latest: bool = False
    sets: str = ""
    tag: str = ""
    groups: int = 0
    by_tag: bool = False
    text: str = ""
    span_ms: int = 0
    step_ms: int = 0
    recent_ms: int = 0
    low: float = 0.0
    high: float = 0.0

    @property
    def tells_device(self) -> bool:
        """Whether a row of the answer says whose it is."""
        return not self.function and (self.devices > 1 or bool(self.tag))

    @property
    def third_ms(self) -> int:
        """Of two ranges that overlap: what each lacks of the span, the first at its end, the second at its start."""
        return self.span_ms // 3

    @property
    def is_unordered(self) -> bool:
        """Whether the rows of the answer may come in any order."""
        return self.latest or bool(self.tag and not self.function)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The drawn parameters of one query. devices: numbers of tables, from 0. groups: the group of each device,
    if a tag selected them. Times in ms; to_ms is exclusive."""

    devices: tuple[int, ...]
    groups: tuple[int, ...] = ()
    from_ms: int = 0
    to_ms: int = 0
    value: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Preloaded:
    """The data present before the load: rows by the database's count, bytes by which its files had grown when it was at
    rest (None: the files are not visible), seconds for loading and coming to rest.

    log_bytes: the part of data_bytes in its write-ahead log; None: not known, so it may be in data_bytes. idle_cores:
    cores that the server used when it was taken to be at rest; None: not known. copied: how the trial got files that
    were loaded once for several trials, "reflink" or "copy"; "": it loaded its own. copied_s: seconds for the copy.
    cached_percent: the share of the pages of its files that was in the page cache just before the load.
    """

    rows: int
    data_bytes: int | None
    seconds: float
    copied: str = ""
    copied_s: float | None = None
    cached_percent: float | None = None
    idle_cores: float | None = None
    log_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class AnswersChecked:
    """The number of an operation's answers that were compared with the right ones: complete answers before the window,
    and the number of rows of those within the load. compared: of the latter, those whose whole content was. wrong:
    sentences about the first that differ."""

    operation: str
    whole: int = 0
    counted: int = 0
    compared: int = 0
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OperationFigures:
    """The figures of one operation over the whole window. requests: answered ones. rows, values, mb: in their answers.
    empty: answers without a row. errors: in all phases. *_ms: by the name of the quantile (min, mean, p10 ... p999,
    max); empty if not known."""

    weight: float
    window_s: float | None = None
    requests: int | None = None
    requests_per_s: float | None = None
    rows_per_s: float | None = None
    values_per_s: float | None = None
    mb_per_s: float | None = None
    errors: int | None = None
    empty: int | None = None
    response_ms: Mapping[str, float | None] = field(default_factory=dict)
    service_ms: Mapping[str, float | None] = field(default_factory=dict)
