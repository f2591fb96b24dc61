"""The interface of a load for a trial, wherever and by whatever program it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from scale_sweep.loadgen.protocol import Phase, ReportedAnswer, Trouble
from scale_sweep.model import Interval, LoadSummary


class LoadHandle(Protocol):
    """One load. `stop` may be called at any time and repeatedly, and must be called after every `start`."""

    raw: list[str]  # its output, line by line, growing
    answers: list[ReportedAnswer]  # the answers to requests that it reported, growing

    @property
    def troubles(self) -> Sequence[Trouble]:
        """Errors of the load, one entry for each kind."""

    @property
    def pids(self) -> Sequence[int]:
        """The processes of the load on the machine of the trial; empty if they run elsewhere."""

    def start(self) -> None:
        """Starts the load. Raises LoadError, after it has ended what it started."""

    def lines(self, limit_s: float) -> Iterator[Phase | Interval | None]:
        """Its output as it arrives; None ten times a second while there is none.

        A second call continues after the first. Raises LoadError if the load fails, or has not ended after limit_s
        seconds.
        """

    def begin_window(self) -> None:
        """Lets the window begin after the running interval of the warm-up, if the load can do that."""

    def end_window(self) -> None:
        """Lets the window end with the running interval, if the load can do that."""

    def summary(self) -> LoadSummary | None:
        """Its summary, after `lines` has ended; None if there is none."""

    def stop(self) -> None:
        """Ends it now. `lines` still returns its output until then."""
