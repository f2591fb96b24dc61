"""Is the fall at the end real, and is the hard limit?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from scale_sweep.analysis.fit.candidates import SEED
from scale_sweep.analysis.fit.models import WITH_BREAK, Floats, ModelName, rates
from scale_sweep.analysis.fit.rows import Rows
from scale_sweep.analysis.fit.squares import solve, solve_peak_at_last

SIMULATIONS = 400
FALL_LEAST = 0.02  # of the highest level's mean; a smaller fall is not reported
FALL_P = 0.025  # of both tests of a fall together
KNEE_P = 0.02
FALL_OF_ROWS, ROWS_OF_A_FALL = 0.05, 3  # of one row a level: the least fall in all, and falls in a row
_PARAMETERS = 3  # parameters of the largest curve fitted here
_LEVELS_MIN = 3
_NEAR_TOP = 0.7  # of the highest mean: the noise of a level below may have another size
_DEGREES_MIN = 4  # with fewer, the noise about a curve of steps is not known
_RESOLUTION = 1e-12


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """Rates drawn about a curve, as each level's mean: (draws, levels)."""

    means: Floats
    within: Floats  # the squares of the replicates about their means, of each draw
    relative: Floats  # the same of each level, in shares of its mean


def falls(rows: Rows) -> bool:
    """Whether the last level's rate is 2 % below the highest, beyond noise (2.5 %, one side). Two tests share that: by
    squares, rising curves (Amdahl, knee, USL that peaks at the last level) against falling ones; and by the slope of ln
    x over ln n from the highest mean on."""
    rows = rows.condensed
    degrees = len(rows.rates) - _PARAMETERS
    if len(rows.distinct) < _LEVELS_MIN or float(rows.means[-1]) > (1 - FALL_LEAST) * float(rows.means.max()):
        return False
    if degrees < 1:
        return False
    measured = _measured(rows)
    plain, curve = _rising(rows, measured.means)
    shaped = _falling(rows, measured.means)
    gain = _gain(plain, shaped, measured.within)[0]
    near = rows.means >= _NEAR_TOP * rows.means.max()
    tail = _tail_of_slope(rows, measured, near)[0]
    best = min(float(plain[0]), float(shaped[0])) + float(measured.within[0])
    spread = math.sqrt(best / degrees) * _spread(rows, curve)
    level = _never_falling(measured.means[0], rows.weights)
    by_gain, by_slope = 0.0, 0.0
    for without, size in ((curve, 1.0), (level, _size_about(rows, measured, level, best / degrees))):
        drawn = _simulated(rows, without, size * spread)
        gains = _gain(_rising(rows, drawn.means)[0], _falling(rows, drawn.means), drawn.within)
        by_gain = max(by_gain, _share(gains >= gain))
        by_slope = max(by_slope, _share(_tail_of_slope(rows, drawn, near) <= tail))
    return min(by_gain, by_slope) <= FALL_P / 2


def falls_row_by_row(rows: Rows) -> bool:
    if len(rows.rates) != len(rows.distinct) or len(rows.rates) <= ROWS_OF_A_FALL:
        return False
    after = rows.means[rows.means.argmax() :]
    is_deep = len(after) > ROWS_OF_A_FALL and after[-1] <= (1 - FALL_OF_ROWS) * after[0]
    return bool(is_deep and np.all(np.diff(after) < 0))


def bends(rows: Rows) -> bool:
    """Whether a hard limit explains the rates better than noise about a smooth curve, or one with a known break (2
    %)."""
    rows = rows.condensed
    degrees = len(rows.rates) - _PARAMETERS
    if len(rows.distinct) < _LEVELS_MIN + 1 or degrees < 1:
        return False
    measured = _measured(rows)
    plain, curve = _smooth(rows, measured.means)
    shaped = _bent(rows, measured.means)
    gain = _gain(plain, shaped, measured.within)[0]
    best = min(float(plain[0]), float(shaped[0])) + float(measured.within[0])
    drawn = _simulated(rows, curve, math.sqrt(best / degrees) * _spread(rows, curve))
    gains = _gain(_smooth(rows, drawn.means)[0], _bent(rows, drawn.means), drawn.within)
    return _share(gains >= gain) <= KNEE_P


def _measured(rows: Rows) -> Simulated:
    means = rows.means[None] / rows.unit
    squares = (rows.rates / rows.unit - means[0][rows.of_level]) ** 2
    relative = np.bincount(rows.of_level, squares)[None] / means**2
    return Simulated(means=means, within=np.array([squares.sum()]), relative=relative)


def _simulated(rows: Rows, curve: Floats, spread: Floats) -> Simulated:
    chance = np.random.default_rng([SEED, len(rows.rates), len(rows.distinct)])
    drawn = curve + spread / np.sqrt(rows.weights) * chance.standard_normal((SIMULATIONS, len(curve)))
    left = np.maximum(rows.weights - 1, 0)
    squares = chance.chisquare(np.maximum(left, 1), (SIMULATIONS, len(left)))
    within = np.where(left > 0, spread**2 * squares, 0.0)
    relative = within / np.maximum(curve, 1e-3 * curve.max()) ** 2
    return Simulated(means=drawn, within=within.sum(axis=1), relative=relative)


def _share(extreme: NDArray[np.bool_]) -> float:
    return float(1 + np.count_nonzero(extreme)) / (SIMULATIONS + 1)


def _gain(plain: Floats, shaped: Floats, within: Floats) -> Floats:
    """The decrease of the squares: ln of the ratio, 0 or more."""
    return np.asarray(np.log((plain + within + _RESOLUTION) / (np.minimum(plain, shaped) + within + _RESOLUTION)))


def _tail_of_slope(rows: Rows, draws: Simulated, near: NDArray[np.bool_]) -> Floats:
    """By draw: the tail of Student's t for the slope of ln x on ln n from the highest mean on; 1 where that is the
    last. The data chooses the maximum: this is no p-value."""
    logs, across = np.log(np.maximum(draws.means, _RESOLUTION)), np.log(rows.distinct)
    top = draws.means.argmax(axis=1)
    tails, replicates = np.ones(len(top)), int(np.sum(rows.weights[near] - 1))
    within = draws.relative[:, near].sum(axis=1)
    for first in range(len(across) - 1):
        here = np.flatnonzero(top == first)
        degrees = len(across) - first - 2 + replicates
        if not here.size or degrees < 1:
            continue
        weights, x = rows.weights[first:], across[first:]
        x = x - weights @ x / weights.sum()
        y = logs[here, first:]
        y = y - (y @ weights / weights.sum())[:, None]
        slopes = y @ (weights * x) / (weights @ x**2)
        squares = (y - slopes[:, None] * x) ** 2 @ weights + within[here]
        tails[here] = stdtr(degrees, slopes * np.sqrt(weights @ x**2 * degrees / np.maximum(squares, _RESOLUTION)))
    return tails


def _size_about(rows: Rows, measured: Simulated, curve: Floats, variance: float) -> float:
    """As a share of the noise about the best model: below 1 where no model fits."""
    degrees = len(rows.rates) - len(np.unique(curve))
    if degrees < _DEGREES_MIN or variance <= 0:
        return 1.0
    squares = float(_squares(rows, measured.means, curve)[0] + measured.within[0])
    return min(math.sqrt(squares / degrees / variance), 1.0)


def _never_falling(means: Floats, weights: Floats) -> Floats:
    """Isotonic regression, by pooling (Ayer and others 1955)."""
    blocks: list[tuple[float, float, int]] = []
    for mean, weight in zip(means, weights, strict=True):
        blocks.append((float(mean), float(weight), 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (one, heavy, many), (other, light, few) = blocks[-2:]
            blocks[-2:] = [((one * heavy + other * light) / (heavy + light), heavy + light, many + few)]
    return np.repeat([mean for mean, _, _ in blocks], [many for _, _, many in blocks])


def _spread(rows: Rows, curve: Floats) -> Floats:
    """By level, 1 on average: constant or proportional to the rate, as in the residuals."""
    residuals = (rows.rates / rows.unit - curve[rows.of_level]) ** 2
    size = np.maximum(curve, 1e-3 * curve.max())
    here = size[rows.of_level]
    proportional = np.mean(np.log(here**2)) + math.log(float(np.mean(residuals / here**2)) + _RESOLUTION)
    constant = math.log(float(np.mean(residuals)) + _RESOLUTION)
    if proportional >= constant:
        return np.ones_like(curve)
    return np.asarray(size / math.sqrt(float(np.mean(here**2))))


def _squares(rows: Rows, measured: Floats, curves: Floats) -> Floats:
    return np.asarray((measured - curves) ** 2 @ rows.weights)


def _model(rows: Rows, model: ModelName, measured: Floats) -> Floats:
    fitted = solve(model, rows.distinct, rows.weights, measured, rows.unit_level, rows.knot)
    return rates(model, fitted, rows.distinct, rows.unit_level)


def _best(rows: Rows, measured: Floats, curves: list[Floats]) -> tuple[Floats, Floats]:
    squares = np.array([_squares(rows, measured, each) for each in curves])
    return squares.min(axis=0), curves[int(np.argmin(squares[:, 0]))][0]


def _rising(rows: Rows, measured: Floats) -> tuple[Floats, Floats]:
    at_last = solve_peak_at_last(rows.distinct, rows.weights, measured, rows.unit_level)
    return _best(rows, measured, [_model(rows, "amdahl", measured), _model(rows, "knee", measured), at_last])


def _falling(rows: Rows, measured: Floats) -> Floats:
    squares = _squares(rows, measured, _model(rows, "usl", measured))
    return np.minimum(squares, _tent(rows, measured))


def _smooth(rows: Rows, measured: Floats) -> tuple[Floats, Floats]:
    names: tuple[ModelName, ...] = ("amdahl", "usl", "power", "affine", *(WITH_BREAK if rows.knot is not None else ()))
    return _best(rows, measured, [_model(rows, name, measured) for name in names])


def _bent(rows: Rows, measured: Floats) -> Floats:
    return _squares(rows, measured, _model(rows, "knee", measured))


def _tent(rows: Rows, measured: Floats) -> Floats:
    """Squares about a line through the origin, then a falling line; the best split."""
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
