"""Asking work to end: Ctrl-C, SIGTERM and SIGHUP in the main thread, `Stop.request` from anywhere.

A request waits while something is made or undone: what is half made has no name yet by which it could be removed, and
what is half undone stays behind for good. Refuses to lose a request: the end of the block delivers it. Refuses to
override a shell that ignores a signal (`&`, nohup).
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_S = 0.1


class Stopped(KeyboardInterrupt):
    """Work was asked to end. A KeyboardInterrupt, so that every way out that Ctrl-C takes is taken."""


class Stop:
    """The request to end for whatever works in one thread. `request` may come from any thread, or from a signal.

    A request is delivered once, as Stopped, in the thread that works: at its next `look`, or at the end of the
    outermost `deferred` block. In the main thread a signal delivers its own at once, outside of such blocks.
    """

    def __init__(self) -> None:
        self._asked = self._waits = False  # plain flags: a signal may come while this thread sets one
        self._blocks = 0

    def request(self) -> None:
        """Asks for the end."""
        self._asked = self._waits = True

    def requested(self) -> bool:
        """Whether the end was ever asked for, delivered or not."""
        return self._asked

    def look(self) -> None:
        """Raises Stopped for a request that waits, unless a block defers it."""
        if self._waits and not self._blocks:
            self._waits = False
            raise Stopped

    def sleep(self, seconds: float) -> None:
        """Sleeps, and looks ten times a second. Raises Stopped."""
        deadline = time.monotonic() + seconds
        self.look()
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_S))
            self.look()

    @contextmanager
    def deferred(self) -> Iterator[Callable[[], bool]]:
        """Requests wait until the outermost block is left, in whatever way. Yields whether one waits: then hurry."""
        self._blocks += 1
        try:
            yield lambda: self._waits
        finally:
            self._blocks -= 1
            self.look()

    @contextmanager
    def here(self) -> Iterator[None]:
        """This Stop is the one of the thread that enters, so that `deferred` below it, and signals, mean this one."""
        before, _thread.stop = _thread.stop, self
        try:
            yield
        finally:
            _thread.stop = before


class _Thread(threading.local):
    """Each thread has a Stop, its own until it is given another."""

    def __init__(self) -> None:
        self.stop = Stop()


_thread = _Thread()


def current() -> Stop:
    """The Stop of the thread that asks; in the main thread the one that signals request."""
    return _thread.stop


@contextmanager
def deferred() -> Iterator[Callable[[], bool]]:
    """Requests to the thread that enters, signals included, wait until the outermost block is left, in whatever way.

    Yields whether one waits: then hurry.
    """
    with current().deferred() as waits:
        yield waits


def listen() -> None:
    """From now on these signals end the program by KeyboardInterrupt. To be called in the main thread, once.

    SIGQUIT gets its default back: a shell starts background jobs with it ignored, and a server that inherits this does
    not hear it as its stop signal while it starts.
    """
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _on_signal)


def _on_signal(number: int, frame: FrameType | None) -> None:
    """Python runs it in the main thread, so that what it raises is raised there."""
    stop = current()
    stop.request()
    stop.look()
