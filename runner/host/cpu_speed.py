"""How fast CPUs are now: the CPU time of a small piece of work, which is always the same.

Virtual CPUs share cores, caches and memory with other machines. Then the same work takes more CPU time, and neither
steal time nor any other counter of this machine shows it. Refuses to say how fast a database would be: the work is a
loop of Python, to be compared with itself a moment later.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from statistics import mean, median

_PIECES = 40
_STEPS = 10_000  # of a piece, about half a millisecond
_CPUS = 4  # more would delay each trial
_WAIT_S = 10.0


def work_us(cpus: Sequence[int]) -> float | None:
    """CPU time of the work in microseconds: the median of some pieces on each CPU, and the mean of the first four
    CPUs. None if none of them is ours."""
    found: list[float] = []

    def work() -> None:
        for cpu in cpus[:_CPUS]:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(threading.get_native_id(), (cpu,))
                found.append(median(_piece_us() for _ in range(_PIECES)))

    worker = threading.Thread(target=work, daemon=True)  # whose CPUs are its own affair
    worker.start()
    worker.join(_WAIT_S)
    return mean(found) if found and not worker.is_alive() else None


def _piece_us() -> float:
    begun, value = time.thread_time_ns(), 0
    for step in range(_STEPS):
        value += step * step
    return (time.thread_time_ns() - begun) / 1000
