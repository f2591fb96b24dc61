"""A program that keeps one CPU, or the disk of one folder, busy for a share of some times, and prints what it took."""

from __future__ import annotations

import mmap
import os
import random
import select
import statistics
import sys
import time
from typing import Protocol

PERIOD_NS = 2_000_000  # in which the share is taken once: a long pause of one side would also starve the other
OPEN = os.O_TMPFILE | os.O_WRONLY | os.O_DIRECT
BLOCK_BYTES = 64 << 10
_FILE_BLOCKS = 128
_ALONE = 32  # writes to the idle disk, whose mean time is that of each later one: a cap delays only some
_LOOPS = 100  # of a piece of work: a few microseconds


class BusyWork(Protocol):
    def taken_ns(self) -> float: ...
    def piece(self) -> None: ...


class OfCpu:
    taken_ns = staticmethod(time.thread_time_ns)

    def piece(self) -> None:
        for _ in range(_LOOPS):
            pass


class OfDisk:
    """Synchronous writes past the page cache, into a file without a name. Their time is that of an idle disk: it does
    not count the server's requests before them. Raises OSError."""

    def __init__(self, folder: str) -> None:
        self._file = os.open(folder, OPEN, 0o600)
        self._block = mmap.mmap(-1, BLOCK_BYTES)
        self._block.write(os.urandom(BLOCK_BYTES))
        for at in range(_FILE_BLOCKS):
            os.pwrite(self._file, self._block, at * BLOCK_BYTES)
        os.fsync(self._file)
        self._written = 0
        self._alone_ns = statistics.mean(self._timed_ns() for _ in range(_ALONE))
        self._written = 0

    def taken_ns(self) -> float:
        return self._written * self._alone_ns

    def piece(self) -> None:
        os.pwritev(self._file, [self._block], random.randrange(_FILE_BLOCKS) * BLOCK_BYTES, os.RWF_DSYNC)
        self._written += 1

    def _timed_ns(self) -> int:
        begin = time.monotonic_ns()
        self.piece()
        return time.monotonic_ns() - begin


def wait(until_ns: int) -> None:
    """Ends the program if the one that started it has ended."""
    while True:
        left_s = max(0.0, (until_ns - time.monotonic_ns()) / 1e9)
        if not select.select([0], [], [], left_s)[0]:
            return
        if not os.read(0, 4096):
            raise SystemExit


def take(work: BusyWork, share: float, start_ns: int, end_ns: int) -> float:
    """Returns what was taken, in nanoseconds: less than the share if others needed the CPU or the disk too."""
    wait(start_ns)
    begin, due_ns = work.taken_ns(), start_ns
    while due_ns < end_ns:
        due_ns = min(due_ns + PERIOD_NS, end_ns)
        wanted = share * (due_ns - start_ns)
        while work.taken_ns() - begin < wanted and time.monotonic_ns() < end_ns:
            work.piece()
        wait(due_ns)
    return work.taken_ns() - begin


def times(deadline_s: float) -> list[int]:
    """The starts and ends of one line of standard input, in nanoseconds; none by the deadline."""
    text = b""
    while not text.endswith(b"\n"):
        if not select.select([0], [], [], max(0.0, deadline_s - time.monotonic()))[0]:
            return []
        if not (more := os.read(0, 1 << 16)):
            return []
        text += more
    return [int(word) for word in text.split()]


def main(share: float, within_s: float, folder: str) -> None:
    """within_s: from now on, a line with the times must come. folder: on the disk; "": keeps the CPU busy."""
    deadline_s = time.monotonic() + within_s
    work: BusyWork = OfDisk(folder) if folder else OfCpu()
    os.write(1, b"ready\n")
    ends = times(deadline_s)
    for start_ns, end_ns in zip(ends[::2], ends[1::2], strict=True):
        os.write(1, b"%d %d %d\n" % (start_ns, end_ns, take(work, share, start_ns, end_ns)))


if __name__ == "__main__":
    try:
        main(float(sys.argv[1]), float(sys.argv[2]), sys.argv[3])
    except OSError as error:
        os.write(1, f"failed {error.strerror}\n".encode())
