"""A program that repeats the same small piece of work on some CPUs, and prints how fast they are."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence

REPORT_NS = 100_000_000
_STEPS = 10_000  # of a piece: about half a millisecond
_REST_S = 0.05  # between two pieces on one CPU


def piece_us() -> float:
    """CPU time of one piece, in microseconds."""
    begin, value = time.thread_time_ns(), 0
    for step in range(_STEPS):
        value += step * step
    return (time.thread_time_ns() - begin) / 1000


def main(cpus: Sequence[int]) -> None:
    total_us, pieces, speed, due = 0.0, 0, 0.0, time.monotonic_ns()
    while True:
        for cpu in cpus:
            os.sched_setaffinity(0, (cpu,))
            us = piece_us()
            total_us, pieces, speed = total_us + us, pieces + 1, speed + 1000 / us
            now = time.monotonic_ns()
            if now >= due:
                os.write(1, b"%d %.1f %d %.4f\n" % (now, total_us, pieces, speed))
                due = now + REPORT_NS
            time.sleep(_REST_S / len(cpus))


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        main([int(cpu) for cpu in sys.argv[1:]])
