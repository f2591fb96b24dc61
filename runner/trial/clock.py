"""The clock that the times of a trial are of: CLOCK_MONOTONIC of its machine, the load generator's too."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Clock:
    """offset_ns: to be added for the time of whoever collects the events; error_ns: how far that may be wrong.

    Both are 0 where the trial runs on the collector's machine.
    """

    offset_ns: int = 0
    error_ns: int = 0

    def now_ns(self) -> int:
        """Now, in nanoseconds, by the clock that the load's lines and the samples are of."""
        return time.monotonic_ns()


LOCAL = Clock()
