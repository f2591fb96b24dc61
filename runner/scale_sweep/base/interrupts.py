"""Requests to end: Ctrl-C, SIGTERM and SIGHUP in the main thread, `Stop.request` from any thread."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_S = 0.1


class Stopped(KeyboardInterrupt):
    """A request to end was delivered. Code for Ctrl-C handles it."""


class Stop:
    """The requests to end one thread's work. Each is delivered once, as Stopped, at the thread's next `look` or at the
    end of the outermost `deferred` block; a signal's at once in the main thread."""

    def __init__(self) -> None:
        # Plain flags: a signal may arrive while this thread sets one.
        self._requested = self._again = self._waits = False
        self._blocks = 0
        self._wakes: list[Callable[[], None]] = []

    def request(self) -> None:
        self._again = self._requested
        self._requested = self._waits = True
        for wake in tuple(self._wakes):
            wake()

    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        """Each request calls `wake`, in the thread that requests: the `put` of a SimpleQueue or the like."""
        self._wakes.append(wake)
        try:
            yield
        finally:
            self._wakes.remove(wake)

    def requested(self) -> bool:
        return self._requested

    def look(self) -> None:
        """Raises Stopped for a waiting request, unless a block defers it."""
        if self._waits and not self._blocks:
            self._waits = False
            raise Stopped

    def sleep(self, seconds: float) -> None:
        """Sleeps until the time is over or a request comes. Raises Stopped."""
        deadline = time.monotonic() + seconds
        requests: SimpleQueue[None] = SimpleQueue()
        with self.waking(partial(requests.put, None)):
            self.look()
            while (left := deadline - time.monotonic()) > 0:
                with suppress(Empty):
                    requests.get(timeout=left)
                self.look()

    def hurries(self) -> bool:
        """Whether nothing more should be waited for: a request waits, or the end was requested twice."""
        return self._waits or self._again

    @contextmanager
    def deferred(self) -> Iterator[Callable[[], bool]]:
        """Requests wait until the outermost block is left. Yields `hurries`, which the block should heed."""
        self._blocks += 1
        try:
            yield self.hurries
        finally:
            self._blocks -= 1
            self.look()

    @contextmanager
    def here(self) -> Iterator[None]:
        """Makes this Stop that of the current thread, for `deferred` and for signals."""
        before, _thread.stop = _thread.stop, self
        try:
            yield
        finally:
            _thread.stop = before


class _Thread(threading.local):
    """Each thread's Stop. A thread has its own until another one is set."""

    def __init__(self) -> None:
        self.stop = Stop()


_thread = _Thread()


def current() -> Stop:
    return _thread.stop


@contextmanager
def deferred() -> Iterator[Callable[[], bool]]:
    """`Stop.deferred` of the current thread, also for signals."""
    with current().deferred() as hurry:
        yield hurry


@contextmanager
def undone() -> Iterator[ExitStack]:
    """An ExitStack whose callbacks run in one deferred block, so that no request skips one of them."""
    stack = ExitStack()
    try:
        yield stack
    finally:
        with deferred():
            stack.close()


def listen() -> None:
    """Lets signals end the program by KeyboardInterrupt; SIGQUIT, which background jobs ignore, acts as usual for
    servers."""
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, _on_signal)
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _on_signal)


def _on_signal(number: int, frame: FrameType | None) -> None:
    if _imports(frame):  # numpy's modules drop what is raised while they are imported; Python wraps it
        signal.setitimer(signal.ITIMER_REAL, LOOK_S / 10)
        return
    stop = current()
    stop.request()
    stop.look()


def _imports(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None
