"""Does a rate jump between two values? Then its mean is right, but no second has it. Pure.

The seconds are split into two groups where the spread inside is smallest (Otsu). They are two modes if Ashman's D says
that they are apart. Refuses to call that unsteady: the mean decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt

from scale_sweep.judge.verdict.thresholds import MODES_APART, MODES_GAP_PERCENT, MODES_SECONDS, MODES_SHARE


@dataclass(frozen=True, kw_only=True)
class Modes:
    """low, high: mean rates of the two groups, in the unit of the rates. high_share: of the seconds, 0..1."""

    low: float
    high: float
    high_share: float


def modes(rates: Sequence[float]) -> Modes | None:
    """The two values between which a rate jumps, or None."""
    values = sorted(rates)
    n = len(values)
    if n < MODES_SECONDS or values[0] == values[-1]:
        return None
    sums, squares = [0.0, *accumulate(values)], [0.0, *accumulate(v * v for v in values)]

    def group(a: int, b: int) -> tuple[float, float]:
        mean = (sums[b] - sums[a]) / (b - a)
        return mean, max(0.0, (squares[b] - squares[a]) / (b - a) - mean * mean)

    least = max(2, round(MODES_SHARE * n))
    at = min(range(least, n - least + 1), key=lambda k: k * group(0, k)[1] + (n - k) * group(k, n)[1])
    (low, var_low), (high, var_high) = group(0, at), group(at, n)
    inside = sqrt(var_low + var_high)
    is_far = high - low > MODES_GAP_PERCENT / 100 * sums[n] / n
    if not is_far or sqrt(2) * (high - low) <= MODES_APART * inside:
        return None
    return Modes(low=low, high=high, high_share=(n - at) / n)
