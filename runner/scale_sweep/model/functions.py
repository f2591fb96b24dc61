"""The functions of aggregates by their names, and what they are of."""

from __future__ import annotations

import re

PLAIN = ("avg", "count", "sum", "max", "min", "spread", "first", "last")
PERCENTILE = "percentile"  # p1 to p99; the median is one of them by another name
FURTHER = ("median", PERCENTILE, "stddev", "stddev_samp", "count_distinct", "rate")  # not every database has them
COUNTS = ("count", "count_distinct")  # 0 where there are no rows, and of values of any type
ENDS = ("first", "last")  # of values of any type
OF_ONE_DEVICE = (*ENDS, "rate")  # of rows in the order of time, and those of several devices have the same times
_PERCENTILE = re.compile(r"p([1-9]\d?)")


def percent_of(function: str) -> int | None:
    """The percentage of the values that are not above a percentile; None for another function."""
    match = _PERCENTILE.fullmatch(function)
    return int(match.group(1)) if match else 50 if function == "median" else None


def kind_of(function: str) -> str:
    """The name under which a database states that it has the function: percentiles have one."""
    return PERCENTILE if _PERCENTILE.fullmatch(function) else function


def is_function(name: str) -> bool:
    return name in PLAIN or kind_of(name) in FURTHER and name != PERCENTILE


def wants_number(function: str) -> bool:
    """Whether it computes with the values: counts and ends take any type."""
    return function not in (*COUNTS, *ENDS)
