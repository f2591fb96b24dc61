"""A program that touches new memory piece by piece and prints the CPU time that one page of each piece cost."""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import time
from pathlib import Path

PIECE_BYTES = 32 * 2**20
FIRST = 8  # pieces that are freed once, and touched again at once: what a page costs that the host has not taken back


def cost_us(kept: list[mmap.mmap]) -> float:
    """Touches each page of one more piece. Returns the CPU time of a page."""
    pages = PIECE_BYTES // mmap.PAGESIZE
    zeros = bytes(pages)
    begun_s = time.process_time()
    piece = mmap.mmap(-1, PIECE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a kernel without huge pages has no such advice
        piece.madvise(mmap.MADV_NOHUGEPAGE)
    piece[:: mmap.PAGESIZE] = zeros
    used_s = time.process_time() - begun_s
    kept.append(piece)
    return used_s / pages * 1e6


def main(wanted_bytes: int, limit_s: float) -> None:
    """A line for each piece."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    end_s = time.monotonic() + limit_s
    kept: list[mmap.mmap] = []
    pieces = wanted_bytes // PIECE_BYTES
    for done in range(pieces + FIRST if pieces >= FIRST else pieces):
        if done == FIRST:
            while kept:
                kept.pop().close()
        if time.monotonic() > end_s:
            return
        os.write(1, f"{cost_us(kept):.4f}\n".encode())


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main(int(sys.argv[1]), float(sys.argv[2]))
