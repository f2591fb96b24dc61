"""A load tool's arguments and output as a row of plain data; the values that its output gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from scale_sweep.base.errors import UsageError

# The order of the variables of a row: by which one the tool learns which part of how to reach the server.
VARIABLE_ROLES = ("address", "port", "user", "password", "database")
TIMES = ("mean", "min", "p50", "p90", "p95", "p99", "p999", "max")


@dataclass(frozen=True, kw_only=True)
class ToolProgress:
    """One line while the tool runs."""

    t_s: float | None  # by the tool's own clock, since its start; None: not said
    rate: float | None  # per second, in this line's interval
    count: float | None = None  # things done since the start, where it says that
    errors: int = 0


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """The tool's final report."""

    rate: float  # per second, of `unit`
    unit: str  # "transactions", "requests", "operations", "rows"
    count: float | None
    seconds: float | None
    errors: int
    rows: int | None  # None: the things are no rows
    ms: Mapping[str, float]  # those of TIMES that it reports


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A row. Its patterns are regular expressions; a named group is what it reads:

    t, rate, count, seconds, errors, unit, those of TIMES; `each` multiplies the count, and `percent` with `at` is the
    line of any percentile. A time is in ms, `t` and `seconds` in seconds, unless the name ends in another unit (p99_us)
    or the text has its unit. Names like errors_read and rate_write are added. A text of `errors` that is no number is
    one error. A pattern without names reads the rate in its first group.
    """

    name: str
    programs: tuple[str, ...]
    unit: str
    progress_words: tuple[str, ...] = ()  # arguments that make it print progress, right after the program
    progress_flags: tuple[str, ...] = ()  # with one of them the words are not added
    progress: str = ""
    result: tuple[str, ...]  # one for each format of the report: the first that matches counts
    details: tuple[str, ...] = ()  # what may stand besides; with "last" after the beginning of `result`
    repeated: str = "last"  # of several matches of a result counts the last; "after": all, in turn; "beside": at once
    duration: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()  # in the order of VARIABLE_ROLES, "" where there is none
    secrets: tuple[str, ...] = ()  # flags whose value is a password
    more_threads: str = ""  # the remedy in the tool's words, with {threads}
    more_clients: str = ""  # with {clients}


def to_plain(reader: Reader) -> dict[str, Any]:
    """As JSON can store it."""
    return asdict(reader)


def from_plain(plain: Mapping[str, Any]) -> Reader:
    """The row that `to_plain` stored."""
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()}
    return Reader(**fields)


def written_out(pattern: str) -> str:
    """A pattern of rows.toml as a regular expression."""
    return re.sub(r"\{([a-z]\w*)\}", r"(?P<\1>\\d[\\w.]*)", pattern.replace("{any}", r"[\s\S]+?"))


def pattern_reader(pattern: str) -> Reader:
    """For a tool without a row (--rate-from). Raises UsageError for a wrong expression."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--rate-from {pattern!r} is no regular expression: {error}") from None
    if compiled.groups == 0 or (compiled.groupindex and "rate" not in compiled.groupindex):
        remedy = "put parentheses around the number, like 'ops/s: ([0-9.]+)'"
        raise UsageError(f"--rate-from {pattern!r} has no group for the rate", remedy=remedy)
    return Reader(name="pattern", programs=(), unit="operations", result=(pattern,))
