"""loadgen.jsonl read back: the intervals and the summary that the trial saw, from the lines that were kept. Pure.

Several processes wrote into one file; their lines are put together as they were while the trial ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner.loadgen.merge import merge_interval, merge_summaries
from runner.loadgen.protocol import Hello, parse_line
from runner.model import Interval, LoadSummary


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """summary: None where a process ended without one."""

    intervals: tuple[Interval, ...]
    summary: LoadSummary | None


def read_recorded(text: str) -> Recorded:
    """All lines of one trial. Raises LoadError for a line that is not the protocol (a cut last line is one)."""
    lines = [parse_line(line) for line in text.splitlines()]
    processes = max(sum(isinstance(line, Hello) for line in lines), 1)
    summaries = [line for line in lines if isinstance(line, LoadSummary)]
    return Recorded(
        intervals=tuple(_whole([line for line in lines if isinstance(line, Interval)], processes)),
        summary=merge_summaries(summaries) if summaries and len(summaries) == processes else None,
    )


def _whole(intervals: Sequence[Interval], processes: int) -> list[Interval]:
    """Seconds of which every process said its part, in the order in which they became whole."""
    whole, seconds = [], dict[int, list[Interval]]()
    for interval in intervals:
        second = round(interval.t_s)
        parts = seconds.setdefault(second, [])
        parts.append(interval)
        if len(parts) == processes:
            whole.append(merge_interval(seconds.pop(second)))
    return whole
