"""The seconds of several load processes as one load: which process said a line, and what all of them did in a second.

Used while a trial runs and when its recorded lines are read back, so that both see the same intervals. A process that
has ended is waited for no longer, and no interval is lost, however short its last one is. Refuses to guess where a line
does not say its process: lines recorded before they did are read in recorded.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from runner.loadgen.merge import merge_interval
from runner.loadgen.protocol import Line
from runner.model import Interval, LoadSummary


@dataclass(frozen=True, kw_only=True)
class LineSource:
    """Which of how many processes said a line; counted from 0."""

    process: int
    processes: int


def marked(text: str, source: LineSource) -> str:
    """The line with the process that said it. What is no JSON object stays as it is."""
    line = text.rstrip()
    if not (line.startswith("{") and line.endswith("}")):
        return text
    return f'{line[:-1]},"process":{source.process},"processes":{source.processes}}}\n'


def source_of(text: str) -> LineSource | None:
    """Who said the line; None where it does not say."""
    try:
        raw = json.loads(text)
        return LineSource(process=int(raw["process"]), processes=int(raw["processes"]))
    except (ValueError, KeyError, TypeError):
        return None


class Seconds:
    """The intervals of all processes, put together second by second.

    An interval belongs to the second in which it ended, a process's last and shorter one to the second after its last
    whole one. A second is whole when every process has said it or a later one, or has said its summary.
    """

    def __init__(self, processes: int) -> None:
        self._at = [0] * processes  # the last second that each process has said
        self._rows_total = [0] * processes
        self._ended = [False] * processes
        self._parts: dict[int, dict[int, Interval]] = {}

    def take(self, process: int, line: Line) -> Iterator[Interval]:
        """Adds a line of a process, and tells the seconds that are whole with it, oldest first."""
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
        """One second; it ends when the last of them ends, and rows are counted on for who has ended before."""
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
