"""Merges the seconds of several load processes: which process wrote a line, and what all of them did in a second."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from scale_sweep.loadgen.merge import merge_interval
from scale_sweep.loadgen.protocol import Line
from scale_sweep.model import Interval, LoadSummary


@dataclass(frozen=True, kw_only=True)
class LineSource:
    """Which of how many processes wrote a line, counted from 0."""

    process: int
    processes: int


def marked(text: str, source: LineSource) -> str:
    """The line with its process number added. A line that is not a JSON object is unchanged."""
    line = text.rstrip()
    if not (line.startswith("{") and line.endswith("}")):
        return text
    return f'{line[:-1]},"process":{source.process},"processes":{source.processes}}}\n'


def source_of(text: str) -> LineSource | None:
    """The line's process; None if it has no process number."""
    try:
        raw = json.loads(text)
        return LineSource(process=int(raw["process"]), processes=int(raw["processes"]))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


class Seconds:
    """The intervals of all processes, merged second by second.

    An interval belongs to the second in which it ended. A process's last, shorter one belongs to the second after its
    last whole one. A second is complete when every process has reported it, a later one, or its summary.
    """

    def __init__(self, processes: int) -> None:
        self._at = [0] * processes  # the last second that each process has reported
        self._rows_total = [0] * processes
        self._ended = [False] * processes
        self._parts: dict[int, dict[int, Interval]] = {}

    def take(self, process: int, line: Line) -> Iterator[Interval]:
        """Adds a line of a process. Yields the seconds that it completes, oldest first."""
        if isinstance(line, Interval):
            self._at[process] = max(self._at[process] + 1, int(line.t_s))
            self._parts.setdefault(self._at[process], {})[process] = line
        elif isinstance(line, LoadSummary):
            self._ended[process] = True
        else:
            return
        whole = [at for at, ended in zip(self._at, self._ended, strict=True) if not ended]
        for second in sorted(s for s in self._parts if not whole or s <= min(whole)):
            yield self._merged(self._parts.pop(second))

    def _merged(self, parts: dict[int, Interval]) -> Interval:
        """One merged second. It ends when the last part ends. Rows of processes that ended before still count in
        totals."""
        for process, part in parts.items():
            self._rows_total[process] = part.rows_total
        last = max(parts.values(), key=lambda part: part.monotonic_ns)
        return replace(
            merge_interval([parts[process] for process in sorted(parts)]),
            t_s=last.t_s,
            monotonic_ns=last.monotonic_ns,
            phase=last.phase,
            rows_total=sum(self._rows_total),
        )
