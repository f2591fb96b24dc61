"""The child programs of this package: they measure CPUs and new memory pages, and hold memory."""

from __future__ import annotations

import contextlib
import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from scale_sweep.base.spawning import spawn
from scale_sweep.machine.host import memory_pages, repeat_work
from scale_sweep.machine.host.host_facts import memory_left_bytes
from scale_sweep.machine.host.memory_pages import AHEAD_BYTES, FIRST, TOUCHED_BYTES
from scale_sweep.model.resources import NewPages
from scale_sweep.model.samples import CpuWork

_READ_BYTES = 1 << 16


class LineChild:
    """Runs one file from `start` to `stop`, without the package and site-packages. cpus: where it runs."""

    def __init__(self, program: Path, arguments: Sequence[object], cpus: Sequence[int]) -> None:
        # -I -S: nothing of the user's, and no search for packages, which would cost more than the work.
        self._command = (sys.executable, "-I", "-S", str(program), *map(str, arguments))
        self._cpus = cpus
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    @property
    def pid(self) -> int:
        """0: it does not run."""
        return self._process.pid if self._process is not None else 0

    def start(self) -> None:
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        with contextlib.suppress(OSError):
            self._process = spawn(self._command, self._cpus, stdin=pipe, stdout=pipe, stderr=nothing)

    def write(self, line: str) -> bool:
        """Whether it could be written."""
        if self._process is None or self._process.stdin is None:
            return False
        try:
            os.write(self._process.stdin.fileno(), f"{line}\n".encode())
        except OSError:
            return False
        return True

    def new_lines(self) -> list[bytes]:
        """Whole ones since the last call, without waiting."""
        return self._read(0.0) or []

    def lines(self, end_s: float) -> Iterator[bytes]:
        while (left_s := end_s - time.monotonic()) > 0 and (lines := self._read(left_s)) is not None:
            yield from lines

    def _read(self, within_s: float) -> list[bytes] | None:
        """Whole lines; None if nothing came in time, or the child has ended."""
        if self._process is None or self._process.stdout is None:
            return None
        output = self._process.stdout.fileno()
        if not select.select([output], [], [], within_s)[0] or not (text := os.read(output, _READ_BYTES)):
            return None
        *lines, self._rest = (self._rest + text).split(b"\n")
        return lines

    def stop(self, within_s: float) -> None:
        if self._process is None:
            return
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.communicate(timeout=within_s)
        self._process = None


CPUS_MAX = 16  # evenly spread over more
ESTIMATES_SPEED = 2.1  # pieces/ms: where PostgreSQL writes the 3e5 rows/s per core of its estimate
_NOW_PIECES = 20
_NOW_REST_S = 0.01
_WORK_END_S = 5.0


class CpuWorkReader:
    """The speed of the server's CPUs by the CPU time of the same work, from `start` to `stop`."""

    def __init__(self, cpus: Sequence[int]) -> None:
        self._cpus = spread(cpus)
        self._child = LineChild(Path(repeat_work.__file__), self._cpus, self._cpus)
        self.cpu_s = 0.0  # of the work so far

    def start(self) -> None:
        if self._cpus:
            self._child.start()

    def read(self) -> tuple[CpuWork, ...]:
        totals = tuple(_total(line) for line in self._child.new_lines())
        if totals:
            self.cpu_s = totals[-1].cpu_us_total / 1e6
        return totals

    def stop(self) -> None:
        self._child.stop(_WORK_END_S)


def speed_now() -> float:
    """The median speed of the allowed CPUs over about 0.2 s, in pieces for each ms of CPU time."""
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


NEW_PAGES_SWITCH = "SCALE_NEW_PAGES"  # "off" in the environment: not measured
NEW_PAGES_S = 10.0
NEW_PAGES_SHARE = 0.5  # of the available memory
MOST_BYTES = 8 * 2**30
_TOUCH_LATE_S = 2.0  # for the child's start, and for its last piece after its time
_PIECES = FIRST  # of one figure: 256 MiB, whose median ignores a piece in which something else happened
_TIMES, _MORE_US = 2.0, 1.0  # pages are dear from twice the cheap cost on, and a microsecond more


def measure_new_pages(wanted_bytes: int, limit_s: float = NEW_PAGES_S) -> NewPages | None:
    """The cost of the first pages and of those after so many bytes; None if too few were touched, or switched off."""
    if os.environ.get(NEW_PAGES_SWITCH) == "off":
        return None
    available = memory_left_bytes()
    costs: list[float] = []
    for cost in _touched_costs(min(wanted_bytes, MOST_BYTES, int(NEW_PAGES_SHARE * available)), limit_s):
        costs.append(cost)
        if (pages := judged(costs, available)) is not None and pages.are_dear:
            break
    return judged(costs, available)


def judged(costs: Sequence[float], available_bytes: int) -> NewPages | None:
    """The result of the costs so far, in µs of a page: the first new ones, the same again, all further new ones."""
    new, again = [*costs[:FIRST], *costs[2 * FIRST :]], costs[FIRST : 2 * FIRST]
    if len(again) < FIRST:
        return None
    cheap = min(median(again), median(new[:FIRST]))
    dear = max(_TIMES * cheap, cheap + _MORE_US)
    places = range(len(new) - _PIECES + 1)
    rise = next((at for at in places if new[at] >= dear and median(new[at : at + _PIECES]) >= dear), None)
    return NewPages(
        first_us=median(new[:FIRST]),
        again_us=median(again),
        last_us=median(new[-_PIECES:]),
        touched_bytes=len(new) * TOUCHED_BYTES,
        cheap_bytes=None if rise is None else rise * TOUCHED_BYTES,
        available_bytes=available_bytes,
    )


def _touched_costs(wanted_bytes: int, limit_s: float) -> Iterator[float]:
    child = LineChild(Path(memory_pages.__file__), ("touch", wanted_bytes, limit_s), sorted(os.sched_getaffinity(0)))
    child.start()
    try:
        yield from map(float, child.lines(time.monotonic() + limit_s + _TOUCH_LATE_S))
    finally:
        child.stop(_TOUCH_LATE_S)


TAKE_S = 60.0  # for all pages; more than the dearest known ones need
_TAKE_LATE_S = 5.0  # for the child's start, and its last piece after its time


class HeldMemory:
    """Holds memory where new pages are dear: a child pays for them once, and frees them as the server writes."""

    def __init__(self, wanted_bytes: int, cpus: Sequence[int]) -> None:
        self._child = LineChild(Path(memory_pages.__file__), ("hold", wanted_bytes + AHEAD_BYTES), cpus)

    def __enter__(self) -> HeldMemory:
        self._child.start()
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        self._child.stop(_TAKE_LATE_S)

    def take(self) -> int:
        """Holds all of it again before a trial. Returns how many of the wanted bytes are held."""
        self._child.new_lines()  # a late answer to the last call
        if not self._child.write(f"take {TAKE_S}"):
            return 0
        line = next(self._child.lines(time.monotonic() + TAKE_S + _TAKE_LATE_S), b"")
        held = int(line.split()[1]) if line else 0
        return max(0, held - AHEAD_BYTES)
