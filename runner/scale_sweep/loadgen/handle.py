"""The interface of a load, a load that a command watches, and the stored lines of one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.merge import merge_summaries
from scale_sweep.loadgen.protocol import Phase, ReportedAnswer, Trouble, parse_line
from scale_sweep.loadgen.split import LineSource, Seconds, source_of
from scale_sweep.model.loads import Interval, LoadSummary


class LoadHandle(Protocol):
    """`stop` may be called at any time and repeatedly, and must be called after every `start`."""

    raw: list[str]  # its output, line by line, growing
    answers: list[ReportedAnswer]  # the answers to requests that it reported, growing

    @property
    def troubles(self) -> Sequence[Trouble]: ...

    @property
    def pids(self) -> Sequence[int]:
        """The processes of the load on the machine of the trial; empty if they run elsewhere."""

    def start(self) -> None: ...

    def lines(self, limit_s: float) -> Iterator[Phase | Interval | None]:
        """None ten times a second while there is nothing. A second call continues after the first. Raises LoadError if
        the load fails, or has not ended after limit_s seconds."""

    def begin_window(self) -> None: ...

    def end_window(self) -> None: ...

    def summary(self) -> LoadSummary | None:
        """Its summary, after `lines` has ended; None if there is none."""

    def stop(self) -> None:
        """`lines` still returns its output until then."""


@dataclass(frozen=True, kw_only=True)
class LoadEnd:
    failure: LoadError | None  # why it failed; None if it did not
    interrupted: bool


class Every:
    """Says when the next report is due."""

    def __init__(self, period_s: float) -> None:
        self._period_s, self._last = period_s, time.monotonic()

    def elapsed_s(self) -> float | None:
        now = time.monotonic()
        elapsed = now - self._last
        if elapsed < self._period_s:
            return None
        self._last = now
        return elapsed


def watch(load: LoadHandle, on_interval: Callable[[Interval], None], limit_s: float, drain_s: float) -> LoadEnd:
    try:
        for line in load.lines(limit_s):
            if isinstance(line, Interval):
                on_interval(line)
    except KeyboardInterrupt:
        load.stop()
        return LoadEnd(failure=_drain(load, drain_s), interrupted=True)
    except LoadError as error:
        return LoadEnd(failure=error, interrupted=False)
    return LoadEnd(failure=None, interrupted=False)


def _drain(load: LoadHandle, within_s: float) -> LoadError | None:
    try:
        for _ in load.lines(within_s):
            pass
    except LoadError as error:
        return error
    return None


_IS_MARKED = '"processes"'  # by `marked`; a line of one process alone is not parsed twice
ALONE = LineSource(process=0, processes=1)


@dataclass(frozen=True, kw_only=True)
class Recorded:
    intervals: tuple[Interval, ...]
    summary: LoadSummary | None


def read_recorded(text: str) -> Recorded:
    return recorded_of(text.removesuffix("\n").split("\n") if text else ())


def recorded_of(lines: Iterable[str], *, with_times: bool = True) -> Recorded:
    """Raises LoadError for a line that is not the protocol, and for processes of several loads. with_times: keeps
    histograms, which are most of the size."""
    seconds: Seconds | None = None
    intervals: list[Interval] = []
    summaries: dict[int, LoadSummary] = {}  # by process: the first to end is any of them
    processes = 0
    for text in lines:
        line = parse_line(text)
        by = _IS_MARKED in text and source_of(text) or ALONE
        if seconds is None:
            processes, seconds = by.processes, Seconds(by.processes)
        if by.processes != processes or not 0 <= by.process < processes:
            raise LoadError(f"a line of process {by.process} of {by.processes} among those of {processes} processes")
        if isinstance(line, LoadSummary):
            summaries[by.process] = line
        if line is not None:
            whole = seconds.take(by.process, line)
            intervals += whole if with_times else (replace(one, response_hdr=(), service_hdr=()) for one in whole)
    in_order = [summaries[number] for number in sorted(summaries)]
    is_whole = in_order and len(in_order) == processes
    return Recorded(intervals=tuple(intervals), summary=merge_summaries(in_order) if is_whole else None)
