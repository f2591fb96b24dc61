"""The longest time within a window without any finished unit of the rate. Pure, from the intervals.

Intervals are a second long. If the longest response time in the next interval is about as long as the stall, it gives
the length to the millisecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scale_sweep.judge.figures.rated import RatedInterval

EDGE_S = 2.0  # the intervals at both ends, in which the stall begins or ends


@dataclass(frozen=True, kw_only=True)
class Stall:
    """seconds: its length. start_ns, end_ns (monotonic): of the whole intervals inside it."""

    seconds: float
    start_ns: int
    end_ns: int


def longest_stall(intervals: Sequence[RatedInterval]) -> Stall | None:
    """The longest stall; None if every interval has an acknowledgement."""
    found: list[Stall] = []
    at = 0
    while at < len(intervals):
        end = at
        while end < len(intervals) and not intervals[end].count:
            end += 1
        if end > at:
            found.append(_stall(intervals, at, end))
        at = max(end, at + 1)
    return max(found, key=lambda stall: stall.end_ns - stall.start_ns, default=None)


def _stall(intervals: Sequence[RatedInterval], first: int, end: int) -> Stall:
    """The stall of the intervals from first to end (exclusive), which have no acknowledgement."""
    last = intervals[end - 1]
    before = intervals[first - 1] if first else None
    start_ns = before.monotonic_ns if before else last.monotonic_ns - round(1e9 * (end - first))
    seconds = (last.monotonic_ns - start_ns) / 1e9
    longest = (intervals[end].response_us_max or 0.0) / 1e6 if end < len(intervals) else 0.0
    exact = longest if seconds <= longest <= seconds + EDGE_S else seconds
    return Stall(seconds=exact, start_ns=start_ns, end_ns=last.monotonic_ns)
