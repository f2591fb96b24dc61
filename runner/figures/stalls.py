"""The longest time of a window in which no row was acknowledged. Pure, from the intervals.

Intervals are a second long; the longest response time of the interval that follows says it to the millisecond, where it
is of about that length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner.model import Interval

EDGE_S = 2.0  # an interval at each end in which the stall begins or ends


@dataclass(frozen=True, kw_only=True)
class Stall:
    """seconds: how long it was. start_ns, end_ns (monotonic): of the whole intervals inside it."""

    seconds: float
    start_ns: int
    end_ns: int


def longest_stall(intervals: Sequence[Interval]) -> Stall | None:
    """None where every interval has an acknowledgement."""
    found: list[Stall] = []
    at = 0
    while at < len(intervals):
        end = at
        while end < len(intervals) and not intervals[end].rows:
            end += 1
        if end > at:
            found.append(_stall(intervals, at, end))
        at = max(end, at + 1)
    return max(found, key=lambda stall: stall.end_ns - stall.start_ns, default=None)


def _stall(intervals: Sequence[Interval], first: int, end: int) -> Stall:
    """The intervals from first up to end have no acknowledgement."""
    last = intervals[end - 1]
    before = intervals[first - 1] if first else None
    start_ns = before.monotonic_ns if before else last.monotonic_ns - round(1e9 * (end - first))
    seconds = (last.monotonic_ns - start_ns) / 1e9
    longest = (intervals[end].response_us_max or 0.0) / 1e6 if end < len(intervals) else 0.0
    exact = longest if seconds <= longest <= seconds + EDGE_S else seconds
    return Stall(seconds=exact, start_ns=start_ns, end_ns=last.monotonic_ns)
