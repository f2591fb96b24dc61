"""Reads loadgen.jsonl: the intervals and the summary that the trial saw, from the stored lines. Pure.

Several processes wrote into one file. Their lines are merged as they were during the trial. Lines of one process alone
have no process number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.merge import merge_summaries
from scale_sweep.loadgen.protocol import Line, parse_line
from scale_sweep.loadgen.together import LineSource, Seconds, source_of
from scale_sweep.model import Interval, LoadSummary

ALONE = LineSource(process=0, processes=1)


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """summary: None if a process ended without one."""

    intervals: tuple[Interval, ...]
    summary: LoadSummary | None


def read_recorded(text: str) -> Recorded:
    """All lines of one trial. Raises LoadError for a line that is not the protocol (for example a cut last line)."""
    texts = text.removesuffix("\n").split("\n") if text else []  # a server's texts may contain other line ends
    lines = [parse_line(line) for line in texts]
    return (
        _merged(lines, [source_of(line) or ALONE for line in texts]) if lines else Recorded(intervals=(), summary=None)
    )


def _merged(lines: Sequence[Line | None], sources: Sequence[LineSource]) -> Recorded:
    """Merges the lines of all processes. Raises LoadError if they cannot all belong to one load."""
    processes = sources[0].processes
    odd = next((by for by in sources if by.processes != processes or not 0 <= by.process < processes), None)
    if odd is not None:
        raise LoadError(f"a line of process {odd.process} of {odd.processes} among those of {processes} processes")
    seconds = Seconds(processes)
    known = [(by.process, line) for by, line in zip(sources, lines, strict=True) if line is not None]
    summaries = [line for _, line in known if isinstance(line, LoadSummary)]
    return Recorded(
        intervals=tuple(whole for process, line in known for whole in seconds.take(process, line)),
        summary=merge_summaries(summaries) if len(summaries) == processes else None,
    )
