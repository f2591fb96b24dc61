"""Reads loadgen.jsonl: the intervals and the summary that the trial saw, from the stored lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.merge import merge_summaries
from scale_sweep.loadgen.protocol import parse_line
from scale_sweep.loadgen.together import LineSource, Seconds, source_of
from scale_sweep.model import Interval, LoadSummary

_IS_MARKED = '"processes"'  # by `marked`; a line of one process alone is not parsed twice
ALONE = LineSource(process=0, processes=1)


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """summary: None if a process ended without one."""

    intervals: tuple[Interval, ...]
    summary: LoadSummary | None


def read_recorded(text: str) -> Recorded:
    """The same of a text; a server's texts in its lines may contain other line ends."""
    return recorded_of(text.removesuffix("\n").split("\n") if text else ())


def recorded_of(lines: Iterable[str], *, with_times: bool = True) -> Recorded:
    """All lines of one trial, in one pass. Raises LoadError for a line that is not the protocol (for example a cut last
    line), and for processes that cannot all belong to one load. with_times: the intervals keep their histograms, which
    are most of their size."""
    seconds: Seconds | None = None
    intervals: list[Interval] = []
    summaries: list[LoadSummary] = []
    processes = 0
    for text in lines:
        line = parse_line(text)
        by = _IS_MARKED in text and source_of(text) or ALONE
        if seconds is None:
            processes, seconds = by.processes, Seconds(by.processes)
        if by.processes != processes or not 0 <= by.process < processes:
            raise LoadError(f"a line of process {by.process} of {by.processes} among those of {processes} processes")
        if isinstance(line, LoadSummary):
            summaries.append(line)
        if line is not None:
            whole = seconds.take(by.process, line)
            intervals += whole if with_times else (replace(one, response_hdr=(), service_hdr=()) for one in whole)
    is_whole = summaries and len(summaries) == processes
    return Recorded(intervals=tuple(intervals), summary=merge_summaries(summaries) if is_whole else None)
