"""Figures of one model: peak, knee, maximum, level at 90 %, level for a rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scale_sweep.analysis.fit.candidates import Candidate, percentiles
from scale_sweep.analysis.fit.models import WITH_BREAK, Floats, ModelName, usl_peak
from scale_sweep.analysis.fit.rows import Rows
from scale_sweep.model.fitted import REACH, Estimate

_EFFICIENCY = 0.9
Figure = Callable[[Floats], Floats]


def _known(candidate: Candidate, figure: Figure) -> Estimate | None:
    if not len(candidate.samples):
        return None
    value = float(figure(candidate.values[None])[0])
    low, high = percentiles(figure(candidate.samples))
    if not math.isfinite(value) or low is None or high is None or high - low > 2 * value:
        return None
    return Estimate(value=value, std_err=None, low=low, high=high)


def _ratio(above: Floats, below: Floats) -> Floats:
    """Infinite where the divisor is 0."""
    ratio: Floats = np.full_like(above, np.inf)
    np.divide(above, below, out=ratio, where=below > 0)
    return ratio


def peak(candidate: Candidate) -> Estimate | None:
    """The level of the USL's maximum, with the error of the delta method."""
    if candidate.model != "usl":
        return None
    known = _known(candidate, lambda p: _peak_levels(p, candidate.unit_level))
    value = usl_peak(candidate.value("alpha"), candidate.value("beta"), candidate.unit_level)
    if known is None or value is None or known.low is None or known.high is None:
        return None
    return Estimate(value=value, std_err=(known.high - known.low) / 3.92, low=known.low, high=known.high)


def _peak_levels(p: Floats, unit: float) -> Floats:
    return np.asarray(unit * np.sqrt(_ratio(np.maximum(1 - p[:, 1], 0.0), p[:, 2])))


def knee(candidate: Candidate) -> Estimate | None:
    return _known(candidate, lambda p: _ratio(p[:, 1], p[:, 0])) if candidate.model == "knee" else None


def maximum(chosen: Candidate, others: Sequence[Candidate]) -> Estimate | None:
    """γ/α of Amdahl, C of the knee, X at the peak of the USL. Its interval spans the others too; None if one has
    none."""

    def of(c: Candidate) -> Estimate | None:
        return _known(c, lambda p: _maxima(c.model, p, c.unit_level)) if c.model in _BOUNDED else None

    spanned = [of(c) for c in (chosen, *(c for c in others if c.model != chosen.model))]
    ends = [(e.low, e.high) for e in spanned if e is not None and e.low is not None and e.high is not None]
    own = spanned[0]
    if own is None or len(ends) < len(spanned):
        return None
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return replace(own, low=low, high=high) if high - low <= 2 * own.value else None


_BOUNDED: tuple[ModelName, ...] = ("amdahl", "knee", "usl")


def _maxima(model: ModelName, p: Floats, unit: float) -> Floats:
    if model == "knee":
        return p[:, 1]
    maxima = unit * _ratio(p[:, 0], p[:, 1])
    if model == "amdahl":
        return maxima
    many = _peak_levels(p, unit) / unit
    turns = np.isfinite(many) & (many > 0)
    m, alpha, beta = many[turns], p[turns, 1], p[turns, 2]
    maxima[turns] = p[turns, 0] * unit * m / (1 + alpha * (m - 1) + beta * m * (m - 1))
    return maxima


def level_at_90(candidate: Candidate, rows: Rows) -> Estimate | None:
    """Where X(n) n₀ / (n X(n₀)) falls to 90 %, n₀ being the smallest level."""
    first = float(rows.distinct[0])
    level = _known(candidate, lambda p: _levels_at_90(candidate.model, p, first, candidate.unit_level))
    return level if level is not None and level.value <= REACH * float(rows.distinct[-1]) else None


def _levels_at_90(model: ModelName, p: Floats, first: float, unit: float) -> Floats:
    if model in WITH_BREAK:
        return _levels_at_90_with_break(p, first, unit)
    if model in ("amdahl", "usl"):
        m = first / unit
        alpha, beta = p[:, 1], p[:, 2] if model == "usl" else np.zeros(len(p))
        most = (1 + alpha * (m - 1) + beta * m * (m - 1)) / _EFFICIENCY  # of the divisor of γ n
        return unit * _usl_root(beta, alpha - beta, 1 - alpha - most, larger=True)
    if model == "knee":
        return np.maximum(_ratio(p[:, 1], p[:, 0]), first) / _EFFICIENCY
    if model == "affine":
        return np.maximum(_ratio(p[:, 0], _EFFICIENCY * (p[:, 0] / first + p[:, 1]) - p[:, 1]), first)
    levels = np.full(len(p), np.inf)
    if model == "power":
        falls = p[:, 1] < 1
        levels[falls] = first * np.exp(np.minimum(math.log(_EFFICIENCY) / (p[falls, 1] - 1), 700.0))
    return levels


def _levels_at_90_with_break(p: Floats, first: float, unit: float) -> Floats:
    """The first on either side of the break. Beyond it, X(n) = k n is quadratic in n."""
    law, share, at = _law_of(p), p[:, -2], p[:, -1]
    before = _levels_at_90("amdahl", law, first, unit)
    ideal, alpha, whole = law[:, 0], law[:, 1], (1 - share) * at
    wanted = _EFFICIENCY * ideal / (1 + alpha * (first / unit - 1))
    beyond = _usl_root(
        wanted * alpha * share / unit,
        wanted * (1 - alpha + alpha * whole / unit) - share * ideal,
        -ideal * whole,
        larger=True,
    )
    return np.where(before <= at, before, np.maximum(beyond, at))


def _law_of(p: Floats) -> Floats:
    contention = p[:, 1] if p.shape[1] > 3 else np.zeros(len(p))
    return np.column_stack([p[:, 0], contention])


def _usl_root(square: Floats, linear: Floats, constant: Floats, *, larger: bool) -> Floats:
    """The root of a n² + b n + c with a ≥ 0; infinite if there is none above 0. Stable for a → 0."""
    inside = linear**2 - 4 * square * constant
    root = np.sqrt(np.maximum(inside, 0.0))
    solution = _ratio(-2 * constant, linear + root) if larger else _ratio(2 * constant, -linear + root)
    return np.where((inside >= 0) & (solution > 0), solution, np.inf)


def levels_for(model: ModelName, p: Floats, rate: float, unit: float = 1.0) -> Floats:
    """The lowest level with X(n) = rate, by parameter set; infinite without one."""
    rates = np.full(len(p), float(rate))
    if model == "linear":
        return _ratio(rates, p[:, 0])
    if model == "affine":
        return np.maximum(_ratio(rates - p[:, 0], p[:, 1]), 0.0)
    if model == "knee":
        return np.where(rates <= p[:, 1], _ratio(rates, p[:, 0]), np.inf)
    if model == "power":
        return _power_level(p, rate, p[:, 1] > 0)
    if model in WITH_BREAK:
        return _level_with_break(p, rate, unit, falling=False)
    return _law_level(model, p, rate, unit, larger=False)


def level_where_it_falls(model: ModelName, p: Floats, rate: float, unit: float = 1.0) -> Floats:
    """From which a falling curve is below the rate; infinite without one."""
    if model == "affine":
        return np.maximum(_ratio(p[:, 0] - rate, -p[:, 1]), 0.0)
    if model == "power":
        return _power_level(p, rate, p[:, 1] < 0)
    if model == "usl":
        return _law_level(model, p, rate, unit, larger=True)
    if model in WITH_BREAK:
        return _level_with_break(p, rate, unit, falling=True)
    return np.full(len(p), np.inf)


def _level_with_break(p: Floats, rate: float, unit: float, *, falling: bool) -> Floats:
    """By the law up to the break, beyond it by the share. falling: beyond the break."""
    worth, share, at = _law_level("amdahl", _law_of(p), rate, unit, larger=False), p[:, -2], p[:, -1]
    levels = np.full(len(p), np.inf)
    beyond = worth < at if falling else worth > at
    beyond &= np.isfinite(worth) & (share < 0 if falling else share > 0)
    levels[beyond] = at[beyond] + (worth[beyond] - at[beyond]) / share[beyond]
    return levels if falling else np.where(worth <= at, worth, levels)


def _power_level(p: Floats, rate: float, where: NDArray[np.bool_]) -> Floats:
    levels = np.full(len(p), np.inf)
    levels[where] = np.exp(np.clip(np.log(rate / p[where, 0]) / p[where, 1], -700.0, 700.0))
    return levels


def _law_level(model: ModelName, p: Floats, rate: float, unit: float, *, larger: bool) -> Floats:
    alpha, beta = p[:, 1], p[:, 2] if model == "usl" else np.zeros(len(p))
    return unit * _usl_root(rate * beta, rate * (alpha - beta) - unit * p[:, 0], rate * (1 - alpha), larger=larger)


def asymptote(candidate: Candidate) -> float:
    """The highest rate that the curve can reach; infinite if there is none."""
    if candidate.model not in _BOUNDED:
        return math.inf
    return float(_maxima(candidate.model, candidate.values[None], candidate.unit_level)[0])
