"""Tests of equal variances, which decide whether spreads are pooled. The last axis of each array is the points.

Few trials cannot show that spreads are equal, so a test at 5 % would pool nearly everything. The levels here are high
(50 % and 70 %): spreads are pooled only if the trials look as equal spreads look more often than not. The levels were
chosen by bench/method_compare.py, so that false alarms stay within 3 to 6 %.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
SIDES_LEVEL, POINTS_LEVEL = 0.5, 0.7
OUTLIER_LEVEL = 0.05


def sides_equal(squares_a: Floats, degrees_a: Floats, squares_b: Floats, degrees_b: Floats) -> Bools:
    """Whether A and B are equally noisy (F test, two-sided). The last axis has length 1."""
    total = [part.sum(axis=-1, keepdims=True) for part in (squares_a, degrees_a, squares_b, degrees_b)]
    a, b = total[0] / np.maximum(total[1], 1), total[2] / np.maximum(total[3], 1)
    larger, smaller = np.maximum(a, b), np.minimum(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(smaller > 0, larger / np.where(smaller > 0, smaller, 1.0), np.where(larger > 0, np.inf, 1.0))
    above, below = np.where(a >= b, total[1], total[3]), np.where(a >= b, total[3], total[1])
    chance = 2 * fdtrc(np.maximum(above, 1), np.maximum(below, 1), np.minimum(ratio, 1e12))
    return np.asarray(chance > SIDES_LEVEL)


def own_spread(squares: Floats, degrees: Floats) -> Bools:
    """The points whose spread is not pooled. These are points clearly noisier than the rest (F test at 5 %, shared
    among the points), and all points if the rest differ by Bartlett's test (1937)."""
    outlier = outliers(squares, degrees)
    rest = np.where(outlier, 0.0, degrees)
    differ = bartlett(squares, rest) <= POINTS_LEVEL
    return np.asarray(outlier | differ) & (degrees > 0)


def outliers(squares: Floats, degrees: Floats) -> Bools:
    """The points that are clearly noisier than the rest: F test at 5 %, shared among the points."""
    rest = squares.sum(axis=-1, keepdims=True) - squares
    rest_degrees = degrees.sum(axis=-1, keepdims=True) - degrees
    comparable = (degrees > 0) & (rest_degrees > 0) & (rest > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(comparable, (squares / degrees) / (rest / rest_degrees), 0.0)
    chance = np.where(comparable, fdtrc(np.maximum(degrees, 1), np.maximum(rest_degrees, 1), excess), 1.0)
    return np.asarray(chance < OUTLIER_LEVEL / squares.shape[-1])


def bartlett(squares: Floats, degrees: Floats) -> Floats:
    """The p-value of equal variances, on a last axis of length 1. Points without degrees of freedom do not take part.

    1 if fewer than two points take part, or if all of them show no spread.
    """
    part = degrees > 0
    count = part.sum(axis=-1, keepdims=True)
    safe = np.where(part, degrees, 1.0)
    total = np.where(part, degrees, 0.0).sum(axis=-1, keepdims=True)
    pooled = np.where(part, squares, 0.0).sum(axis=-1, keepdims=True) / np.maximum(total, 1)
    floor = np.maximum(1e-12 * pooled, 1e-300)
    own = np.where(part, np.maximum(squares / safe, floor), 1.0)
    logs = np.where(part, safe * np.log(own), 0.0).sum(axis=-1, keepdims=True)
    statistic = total * np.log(np.maximum(pooled, 1e-300)) - logs
    inverse = np.where(part, 1 / safe, 0.0).sum(axis=-1, keepdims=True) - 1 / np.maximum(total, 1)
    corrected = statistic / (1 + inverse / (3 * np.maximum(count - 1, 1)))
    chance = chdtrc(np.maximum(count - 1, 1), np.maximum(corrected, 0.0))
    return np.where((count < 2) | (pooled <= 1e-30), 1.0, chance)
