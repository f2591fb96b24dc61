"""When the runs of a fleet begin: each trial later than that of the run before it, or block by block together, or one
run after the other.

Out of step, the disks of a shared rack do not flush together. In step, every server is measured in the same minutes.
Refuses to wait for a run that has ended, and to look again and again: who is waited for wakes who waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue

from scale_sweep.base.interrupts import current

LOOK_S = 30.0  # the longest time until the next look, if a thread died without waking the others


def out_of_step(number: int, many: int, trial_s: float) -> Callable[[int], None]:
    """A function that run `number` of `many` calls before each trial. Before the first one it waits for its part of a
    trial's length."""
    has_begun = threading.Event()

    def before(block: int) -> None:
        if not has_begun.is_set():
            has_begun.set()
            current().sleep(trial_s * number / many)

    return before


class _Waiting:
    """The threads that wait until something is so."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._wakes: list[Callable[[], None]] = []

    def until(self, is_so: Callable[[], bool]) -> None:
        """Waits until `is_so`, called with the lock held, is true. Raises Stopped after a request to end."""
        news: SimpleQueue[None] = SimpleQueue()
        wake, stop = partial(news.put, None), current()
        with stop.waking(wake):
            with self.lock:
                self._wakes.append(wake)
            try:
                while True:
                    stop.look()
                    with self.lock:
                        if is_so():
                            return
                    with suppress(Empty):
                        news.get(timeout=LOOK_S)
            finally:
                with self.lock:
                    self._wakes.remove(wake)

    def wake(self) -> None:
        """Lets everybody look again. Called with the lock held."""
        for wake in self._wakes:
            wake()


class Turn:
    """Held by one run at a time."""

    def __init__(self) -> None:
        self._waiting, self._is_held = _Waiting(), False

    @contextmanager
    def held(self, on_wait: Callable[[], None]) -> Iterator[None]:
        """Waits until nobody else has it, and has it until the end of the block. on_wait: called before it waits.
        Raises Stopped."""
        with self._waiting.lock:
            is_taken = self._take()
        if not is_taken:
            on_wait()
            self._waiting.until(self._take)
        try:
            yield
        finally:
            with self._waiting.lock:
                self._is_held = False
                self._waiting.wake()

    def _take(self) -> bool:
        was_held, self._is_held = self._is_held, True
        return not was_held


class InStep:
    """Runs that begin each block together."""

    def __init__(self, many: int) -> None:
        self._blocks: dict[int, int | None] = dict.fromkeys(range(many), None)
        self._waiting = _Waiting()

    def before(self, number: int) -> Callable[[int], None]:
        """A function that run `number` calls before each trial. It waits until the others have reached the block."""

        def wait(block: int) -> None:
            with self._waiting.lock:
                self._blocks[number] = block
                self._waiting.wake()
            self._waiting.until(lambda: not self._is_ahead(block))

        return wait

    def leave(self, number: int) -> None:
        """The run has ended: nobody waits for it."""
        with self._waiting.lock:
            self._blocks.pop(number, None)
            self._waiting.wake()

    def _is_ahead(self, block: int) -> bool:
        return any(reached is None or reached < block for reached in self._blocks.values())
