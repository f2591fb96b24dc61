"""A neighbour: another process that takes a share of one CPU in bursts of some seconds, seeded.

    python bench/neighbour.py 0.2

Bursts and pauses have random lengths, so that they are in step with nothing. It ends with the process that started it:
it reads its standard input in the pauses, and ends when that is closed. Refuses to know what is measured beside it.
"""

from __future__ import annotations

import argparse
import random
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BURST_S = (0.5, 3.0)
STOP_S = 10.0


@contextmanager
def neighbour(share: float) -> Iterator[None]:
    """The neighbour while the block runs; nothing for a share of 0."""
    if not share:
        yield
        return
    busy = subprocess.Popen([sys.executable, "-P", str(Path(__file__).resolve()), str(share)], stdin=subprocess.PIPE)
    try:
        yield
    finally:
        assert busy.stdin is not None
        busy.stdin.close()
        try:
            busy.wait(STOP_S)
        except subprocess.TimeoutExpired:
            busy.kill()
            busy.wait(STOP_S)


def bursts(share: float, seed: int) -> Iterator[tuple[float, float]]:
    """Lengths of a burst and of the pause after it, in seconds: the bursts are `share` of the time."""
    chance = random.Random(seed)
    while True:
        burst = chance.uniform(*BURST_S)
        yield burst, burst * (1 - share) / share * chance.uniform(0.5, 1.5)


def main() -> None:
    """Burst after burst, until standard input is closed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("share", type=float)
    for burst, pause in bursts(parser.parse_args().share, seed=20261123):
        end = time.monotonic() + burst
        while time.monotonic() < end:
            pass
        if select.select([sys.stdin], [], [], pause)[0]:
            return


if __name__ == "__main__":
    main()
