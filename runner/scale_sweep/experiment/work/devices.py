"""Devices in a seeded order that trials and operations walk through together, so that a sweep asks all of them; sets of
devices as text."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable


def walked(tables: int, seed: int, first: int, count: int) -> tuple[int, ...]:
    """So many consecutive devices of the order, from a place in it. The order begins again after its last one; as many
    consecutive ones as there are devices are all of them."""
    chance = random.Random(seed)
    start, step = chance.randrange(tables), chance.randrange(1, tables + 1)
    while math.gcd(step, tables) != 1:
        step = step % tables + 1
    return tuple((start + step * place) % tables for place in range(first, first + count))


def as_text(devices: Iterable[int]) -> str:
    """Their numbers in order, as ranges: 0-3,7."""
    ranges: list[list[int]] = []
    for device in sorted(set(devices)):
        if ranges and ranges[-1][1] == device - 1:
            ranges[-1][1] = device
        else:
            ranges.append([device, device])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in ranges)


def from_text(text: str) -> set[int]:
    ends = [part.partition("-") for part in text.split(",") if part]
    return {device for a, _, b in ends for device in range(int(a), int(b or a) + 1)}
