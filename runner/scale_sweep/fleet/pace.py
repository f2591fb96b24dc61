"""When the runs of a fleet begin their trials: each later than the one before it, or block by block together.

Out of step, the disks of a shared rack do not flush together. In step, every server is measured in the same minutes.
Refuses to wait for a run that has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from scale_sweep.base.interrupts import current

LOOK_S = 0.1


def out_of_step(number: int, many: int, trial_s: float) -> Callable[[int], None]:
    """A function that run `number` of `many` calls before each trial. Before the first one it waits for its part of a
    trial's length."""
    has_begun = threading.Event()

    def before(block: int) -> None:
        if not has_begun.is_set():
            has_begun.set()
            current().sleep(trial_s * number / many)

    return before


class InStep:
    """Runs that begin each block together."""

    def __init__(self, many: int) -> None:
        self._blocks: dict[int, int | None] = dict.fromkeys(range(many), None)
        self._lock = threading.Lock()

    def before(self, number: int) -> Callable[[int], None]:
        """A function that run `number` calls before each trial. It waits until the others have reached the block."""

        def wait(block: int) -> None:
            with self._lock:
                self._blocks[number] = block
            while self._is_ahead(block):
                current().sleep(LOOK_S)

        return wait

    def leave(self, number: int) -> None:
        """The run has ended: nobody waits for it."""
        with self._lock:
            self._blocks.pop(number, None)

    def _is_ahead(self, block: int) -> bool:
        with self._lock:
            return any(reached is None or reached < block for reached in self._blocks.values())
