"""Least squares for one model: parameters inside their bounds, standard errors, AICc, confidence band.

What is minimised is Σ (ln X_measured − ln X_model)². The spread of a rate grows with the rate, so errors are compared
as ratios; and as the logarithm of a ratio rather than (model − measured) / measured, which would draw the curve below
the points because a trial that came out low would weigh more. Every trial counts by itself, not the mean of its level.
Refuses to give an error for a parameter on its bound: there the usual formula means nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import t as student

from runner.fit.models import PARAMETERS, UPPER, Floats, ModelName, denominator, log_gradient, rates
from runner.model import Estimate, ModelFit

_STARTS = ((0.02, 1e-4), (0.3, 1e-3), (0.02, 0.05), (0.7, 0.2))
_AT_BOUND = 1e-7
_RESOLUTION = 1e-6  # relative; no rate is known better, so a perfect fit does not make ln(0)
CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Solution:
    """Where the least squares ended: parameter values, which of them are free, and their covariance (of ln γ, α, β)."""

    model: ModelName
    gamma: float
    alpha: float
    beta: float
    free: tuple[str, ...]
    rss: float
    covariance: Floats | None
    degrees: int

    def value(self, name: str) -> float:
        """A parameter by name."""
        return {"gamma": self.gamma, "alpha": self.alpha, "beta": self.beta}[name]

    def std_err(self, name: str) -> float | None:
        """One standard error; None on a bound or without a degree of freedom. That of γ is carried over from ln γ."""
        if self.covariance is None or name not in self.free:
            return None
        at = self.free.index(name)
        error = math.sqrt(max(float(self.covariance[at, at]), 0.0))
        return self.gamma * error if name == "gamma" else error


def solve(model: ModelName, levels: Floats, measured: Floats) -> Solution:
    """The model's best parameters on these trials. Rates must be above 0."""
    free = [name for name in PARAMETERS[model] if name != "gamma"]
    fixed: dict[str, float] = {}
    while True:
        found = {**_minimise(levels, measured, free, fixed), **fixed}
        ends = {n: 0.0 if found[n] < _AT_BOUND else UPPER for n in free if not _AT_BOUND < found[n] < UPPER - _AT_BOUND}
        if not ends:
            break
        fixed |= ends
        free = [name for name in free if name not in ends]
    return _solution(model, levels, measured, found, ("gamma", *free))


def _residuals(levels: Floats, measured: Floats, values: Mapping[str, float]) -> tuple[Floats, float]:
    """The residuals with the best ln γ, which is a mean and needs no search; and that ln γ."""
    gap = np.log(measured * denominator(levels, values.get("alpha", 0.0), values.get("beta", 0.0)) / levels)
    log_gamma = float(np.mean(gap))
    return gap - log_gamma, log_gamma


def _minimise(levels: Floats, measured: Floats, free: list[str], fixed: Mapping[str, float]) -> dict[str, float]:
    if not free:
        return {}

    def residuals(x: Floats) -> Floats:
        return _residuals(levels, measured, {**fixed, **dict(zip(free, x, strict=True))})[0]

    best = None
    for alpha, beta in _STARTS:
        start = [{"alpha": alpha, "beta": beta}[name] for name in free]
        tried = least_squares(residuals, start, bounds=(0.0, UPPER), xtol=1e-14, ftol=1e-14, gtol=1e-14)
        if best is None or tried.cost < best.cost:
            best = tried
    assert best is not None
    return dict(zip(free, (float(v) for v in best.x), strict=True))


def _solution(
    model: ModelName, levels: Floats, measured: Floats, found: Mapping[str, float], free: tuple[str, ...]
) -> Solution:
    residuals, log_gamma = _residuals(levels, measured, found)
    rss, degrees = float(np.sum(residuals**2)), len(levels) - len(free)
    alpha, beta = found.get("alpha", 0.0), found.get("beta", 0.0)
    gradient = log_gradient(levels, alpha, beta, free)
    square = gradient.T @ gradient
    known = degrees > 0 and np.linalg.cond(square) < 1e14
    return Solution(
        model=model,
        gamma=math.exp(log_gamma),
        alpha=alpha,
        beta=beta,
        free=free,
        rss=rss,
        covariance=np.linalg.inv(square) * rss / degrees if known else None,
        degrees=degrees,
    )


def aicc(rss: float, trials: int, parameters: int) -> float | None:
    """Akaike's criterion corrected for few points (Hurvich and Tsai, 1989); the variance counts as a parameter.

    None where n − k − 1 ≤ 0: the correction is then undefined, and so is the choice.
    """
    k = parameters + 1
    if trials - k - 1 <= 0:
        return None
    variance = max(rss / trials, _RESOLUTION**2)
    return trials * math.log(variance) + 2 * k + 2 * k * (k + 1) / (trials - k - 1)


def band(solution: Solution, grid: Floats) -> tuple[tuple[float, float, float], ...]:
    """(level, low, high): 95 % for the curve by the delta method on ln X, so that it never goes below 0.

    Holds for this model; the doubt about the model is not in it. A parameter on its bound counts as known.
    """
    if solution.covariance is None:
        return ()
    gradient = log_gradient(grid, solution.alpha, solution.beta, solution.free)
    spread = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", gradient, solution.covariance, gradient), 0.0))
    reach = np.exp(float(student.ppf((1 + CONFIDENCE) / 2, solution.degrees)) * spread)
    middle = rates(grid, solution.gamma, solution.alpha, solution.beta)
    rows = zip(grid, middle / reach, middle * reach, strict=True)
    return tuple((float(n), float(low), float(high)) for n, low, high in rows)


def model_fit(solution: Solution, trials: int, distinct: int, grid: Floats | None) -> ModelFit:
    """The solution as the document says it. aicc is None too where the model has as many parameters as levels."""
    names = PARAMETERS[solution.model]
    testable = distinct > len(names)
    return ModelFit(
        model=solution.model,
        parameters={n: Estimate(value=solution.value(n), std_err=solution.std_err(n)) for n in names},
        rss=solution.rss,
        aicc=aicc(solution.rss, trials, len(names)) if testable else None,
        band=band(solution, grid) if grid is not None else (),
        on_bound=tuple(n for n in names if n not in solution.free),
        trials=trials,
    )


def two_sided(degrees: int) -> float:
    """Student's t for 95 %, both sides."""
    return float(student.ppf((1 + CONFIDENCE) / 2, degrees))
