"""What the server's connections or threads wait for, asked several times a second, and counted. A thread of its own: a
server that does not answer must not hold up the other counters. Refuses to raise, since what is not told is not
counted, and to cost more than a fiftieth of a core: it asks less often then.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping

PERIOD_S = 0.2
COST_PARTS = 50  # of the time until the next question: what this one took of a CPU
END_S = 1.0  # for the question that is being asked; its thread is left behind after that


class WaitReader:
    """Counts from `start` to `stop`. ask: how many connections wait now, by what for."""

    def __init__(self, ask: Callable[[], Mapping[str, int]] | None) -> None:
        self._ask = ask
        self._stop = threading.Event()
        self._totals: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._run, name="waits", daemon=True)

    def start(self) -> None:
        """Begins to ask, where there is anybody who tells."""
        if self._ask is not None:
            self._thread.start()

    def stop(self) -> None:
        """Asks no more."""
        self._stop.set()
        if self._ask is not None:
            self._thread.join(END_S)

    def totals(self) -> Mapping[str, float]:
        """Counted so far."""
        return {name: float(count) for name, count in self._totals.copy().items()}

    def _run(self) -> None:
        rest_s = PERIOD_S
        while self._ask is not None and not self._stop.wait(rest_s):
            began_s = time.thread_time()
            try:
                self._totals.update(self._ask())
            except Exception:  # whatever the database's client raises: it tells nothing any more
                return
            rest_s = max(PERIOD_S, COST_PARTS * (time.thread_time() - began_s))
