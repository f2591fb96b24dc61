"""When the runs of a fleet begin: each trial later than that of the run before it, or one run after the other, so that
the disks of a shared rack do not flush together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue

from scale_sweep.base.interrupts import current

LOOK_S = 30.0  # the longest time until the next look, if a thread died without waking the others


def out_of_step(number: int, many: int, trial_s: float) -> Callable[[], None]:
    """A function that run `number` of `many` calls before each trial. Before the first one it waits for its part of a
    trial's length."""
    has_begun = threading.Event()

    def before() -> None:
        if not has_begun.is_set():
            has_begun.set()
            current().sleep(trial_s * number / many)

    return before


class Turn:
    """Held by one run at a time. A run that ends wakes those that wait for it."""

    def __init__(self) -> None:
        self._lock, self._is_held = threading.Lock(), False
        self._wakes: list[Callable[[], None]] = []

    @contextmanager
    def held(self, on_wait: Callable[[], None]) -> Iterator[None]:
        """Waits until nobody else has it, and has it until the end of the block. on_wait: called before it waits.
        Raises Stopped."""
        if not self._take():
            on_wait()
            self._wait()
        try:
            yield
        finally:
            with self._lock:
                self._is_held = False
                for wake in self._wakes:
                    wake()

    def _take(self) -> bool:
        with self._lock:
            was_held, self._is_held = self._is_held, True
        return not was_held

    def _wait(self) -> None:
        news: SimpleQueue[None] = SimpleQueue()
        wake, stop = partial(news.put, None), current()
        with stop.waking(wake):
            with self._lock:
                self._wakes.append(wake)
            try:
                while True:
                    stop.look()
                    if self._take():
                        return
                    with suppress(Empty):
                        news.get(timeout=LOOK_S)
            finally:
                with self._lock:
                    self._wakes.remove(wake)
