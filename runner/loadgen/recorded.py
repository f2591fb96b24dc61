"""Reads loadgen.jsonl: the intervals and the summary that the trial saw, from the stored lines. Pure.

Several processes wrote into one file. Their lines are merged as they were during the trial. Lines without a process
number come from an older version, which merged by rounded seconds; they are still read that way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner.errors import LoadError
from runner.loadgen.merge import merge_interval, merge_summaries
from runner.loadgen.protocol import Hello, Line, parse_line
from runner.loadgen.together import LineSource, Seconds, source_of
from runner.model import Interval, LoadSummary


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """summary: None if a process ended without one."""

    intervals: tuple[Interval, ...]
    summary: LoadSummary | None


def read_recorded(text: str) -> Recorded:
    """All lines of one trial. Raises LoadError for a line that is not the protocol (for example a cut last line)."""
    texts = text.removesuffix("\n").split("\n") if text else []  # a server's texts may contain other line ends
    lines = [parse_line(line) for line in texts]
    told = [source_of(line) for line in texts]
    if told and all(told):
        return _told(lines, [by for by in told if by is not None])
    processes = max(sum(isinstance(line, Hello) for line in lines), 1)
    summaries = [line for line in lines if isinstance(line, LoadSummary)]
    return Recorded(
        intervals=tuple(_whole([line for line in lines if isinstance(line, Interval)], processes)),
        summary=merge_summaries(summaries) if summaries and len(summaries) == processes else None,
    )


def _told(lines: Sequence[Line | None], told: Sequence[LineSource]) -> Recorded:
    """Merges lines with a process number. Raises LoadError if they cannot all belong to one load."""
    processes = told[0].processes
    odd = next((by for by in told if by.processes != processes or not 0 <= by.process < processes), None)
    if odd is not None:
        raise LoadError(f"a line of process {odd.process} of {odd.processes} among those of {processes} processes")
    seconds = Seconds(processes)
    known = [(by.process, line) for by, line in zip(told, lines, strict=True) if line is not None]
    summaries = [line for _, line in known if isinstance(line, LoadSummary)]
    return Recorded(
        intervals=tuple(whole for process, line in known for whole in seconds.take(process, line)),
        summary=merge_summaries(summaries) if len(summaries) == processes else None,
    )


def _whole(intervals: Sequence[Interval], processes: int) -> list[Interval]:
    """The seconds that every process reported, in the order in which they became complete. An interval that was rounded
    to another second has no counterparts, and is left out as it was during the trial."""
    whole, seconds = [], dict[int, list[Interval]]()
    for interval in intervals:
        second = round(interval.t_s)
        parts = seconds.setdefault(second, [])
        parts.append(interval)
        if len(parts) == processes:
            whole.append(merge_interval(seconds.pop(second)))
    return whole
