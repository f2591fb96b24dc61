"""Counts what the server's connections or threads wait for, several times a second."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping

PERIOD_S = 0.2
COST_PARTS = 100  # of the time until the next question: CPU time of the last one
END_S = 1.0  # for the current question; after that its thread is abandoned


class WaitReader:
    """Counts from `start` to `stop`. ask: returns the number of connections that wait now, by what for."""

    def __init__(self, ask: Callable[[], Mapping[str, int]] | None) -> None:
        self._ask = ask
        self._stop = threading.Event()
        self._totals: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._run, name="waits", daemon=True)

    def start(self) -> None:
        if self._ask is not None:
            self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._ask is not None:
            self._thread.join(END_S)

    def totals(self) -> Mapping[str, float]:
        """The counts so far."""
        return {name: float(count) for name, count in self._totals.copy().items()}

    def _run(self) -> None:
        rest_s = PERIOD_S
        while self._ask is not None and not self._stop.wait(rest_s):
            began_s = time.thread_time()
            try:
                self._totals.update(self._ask())
            except Exception:  # the database's client may raise anything; the counts then end here
                return
            rest_s = max(PERIOD_S, COST_PARTS * (time.thread_time() - began_s))
