"""Is the fall at the end real, and is the hard limit? Tests by simulation (parametric bootstrap), seeded.

Both ask how much better the best curve with the shape fits than the best curve without it, and how often noise alone
gives as much. The distribution comes from rates simulated from the best curve without the shape, because no textbook
distribution applies: the data chooses the peak, and the models are not nested. Refuses an answer if the rows leave no
degree of freedom for the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from scale_sweep.analysis.fit.bootstrap import SEED
from scale_sweep.analysis.fit.models import Floats, ModelName, rates
from scale_sweep.analysis.fit.rows import Rows
from scale_sweep.analysis.fit.squares import solve, solve_peak_at_last

SIMULATIONS = 400
FALL_LEAST = 0.02  # of the highest level's mean; a smaller fall is not reported
FALL_P = 0.025
KNEE_P = 0.02
_PARAMETERS = 3  # parameters of the largest curve fitted here
_LEVELS_MIN = 3
_RESOLUTION = 1e-12
Squares = Callable[[Rows, Floats], Floats]


def falls(rows: Rows) -> bool:
    """Whether the rate falls after its peak: by 2 % or more at the last level, and beyond the noise (2.5 %, one side).

    Without the fall: Amdahl, a knee, or a USL that has its peak at the last level. With it: a USL, or a line through
    the origin followed by a falling one.
    """
    rows = rows.condensed
    if len(rows.distinct) < _LEVELS_MIN or float(rows.means[-1]) > (1 - FALL_LEAST) * float(rows.means.max()):
        return False
    return _p_value(rows, _rising, _falling) <= FALL_P


def bends(rows: Rows) -> bool:
    """Whether a hard limit explains the rates better than noise about a smooth curve does (2 %)."""
    if len(rows.distinct) < _LEVELS_MIN + 1:
        return False
    return _p_value(rows.condensed, _smooth, _bent) <= KNEE_P


def _p_value(rows: Rows, without: Callable[[Rows, Floats], tuple[Floats, Floats]], having: Squares) -> float:
    """The share of simulated rates, drawn without the shape, that gain as much by it. 1: not testable."""
    degrees = len(rows.rates) - _PARAMETERS
    if degrees < 1:
        return 1.0
    means = rows.means[None] / rows.unit
    within = float(np.sum((rows.rates / rows.unit - means[0][rows.of_level]) ** 2))
    plain, curve = without(rows, means)
    shaped = having(rows, means)
    best = min(float(plain[0]), float(shaped[0])) + within
    gain = _gain(plain, np.minimum(plain, shaped), within)[0]
    chance = np.random.default_rng([SEED, len(rows.rates), len(rows.distinct)])
    spread = math.sqrt(best / degrees) * _spread(rows, curve)
    drawn = curve + spread / np.sqrt(rows.weights) * chance.standard_normal((SIMULATIONS, len(curve)))
    left = np.maximum(rows.weights - 1, 0)
    squares = chance.chisquare(np.maximum(left, 1), (SIMULATIONS, len(left)))
    noise = np.where(left > 0, spread**2 * squares, 0.0).sum(axis=1)
    plain_drawn, _ = without(rows, drawn)
    gains = _gain(plain_drawn, np.minimum(plain_drawn, having(rows, drawn)), noise)
    return float(1 + np.count_nonzero(gains >= gain)) / (SIMULATIONS + 1)


def _gain(plain: Floats, shaped: Floats, within: Floats | float) -> Floats:
    """The decrease of the squares: ln of the ratio."""
    gain: Floats = np.log((plain + within + _RESOLUTION) / (shaped + within + _RESOLUTION))
    return gain


def _spread(rows: Rows, curve: Floats) -> Floats:
    """The size of the noise at each level, 1 on average: constant or proportional to the rate, as in the residuals."""
    residuals = (rows.rates / rows.unit - curve[rows.of_level]) ** 2
    size = np.maximum(curve, 1e-3 * curve.max())
    here = size[rows.of_level]
    proportional = np.mean(np.log(here**2)) + math.log(float(np.mean(residuals / here**2)) + _RESOLUTION)
    constant = math.log(float(np.mean(residuals)) + _RESOLUTION)
    if proportional >= constant:
        return np.ones_like(curve)
    spread: Floats = size / math.sqrt(float(np.mean(here**2)))
    return spread


def _squares(rows: Rows, measured: Floats, curves: Floats) -> Floats:
    squares: Floats = (measured - curves) ** 2 @ rows.weights
    return squares


def _model(rows: Rows, model: ModelName, measured: Floats) -> Floats:
    fitted = solve(model, rows.distinct, rows.weights, measured, rows.unit_level)
    return rates(model, fitted, rows.distinct, rows.unit_level)


def _best(rows: Rows, measured: Floats, curves: list[Floats]) -> tuple[Floats, Floats]:
    """The smallest squares of each sample, and the first sample's curve that has them."""
    squares = np.array([_squares(rows, measured, each) for each in curves])
    return squares.min(axis=0), curves[int(np.argmin(squares[:, 0]))][0]


def _rising(rows: Rows, measured: Floats) -> tuple[Floats, Floats]:
    at_last = solve_peak_at_last(rows.distinct, rows.weights, measured, rows.unit_level)
    return _best(rows, measured, [_model(rows, "amdahl", measured), _model(rows, "knee", measured), at_last])


def _falling(rows: Rows, measured: Floats) -> Floats:
    squares = _squares(rows, measured, _model(rows, "usl", measured))
    return np.minimum(squares, _tent(rows, measured))


def _smooth(rows: Rows, measured: Floats) -> tuple[Floats, Floats]:
    names: tuple[ModelName, ...] = ("amdahl", "usl", "power", "affine")
    return _best(rows, measured, [_model(rows, name, measured) for name in names])


def _bent(rows: Rows, measured: Floats) -> Floats:
    return _squares(rows, measured, _model(rows, "knee", measured))


def _tent(rows: Rows, measured: Floats) -> Floats:
    """Squares about a line through the origin up to some level, and a falling line from the next level on; the best
    split."""
    best = np.full(len(measured), np.inf)
    for first in range(1, len(rows.distinct) - 1):
        left, right = slice(None, first), slice(first, None)
        level, weight = rows.distinct[left], rows.weights[left]
        rise = measured[:, left] @ (weight * level) / np.sum(weight * level**2)
        squares = (measured[:, left] - rise[:, None] * level) ** 2 @ weight
        level, weight = rows.distinct[right], rows.weights[right]
        away = level - weight @ level / weight.sum()
        middle = measured[:, right] @ weight / weight.sum()
        slope = np.minimum(measured[:, right] @ (weight * away) / np.sum(weight * away**2), 0.0)
        squares = squares + (measured[:, right] - middle[:, None] - slope[:, None] * away) ** 2 @ weight
        best = np.minimum(best, squares)
    return best
