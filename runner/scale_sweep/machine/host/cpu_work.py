"""How fast the server's CPUs are during a trial: the CPU time of the same work, second by second."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from scale_sweep.machine.host import repeat_work
from scale_sweep.machine.host.line_child import LineChild
from scale_sweep.model import CpuWork

CPUS_MAX = 16  # evenly spread over more
ESTIMATES_SPEED = 2.1  # pieces/ms: where PostgreSQL writes the 3e5 rows/s per core of its estimate
_NOW_PIECES = 20
_NOW_REST_S = 0.01
_END_S = 5.0


class CpuWorkReader:
    """Reads from `start` to `stop`. cpus: those of the server; none: there is nothing to read."""

    def __init__(self, cpus: Sequence[int]) -> None:
        self._cpus = spread(cpus)
        self._child = LineChild(Path(repeat_work.__file__), self._cpus, self._cpus)
        self.cpu_s = 0.0  # of the work so far

    def start(self) -> None:
        if self._cpus:
            self._child.start()

    def read(self) -> tuple[CpuWork, ...]:
        """The totals since the last call, in the order of time."""
        totals = tuple(_total(line) for line in self._child.new_lines())
        if totals:
            self.cpu_s = totals[-1].cpu_us_total / 1e6
        return totals

    def stop(self) -> None:
        """Ends the child."""
        self._child.stop(_END_S)


def speed_now() -> float:
    """The median speed of the CPUs that this process may use, over about 0.2 s, in pieces for each ms of CPU time."""
    times_us = []
    for _ in range(_NOW_PIECES):
        times_us.append(repeat_work.piece_us())
        time.sleep(_NOW_REST_S)
    return 1000 / statistics.median(times_us)


def spread(cpus: Sequence[int]) -> tuple[int, ...]:
    count = min(len(cpus), CPUS_MAX)
    return tuple(cpus[at * len(cpus) // count] for at in range(count))


def _total(line: bytes) -> CpuWork:
    at_ns, cpu_us, pieces, speed = line.split()
    return CpuWork(
        monotonic_ns=int(at_ns), cpu_us_total=float(cpu_us), pieces_total=int(pieces), speed_total=float(speed)
    )
