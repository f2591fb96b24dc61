"""Reads a load to its end for a command that only reports how it goes; Ctrl-C ends the load and keeps what was done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.handle import LoadHandle
from scale_sweep.model import Interval


@dataclass(frozen=True, kw_only=True)
class LoadEnd:
    """How a load ended."""

    failure: LoadError | None  # why it failed; None if it did not
    interrupted: bool


class Every:
    """Says when the next report is due. period_s: the least time between two reports."""

    def __init__(self, period_s: float) -> None:
        self._period_s, self._last = period_s, time.monotonic()

    def elapsed_s(self) -> float | None:
        """Seconds since the last report, if the next one is due now; else None."""
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
