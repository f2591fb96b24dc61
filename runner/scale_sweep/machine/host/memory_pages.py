"""A program that measures the CPU time of new memory pages, or keeps touched memory and frees it as fast as others take
memory."""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import select
import sys
import time
from pathlib import Path

TOUCHED_BYTES = 32 * 2**20  # a piece of which the cost is printed
FIRST = 8  # pieces that are freed once, and touched again at once: what a page costs that the host has not taken back
HELD_BYTES = 8 * 2**20  # a piece that is held
AHEAD_BYTES = 256 * 2**20  # freed before somebody asks for it
POLL_S = 0.1  # each look costs 0.2 ms of the CPUs that are measured
_POPULATE_WRITE = 23  # of linux/mman.h, since Linux 5.14: one call in place of a fault for each page


def _new_piece(size_bytes: int) -> mmap.mmap:
    piece = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a kernel without huge pages has no such advice
        piece.madvise(mmap.MADV_NOHUGEPAGE)
    return piece


def cost_us(kept: list[mmap.mmap]) -> float:
    """Touches each page of one more piece. Returns the CPU time of a page."""
    zeros = bytes(TOUCHED_BYTES // mmap.PAGESIZE)
    begun_s = time.process_time()
    piece = _new_piece(TOUCHED_BYTES)
    piece[:: mmap.PAGESIZE] = zeros
    used_s = time.process_time() - begun_s
    kept.append(piece)
    return used_s / len(zeros) * 1e6


def touch(wanted_bytes: int, limit_s: float) -> None:
    """Prints the cost of a page on a line for each piece."""
    end_s = time.monotonic() + limit_s
    kept: list[mmap.mmap] = []
    pieces = wanted_bytes // TOUCHED_BYTES
    for done in range(pieces + FIRST if pieces >= FIRST else pieces):
        if done == FIRST:
            while kept:
                kept.pop().close()
        if time.monotonic() > end_s:
            return
        os.write(1, f"{cost_us(kept):.4f}\n".encode())


class Holder:
    """The held pieces. pieces: their number when all are held."""

    def __init__(self, pieces: int, meminfo: str = "/proc/meminfo") -> None:
        self._pieces = pieces
        self._held: list[mmap.mmap] = []
        self._free_bytes = 0  # of the machine, when all were held
        self._meminfo = os.open(meminfo, os.O_RDONLY)

    def __len__(self) -> int:
        return len(self._held) * HELD_BYTES

    def take(self, limit_s: float) -> int:
        """Touches what was freed. Returns the bytes that are held."""
        end_s = time.monotonic() + limit_s
        while (
            len(self._held) < self._pieces
            and time.monotonic() < end_s
            and self._kernel_bytes(b"MemAvailable") > len(self)
        ):
            self._held.append(_touched())
        self._free_bytes = self._kernel_bytes(b"MemFree")
        return len(self)

    def give(self) -> bool:
        """Frees as much as others have taken since, and AHEAD_BYTES more. Whether anything is still held."""
        wanted = self._free_bytes + AHEAD_BYTES - self._kernel_bytes(b"MemFree")
        for _ in range(min(len(self._held), max(0, -(-wanted // HELD_BYTES)))):
            self._held.pop().close()
        return bool(self._held)

    def _kernel_bytes(self, what: bytes) -> int:
        match = re.search(rb"^" + what + rb":\s+(\d+) kB", os.pread(self._meminfo, 4096, 0), re.MULTILINE)
        return int(match.group(1)) * 1024 if match else 0


def _touched() -> mmap.mmap:
    piece = _new_piece(HELD_BYTES)
    try:
        piece.madvise(_POPULATE_WRITE)
    except OSError:
        piece[:: mmap.PAGESIZE] = bytes(HELD_BYTES // mmap.PAGESIZE)
    return piece


def hold(wanted_bytes: int) -> None:
    """Obeys the lines of standard input until it ends."""
    holder, gives, rest = Holder(-(-wanted_bytes // HELD_BYTES)), False, b""
    while True:
        if not select.select([0], [], [], POLL_S if gives else None)[0]:
            gives = holder.give()
            continue
        text = os.read(0, 4096)
        if not text:
            return
        *lines, rest = (rest + text).split(b"\n")
        for line in lines:
            os.write(1, b"held %d\n" % holder.take(float(line.split()[1])))
            gives = holder.give()


if __name__ == "__main__":
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    with contextlib.suppress(BrokenPipeError):
        if sys.argv[1] == "touch":
            touch(int(sys.argv[2]), float(sys.argv[3]))
        else:
            hold(int(sys.argv[2]))
