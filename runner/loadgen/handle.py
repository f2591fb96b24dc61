"""What a trial needs of a load, wherever and by whatever it is made. Refuses to say how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from runner.loadgen.protocol import Asked, Phase, Trouble
from runner.model import Interval, LoadSummary


class LoadHandle(Protocol):
    """One load. `stop` is safe at any moment and more than once, and is due after `start` in every case.

    raw: what it said, line by line, growing. answers: what it told of answers to its questions, growing.
    """

    raw: list[str]
    answers: list[Asked]

    @property
    def troubles(self) -> Sequence[Trouble]:
        """Errors of the load, one entry a kind."""

    @property
    def pids(self) -> Sequence[int]:
        """The processes that make the load, on the machine where the trial runs; empty where they are elsewhere."""

    def start(self) -> None:
        """Begins. Raises LoadError, and has then ended what it began."""

    def lines(self, limit_s: float) -> Iterator[Phase | Interval | None]:
        """What it says as it comes; None ten times a second while it says nothing.

        Asked again, it goes on where it was. Raises LoadError when the load fails, or has not ended after limit_s
        seconds.
        """

    def end_window(self) -> None:
        """The window may end with the interval that runs, where the load can do that."""

    def summary(self) -> LoadSummary | None:
        """Its last word, after `lines` has come to its end; None when there is none."""

    def stop(self) -> None:
        """Ends it now; what it has said meanwhile can still be read by `lines`."""
