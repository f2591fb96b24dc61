"""A question to a database in nobody's language, what is drawn for it, and what answers came to. Data only.

The texts of the load generator's requests are rendered from it by each target; the right answer is computed from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

When = Literal["always", "at", "range"]
Cells = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Query:
    """Rows of some devices, or one aggregate of a column of theirs.

    columns: returned, or the one that is aggregated. when: of all time, of one moment, or of [from, to). function: ""
    for rows. bucket_ms: the aggregate of each stretch of time, whose starts are multiples of it since 1970; 0: of all
    rows together. bound_column: only rows whose value there is above the drawn one; "": all. latest: the last row of
    each device. text: the user's own, with marks; then nothing else of what is asked is known.

    A row of an answer: the time in ms, the device (where there are several), the columns. Of an aggregate: the start
    of the bucket in ms, where there are buckets, and the value. Rows are ordered by time, and a stretch without rows
    has no row.

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
    text: str = ""
    span_ms: int = 0
    step_ms: int = 0
    recent_ms: int = 0
    low: float = 0.0
    high: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """One draw of a query's parameters. devices: numbers of tables, from 0. Times in ms; to_ms is not part of it."""

    devices: tuple[int, ...]
    from_ms: int = 0
    to_ms: int = 0
    value: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Preloaded:
    """What was in the database before the load began: rows by its own count, bytes by which its
    files had grown when it was at rest (None: they cannot be seen), seconds that loading and coming to rest took."""

    rows: int
    data_bytes: int | None
    seconds: float


@dataclass(frozen=True, kw_only=True)
class AnswersChecked:
    """How many answers of an operation were compared with the right ones: whole ones before the window, the number of
    rows of those within the load. wrong: sentences about the first that differ."""

    operation: str
    whole: int = 0
    counted: int = 0
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OperationFigures:
    """The figures of one operation over the whole window. requests: answered; rows, values, mb: in their answers;
    empty: answers without a row. errors: of all phases. *_ms: by the name of the quantile (min, mean, p10 ... p999,
    max); empty where it is not known."""

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
