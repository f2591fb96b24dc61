"""loadgen.jsonl read back: the intervals and the summary that the trial saw, from the lines that were kept. Pure.

Several processes wrote into one file; their lines are put together as they were while the trial ran. Lines that do not
say their process are of a version that put them together by rounded seconds; their reading stays what it was.
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
    """summary: None where a process ended without one."""

    intervals: tuple[Interval, ...]
    summary: LoadSummary | None


def read_recorded(text: str) -> Recorded:
    """All lines of one trial. Raises LoadError for a line that is not the protocol (a cut last line is one)."""
    texts = text.removesuffix("\n").split("\n") if text else []  # words of a server may hold other line ends
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
    """Of lines that say who said them. Raises LoadError where they cannot all be of one load."""
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
    """Seconds of which every process said its part, in the order in which they became whole; a part that another second
    of its process was rounded to has none of the others, and is left out, as it was while the trial ran."""
    whole, seconds = [], dict[int, list[Interval]]()
    for interval in intervals:
        second = round(interval.t_s)
        parts = seconds.setdefault(second, [])
        parts.append(interval)
        if len(parts) == processes:
            whole.append(merge_interval(seconds.pop(second)))
    return whole
