"""Values that the load generator draws by a law, and its devices in an order."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable

from scale_sweep.model.declared import Workload

LAWS = ("walk", "random", "constant", "line", "sine", "square", "normal")  # in the order of the load generator
_RANGES = {  # the smallest value, the length of the range, steps in a unit
    "tinyint": (0, 100, 1),
    "smallint": (0, 10_000, 1),
    "int": (0, 1_000_000, 1),
    "bigint": (0, 10**12, 1),
    "utinyint": (0, 200, 1),
    "usmallint": (0, 50_000, 1),
    "uint": (0, 1_000_000, 1),
    "ubigint": (0, 10**12, 1),
    "float": (0, 100, 1000),
    "double": (0, 1000, 0),  # 0: any fraction
}
_METERS = {
    ("current", "float"): (8, 4, 1000),
    ("voltage", "int"): (110, 130, 1),
    ("phase", "float"): (0, 1, 1000),
    ("groupid", "int"): (1, 9, 1),
    ("devgroup", "int"): (0, 99, 1),
}


def bounds_of(data: Workload, column: str, share: float, side: str) -> tuple[float, float]:
    """Two bounds with this share of the values strictly between them, as nearly as possible. side: "between" is in the
    middle of the range; of "above" the second is infinite, of "below" the first. Raises ValueError."""
    law = law_of(data, column)
    if law != "random":
        reason = "the share within bounds is the same in every range of time only with --values random"
        raise ValueError(f"selectivity: the values of {column} have the law {law}; {reason}")
    kind = next(kind for name, _, kind in (one.partition(":") for one in data.columns) if name == column)
    low, span, steps = _METERS.get((column, kind), _RANGES[kind])
    is_fraction = kind in ("float", "double")
    if is_fraction and data.decimals is not None:
        steps = 10**data.decimals
    begin = {"above": 1 - share, "between": (1 - share) / 2, "below": 0.0}[side]
    if not steps:
        return _open(side, *(float(f"{low + span * part:.10g}") for part in (begin, begin + share)))
    values = span * steps + 1
    inside = round(share * values)
    if not 0 < inside < values:
        raise ValueError(f"selectivity: {column} has {values:,} different values, of which {share:.3%} are {inside:,}")
    first = {"above": values - inside, "between": (values - inside) // 2, "below": 0}[side]
    places = (first - 0.5, first + inside - 0.5) if is_fraction else (first - 1, first + inside)
    return _open(side, *((low * steps + place) / steps for place in places))


def _open(side: str, lower: float, upper: float) -> tuple[float, float]:
    return (-math.inf if side == "below" else lower), (math.inf if side == "above" else upper)


def law_of(data: Workload, column: str) -> str:
    shares = dict.fromkeys(LAWS, 0)
    for name, _, text in (part.partition("=") for part in data.values.split(",")):
        shares[name] = int(text or 1)
    number = [one.partition(":")[0] for one in data.columns].index(column)
    at = ((number + 1) * 2654435769 % 2**32) * sum(shares.values()) >> 32
    for law, share in shares.items():
        if at < share:
            return law
        at -= share
    raise AssertionError("a place is below the sum of the shares")


def walked(tables: int, seed: int, first: int, count: int) -> tuple[int, ...]:
    """Consecutive devices of a seeded order, from a place in it; so many as there are, are all of them."""
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
