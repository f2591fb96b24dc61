"""Weights of a mix as the load generator reads them: whole numbers. Refuses weights that are too far apart for that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

WEIGHT_MAX = 1_000_000  # loadgen/operations.c


def whole(weights: Sequence[float]) -> tuple[int, ...]:
    """The weights as whole numbers of 1..WEIGHT_MAX in the same proportion; whole weights stay as they are.

    Raises ValueError if there are no such numbers, as for 1 and 0.00000001.
    """
    exact = [Fraction(str(weight)) for weight in weights]
    common = math.lcm(*(part.denominator for part in exact))
    numbers = tuple(int(part * common) for part in exact)
    if max(numbers, default=0) > WEIGHT_MAX:
        raise ValueError(f"weights of {min(weights):g} and {max(weights):g} are too far apart, or have too many digits")
    return numbers
