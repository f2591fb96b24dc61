"""Measures the CPU time of a new memory page, as fio measures a disk: before a run, within limits."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from scale_sweep.machine.host.line_child import LineChild
from scale_sweep.machine.host.touch_pages import FIRST, PIECE_BYTES
from scale_sweep.machine.host.usable import memory_left_bytes
from scale_sweep.model import NewPages

SWITCH = "SCALE_NEW_PAGES"  # "off" in the environment: not measured
LIMIT_S = 10.0
SHARE = 0.5  # of the available memory
MOST_BYTES = 8 * 2**30
_LATE_S = 2.0  # for the child's start, and for its last piece after its time
_PIECES = FIRST  # of one figure: 256 MiB, whose median ignores a piece in which something else happened
_TIMES, _MORE_US = 2.0, 1.0  # pages are dear from twice the cheap cost on, and a microsecond more
_PROGRAM = Path(__file__).with_name("touch_pages.py")


def measure_new_pages(wanted_bytes: int, root: Path = Path("/"), limit_s: float = LIMIT_S) -> NewPages | None:
    """The cost of the first pages, and of those after as many bytes as wanted. None if too few could be touched, or the
    measurement is switched off."""
    if os.environ.get(SWITCH) == "off":
        return None
    available = memory_left_bytes(root)
    costs: list[float] = []
    for cost in _touched(min(wanted_bytes, MOST_BYTES, int(SHARE * available)), limit_s):
        costs.append(cost)
        if (pages := judged(costs, available)) is not None and pages.are_dear:
            break
    return judged(costs, available)


def judged(costs: Sequence[float], available_bytes: int) -> NewPages | None:
    """The result of the pieces' costs so far, each in microseconds of a page: the first new ones, the same again, and
    all further new ones."""
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
        touched_bytes=len(new) * PIECE_BYTES,
        cheap_bytes=None if rise is None else rise * PIECE_BYTES,
        available_bytes=available_bytes,
    )


def _touched(wanted_bytes: int, limit_s: float) -> Iterator[float]:
    child = LineChild(_PROGRAM, (wanted_bytes, limit_s), sorted(os.sched_getaffinity(0)))
    child.start()
    try:
        yield from map(float, child.lines(time.monotonic() + limit_s + _LATE_S))
    finally:
        child.stop(_LATE_S)
