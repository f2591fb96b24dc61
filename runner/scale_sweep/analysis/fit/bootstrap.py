"""The bootstrap: draws many curves that could have been measured, and fits each."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from scale_sweep.analysis.fit.models import Floats, ModelName
from scale_sweep.analysis.fit.rows import Rows
from scale_sweep.analysis.fit.squares import solve

SAMPLES = 2000
SEED = 20070101
_CELLS_MAX = 400_000  # samples handled together, which limits the memory
_ROWS_MAX = 4096  # beyond this, the errors of means are drawn from the normal distribution
_VISIBLE_MIN = 0.02
_WEIGHT_LEAST = 0.01


def resample(
    model: ModelName,
    rows: Rows,
    fitted: Floats,
    slopes: Floats,
    inverse: Floats | None,
    degrees: int,
    samples: int = SAMPLES,
) -> Floats:
    """Parameters of every sample, (samples, parameters), for rates in rows.unit; no rows without a degree of freedom.

    fitted, slopes: the curve and its derivatives at every level, in rows.unit. inverse: (JᵀWJ)⁻¹.
    """
    if degrees < 1:
        return np.empty((0, 0))
    chance = np.random.default_rng([SEED, len(rows.rates)])
    forms = _forms(rows, fitted, slopes, inverse)
    cells = len(rows.rates) if len(rows.rates) <= _ROWS_MAX else len(rows.distinct)
    stretch = max(1, _CELLS_MAX // cells)
    solutions = []
    for begin in range(0, samples, stretch):
        count = min(stretch, samples - begin)
        scale = np.sqrt(degrees / chance.chisquare(degrees, count))[:, None]
        taken = chance.random(count)[:, None] < forms[0].weight
        errors = [form.spread * _errors(rows, form.pool, count, chance) if form.weight else 0.0 for form in forms]
        measured = fitted + scale * np.where(taken, *errors)
        solutions.append(solve(model, rows.distinct, rows.weights, measured, rows.unit_level, rows.knot))
    return np.concatenate(solutions)


def _errors(rows: Rows, pool: Floats, count: int, chance: np.random.Generator) -> Floats:
    """Errors of the levels' means, (count, levels), in units of the noise."""
    if len(pool) > _ROWS_MAX:
        many = chance.standard_normal((count, len(rows.distinct)))
        return many * math.sqrt(float(np.mean(pool**2))) / np.sqrt(rows.weights)
    drawn = pool[chance.integers(0, len(pool), (count, len(pool)))]
    if len(rows.distinct) == len(pool):
        return drawn
    sums: Floats = np.add.reduceat(drawn, rows.starts, axis=1)
    return sums / rows.weights


@dataclass(frozen=True, kw_only=True)
class Form:
    """One form of the noise: its size at each level, the residuals in units of that, and how likely the form is."""

    spread: Floats
    pool: Floats
    weight: float


def _forms(rows: Rows, fitted: Floats, slopes: Floats, inverse: Floats | None) -> tuple[Form, Form]:
    """Constant noise, and noise proportional to the rate. A weight that hardly counts is 0."""
    residuals = rows.rates / rows.unit - fitted[rows.of_level]
    constant = _visible(rows, np.ones_like(fitted), slopes, inverse)[rows.of_level]
    proportional = _visible(rows, fitted, slopes, inverse)[rows.of_level] if fitted.min() > 0 else constant
    gain = len(residuals) * (_likelihood(residuals, proportional) - _likelihood(residuals, constant)) / 2
    weight = 1 / (1 + math.exp(min(max(gain, -50.0), 50.0))) if fitted.min() > 0 else 1.0
    weight = 0.0 if weight < _WEIGHT_LEAST else 1.0 if weight > 1 - _WEIGHT_LEAST else weight
    return (
        Form(spread=np.ones_like(fitted), pool=_pool(residuals, constant), weight=weight),
        Form(spread=fitted, pool=_pool(residuals, proportional), weight=1 - weight),
    )


def _pool(residuals: Floats, visible: Floats) -> Floats:
    """The residuals without the effect of the fit, in units of the noise, about 0."""
    pool = residuals / np.sqrt(visible)
    size = math.sqrt(float(np.mean(pool**2)))
    pool = pool - pool.mean()
    now = math.sqrt(float(np.mean(pool**2)))
    return np.asarray(pool * (size / now) if now > 0 else pool)


def _visible(rows: Rows, spread: Floats, slopes: Floats, inverse: Floats | None) -> Floats:
    """The variance of a residual at each level, for noise of size 1 × spread: (I − H) diag(spread²) (I − H)ᵀ."""
    if inverse is None:
        return spread**2
    reach = slopes @ inverse
    own = np.einsum("li,li->l", reach, slopes)
    middle = (slopes * (rows.weights * spread**2)[:, None]).T @ slopes
    variance = spread**2 * (1 - 2 * own) + np.einsum("li,ij,lj->l", reach, middle, reach)
    return np.asarray(np.maximum(variance, _VISIBLE_MIN * spread**2))


def _likelihood(residuals: Floats, variances: Floats) -> float:
    size = float(np.mean(residuals**2 / variances))
    return -float(np.mean(np.log(variances))) - math.log(size) if size > 0 else 0.0
