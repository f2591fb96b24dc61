"""The clock of a trial's times: CLOCK_MONOTONIC of its machine, which the load generator uses too."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Clock:
    """offset_ns: added to convert a time to the collector's clock. error_ns: the greatest error of that offset.

    Both are 0 if the trial runs on the collector's machine.
    """

    offset_ns: int = 0
    error_ns: int = 0

    def now_ns(self) -> int:
        """The current time in nanoseconds, on the clock of the load's lines and of the samples."""
        return time.monotonic_ns()


LOCAL = Clock()
