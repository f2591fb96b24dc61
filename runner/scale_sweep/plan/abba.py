"""The order of `scale ab`: two variants in blocks of A B B A or B A A B at each level. Pure and seeded.

A drift that is linear in time has the same weight for both variants of a block. The variant that begins is drawn for
each block, so that neither gains from being first. The levels of a round are in random order too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

TRIALS_OF_A_VARIANT = 2  # in a block


@dataclass(frozen=True, kw_only=True)
class Place:
    """One trial: its level, which variant (0: A, 1: B), its replicate and block, both counted from 1."""

    level: float
    variant: int
    replicate: int
    block: int


def abba(levels: Sequence[float], blocks: int, seed: int) -> Iterator[Place]:
    """All trials in order. Every block number occurs once at each level."""
    chance = random.Random(seed)
    for block in range(1, blocks + 1):
        shuffled = list(levels)
        chance.shuffle(shuffled)
        for level in shuffled:
            first = chance.randrange(2)
            for at, variant in enumerate((first, 1 - first, 1 - first, first)):
                yield Place(level=level, variant=variant, replicate=TRIALS_OF_A_VARIANT * block - (at < 2), block=block)
