"""The 95 % of every interval and test of this project, and formulas of Student's t that several parts use."""

from __future__ import annotations

import math

from scipy.special import stdtrit

SIGNIFICANCE = 0.05  # of every test
CONFIDENCE = 1 - SIGNIFICANCE  # of every interval
POWER = 0.80  # four times in five
OWN_SPREAD_FROM = 3
SOUGHT_PERCENT = 10.0  # of a rate: the size of the effects that sweeps look for, as for the trend within a short window
DIFFERENCE_MAX_PERCENT = 100.0  # if a rate could double without being noticed, a figure does not help the reader
REPEATS_MAX = 100  # no advice asks for more replicates, blocks or sessions


def student(degrees: float, probability: float = (1 + CONFIDENCE) / 2) -> float:
    """The quantile of Student's t distribution; by default that of a two-sided 95 % interval."""
    return float(stdtrit(degrees, probability))


def half_of_mean(count: int, own: float, std: float, degrees: int, leverage: float = 0.0) -> float:
    """Half of the 95 % interval of the mean of ln(rate) over `count` trials, of which there is at least one.

    own: their own spread. std: the spread pooled over the levels, with its degrees of freedom. Three trials or more
    whose own spread is larger have that. leverage: what the removal of a drift adds to the variance of the mean, in
    units of one trial's variance.
    """
    half = student(degrees) * std * math.sqrt(1 / count + leverage)
    if count < OWN_SPREAD_FROM or own <= std:
        return half
    return max(half, student(count - 1) * own / math.sqrt(count))


def smallest_of(std: float, degrees: int, count: int) -> float:
    """The difference of two means in percent that is seen four times in five at 5 %: (t(97.5 %) + t(80 %)) s √(2/n).

    The usual normal-theory sample size formula, with Student's t for the spread s of its degrees of freedom. count: n,
    the trials of each mean.
    """
    factor = student(degrees) + student(degrees, POWER)
    return 100 * math.expm1(factor * std * math.sqrt(2 / count))


def replicates_for(percent: float, levels: int, std: float) -> int | None:
    """The fewest replicates, at least two, that show a difference of this percentage between two levels; None above
    REPEATS_MAX."""
    counts = range(2, REPEATS_MAX + 1)
    return next((n for n in counts if smallest_of(std, levels * (n - 1), n) <= percent), None)
