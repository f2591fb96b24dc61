"""One model fitted to the rows, with its errors and its bootstrap. Residuals of the fitted curve are drawn with
replacement and added to it (Efron 1979). Each sample scales them again by √(ν/χ²ν), because ν degrees of freedom
estimate the noise with an error, as in Student's t."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scale_sweep.analysis.confidence import CONFIDENCE
from scale_sweep.analysis.fit.models import BOUNDED, COUNTS, PARAMETERS, WITH_BREAK, Floats, ModelName, jacobian, rates
from scale_sweep.analysis.fit.rows import Rows
from scale_sweep.analysis.fit.squares import solve
from scale_sweep.model.fitted import Estimate, ModelFit

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
    """(samples, parameters) for rates in rows.unit; none without a degree of freedom. slopes: the derivatives of the
    fitted curve. inverse: (JᵀWJ)⁻¹."""
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
    spread: Floats
    pool: Floats
    weight: float


def _forms(rows: Rows, fitted: Floats, slopes: Floats, inverse: Floats | None) -> tuple[Form, Form]:
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
    pool = residuals / np.sqrt(visible)
    size = math.sqrt(float(np.mean(pool**2)))
    pool = pool - pool.mean()
    now = math.sqrt(float(np.mean(pool**2)))
    return np.asarray(pool * (size / now) if now > 0 else pool)


def _visible(rows: Rows, spread: Floats, slopes: Floats, inverse: Floats | None) -> Floats:
    """The variance of a residual for noise of size `spread`: (I − H) diag(spread²) (I − H)ᵀ."""
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


LIMITS = (50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE))
_RESOLUTION = 1e-6  # of the mean rate; the data is not more exact, so a perfect fit does not give ln(0)
_UNITLESS = ("alpha", "beta", "exponent", "share", "break")
_SQUARE_MAX = 1e14


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A fitted model, in the unit of the data."""

    model: ModelName
    values: Floats
    free: tuple[str, ...]
    std_errs: Mapping[str, float]
    rss: float
    rse: float | None
    degrees: int
    aicc: float | None
    left_out_error: float | None
    samples: Floats  # (samples, parameters) or empty
    trials: int
    unit_level: float = 1.0  # u of the formulas in models.py

    @property
    def names(self) -> tuple[str, ...]:
        return PARAMETERS[self.model]

    def value(self, name: str) -> float:
        return float(self.values[self.names.index(name)])

    def estimate(self, name: str) -> Estimate:
        low, high = self.interval(name)
        return Estimate(value=self.value(name), std_err=self.std_errs.get(name), low=low, high=high)

    def interval(self, name: str) -> tuple[float | None, float | None]:
        return percentiles(self.samples[:, self.names.index(name)]) if len(self.samples) else (None, None)

    def rates(self, levels: Floats) -> Floats:
        return np.asarray(rates(self.model, self.values[None], levels, self.unit_level)[0])

    def curves(self, levels: Floats) -> Floats:
        """(samples, levels)."""
        return rates(self.model, self.samples, levels, self.unit_level)


def percentiles(values: Floats, limits: tuple[float, float] = LIMITS) -> tuple[float | None, float | None]:
    """The ends of an interval; infinite ends are None."""
    low, high = (float(v) for v in np.percentile(values, limits, method="inverted_cdf"))
    return (low if math.isfinite(low) else None, high if math.isfinite(high) else None)


def fit_model(model: ModelName, rows: Rows, samples: int = SAMPLES) -> Candidate:
    """By least squares, for at least as many levels as parameters."""
    names = PARAMETERS[model]
    values = solve(model, rows.distinct, rows.weights, rows.means[None] / rows.unit, rows.unit_level, rows.knot)[0]
    curve: Floats = rates(model, values[None], rows.distinct, rows.unit_level)[0]
    slopes = jacobian(model, values, rows.distinct, rows.unit_level)
    free = [i for i, name in enumerate(names) if np.any(slopes[:, i]) and not _on_bound(name, float(values[i]))]
    gaps = rows.rates / rows.unit - curve[rows.of_level]
    rss, degrees = float(gaps @ gaps), len(rows.rates) - len(free)
    inverse = _inverse(slopes[:, free], rows.weights)
    size = math.sqrt(rss / degrees) if degrees > 0 else None
    errors = np.sqrt(np.diag(inverse)) * size if inverse is not None and size is not None else None
    units = np.array([1.0 if name in _UNITLESS else rows.unit for name in names])
    few = rows.condensed
    drawn = resample(
        model,
        few,
        rates(model, values[None], few.distinct, rows.unit_level)[0],
        jacobian(model, values, few.distinct, rows.unit_level)[:, free],
        inverse,
        degrees,
        samples,
    )
    testable = len(rows.distinct) > COUNTS[model]
    return Candidate(
        model=model,
        values=values * units,
        free=tuple(names[i] for i in free),
        std_errs={} if errors is None else {names[i]: float(e * units[i]) for i, e in zip(free, errors, strict=True)},
        rss=rss * rows.unit**2,
        rse=size * rows.unit if size is not None else None,
        degrees=degrees,
        aicc=aicc(rss, len(rows.rates), COUNTS[model], rows.unit) if testable else None,
        left_out_error=_left_out_error(model, rows),
        samples=drawn * units if drawn.size else drawn,
        trials=len(rows.rates),
        unit_level=rows.unit_level,
    )


def _on_bound(name: str, value: float) -> bool:
    return name in BOUNDED and (value <= 0 or value >= 1)


def _inverse(slopes: Floats, weights: Floats) -> Floats | None:
    """(JᵀWJ)⁻¹; None if the points do not determine the parameters."""
    size = np.sqrt(weights @ slopes**2)
    if not size.size or size.min() <= 0:
        return None
    square = (slopes / size).T @ ((slopes / size) * weights[:, None])
    if np.linalg.cond(square) > _SQUARE_MAX:
        return None
    return np.asarray(np.linalg.inv(square) / np.outer(size, size))


def aicc(rss: float, trials: int, parameters: int, unit: float = 1.0) -> float | None:
    """Akaike's criterion for few points (Hurvich and Tsai, 1989), with the variance as a parameter. None if n − k − 1 ≤
    0. rss is in units of `unit`."""
    k = parameters + 1
    if trials - k - 1 <= 0:
        return None
    variance = max(rss / trials, _RESOLUTION**2)
    return trials * (math.log(variance) + 2 * math.log(unit)) + 2 * k + 2 * k * (k + 1) / (trials - k - 1)


def _left_out_error(model: ModelName, rows: Rows) -> float | None:
    """At the last level if it is not fitted; None with too few levels."""
    if len(rows.distinct) - 1 < COUNTS[model] or model in WITH_BREAK and rows.distinct[-2] <= (rows.knot or 0.0):
        return None
    rest = rows.means[None, :-1] / rows.unit
    values = solve(model, rows.distinct[:-1], rows.weights[:-1], rest, rows.unit_level, rows.knot)
    predicted = float(rates(model, values, rows.distinct[-1:], rows.unit_level)[0, 0]) * rows.unit
    off = abs(predicted / float(rows.means[-1]) - 1)
    return off if math.isfinite(off) else None


def band(candidate: Candidate, grid: Floats) -> tuple[tuple[float, float, float], ...]:
    """(level, low, high): 95 % for the curve, given the model."""
    if not len(candidate.samples):
        return ()
    low, high = np.percentile(candidate.curves(grid), LIMITS, axis=0)
    return tuple((six_digits(n), six_digits(a), six_digits(b)) for n, a, b in zip(grid, low, high, strict=True))


def six_digits(value: float) -> float:
    return float(f"{value:.6g}")


def document(candidate: Candidate, grid: Floats | None) -> ModelFit:
    """The form that is stored."""
    return ModelFit(
        model=candidate.model,
        parameters={name: candidate.estimate(name) for name in candidate.names},
        rss=candidate.rss,
        aicc=candidate.aicc,
        band=band(candidate, grid) if grid is not None else (),
        on_bound=tuple(n for n in candidate.names if n not in candidate.free and n != "break"),
        trials=candidate.trials,
        unit_level=candidate.unit_level,
        rse=candidate.rse,
        holdout_error=candidate.left_out_error,
    )
