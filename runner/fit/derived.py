"""What follows from the chosen model: peak, knee, roof, the level at 90 % efficiency, predictions, levels needed.

Intervals are percentiles of the same figure in every bootstrap sample, so they hold for the chosen model.
Refuses a figure whose interval is open or half as wide as itself, and anything beyond the extrapolation limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from runner.fit.bootstrap import Rows
from runner.fit.candidates import Candidate, percentiles
from runner.fit.models import NAMES, Floats, ModelName, rates, usl_peak
from runner.model import Estimate, Need, Prediction
from runner.units import format_number, format_rate

REACH = 2.0  # predictions go up to so many times the last level, and down to the first divided by it
_EFFICIENCY = 0.9
Figure = Callable[[Floats], Floats]


def limit(rows: Rows) -> float:
    """The highest level that anything is said about."""
    return REACH * float(rows.distinct[-1])


def _known(candidate: Candidate, figure: Figure) -> Estimate | None:
    """A figure of the parameters with its interval, where that is closed and narrower than the figure itself."""
    if not len(candidate.samples):
        return None
    value = float(figure(candidate.values[None])[0])
    low, high = percentiles(figure(candidate.samples))
    if not math.isfinite(value) or low is None or high is None or high - low > 2 * value:
        return None
    return Estimate(value=value, std_err=None, low=low, high=high)


def _ratio(above: Floats, below: Floats) -> Floats:
    """Infinite where nothing is below."""
    found: Floats = np.full_like(above, np.inf)
    np.divide(above, below, out=found, where=below > 0)
    return found


def peak(candidate: Candidate) -> Estimate | None:
    """Where the USL turns, with a standard error by the delta method on the bootstrap's spread."""
    if candidate.model != "usl":
        return None
    found = _known(candidate, _peak_levels)
    value = usl_peak(candidate.value("alpha"), candidate.value("beta"))
    if found is None or value is None or found.low is None or found.high is None:
        return None
    return Estimate(value=value, std_err=(found.high - found.low) / 3.92, low=found.low, high=found.high)


def _peak_levels(p: Floats) -> Floats:
    return np.sqrt(_ratio(np.maximum(1 - p[:, 1], 0.0), p[:, 2]))


def knee(candidate: Candidate) -> Estimate | None:
    """Where the hard limit starts."""
    return _known(candidate, lambda p: _ratio(p[:, 1], p[:, 0])) if candidate.model == "knee" else None


def roof(candidate: Candidate) -> Estimate | None:
    """The highest rate that the model can reach: γ/α of Amdahl, C of the knee, X at the peak of the USL."""
    return _known(candidate, lambda p: _roofs(candidate.model, p)) if candidate.model in _ROOFED else None


_ROOFED: tuple[ModelName, ...] = ("amdahl", "knee", "usl")


def _roofs(model: ModelName, p: Floats) -> Floats:
    if model == "amdahl":
        return _ratio(p[:, 0], p[:, 1])
    if model == "knee":
        return p[:, 1]
    at = _peak_levels(p)
    found = _ratio(p[:, 0], p[:, 1])
    turns = np.isfinite(at) & (at > 0)
    level = at[turns]
    alpha, beta = p[turns, 1], p[turns, 2]
    found[turns] = p[turns, 0] * level / (1 + alpha * (level - 1) + beta * level * (level - 1))
    return found


def level_at_90(candidate: Candidate, rows: Rows) -> Estimate | None:
    """Where the efficiency, X(n) / (n X(1)), falls to 90 %."""
    if float(rows.distinct[0]) > REACH:
        return None
    found = _known(candidate, lambda p: _levels_at_90(candidate.model, p))
    return found if found is not None and found.value <= limit(rows) else None


def _levels_at_90(model: ModelName, p: Floats) -> Floats:
    lost = 1 / _EFFICIENCY - 1
    if model == "amdahl":
        return 1 + _ratio(np.full(len(p), lost), p[:, 1])
    if model == "usl":
        return _usl_root(p[:, 2], p[:, 1] - p[:, 2], -(p[:, 1] + lost), larger=True)
    if model == "knee":
        return _ratio(p[:, 1], _EFFICIENCY * p[:, 0])
    if model == "affine":
        return np.maximum(_ratio(p[:, 0], _EFFICIENCY * (p[:, 0] + p[:, 1]) - p[:, 1]), 1.0)
    found = np.full(len(p), np.inf)
    if model == "power":
        falls = p[:, 1] < 1
        found[falls] = np.exp(np.minimum(math.log(_EFFICIENCY) / (p[falls, 1] - 1), 700.0))
    return found


def _usl_root(square: Floats, linear: Floats, constant: Floats, *, larger: bool) -> Floats:
    """A root of a n² + b n + c, a ≥ 0; infinite where there is none above 0. Written so that a → 0 is harmless."""
    inside = linear**2 - 4 * square * constant
    root = np.sqrt(np.maximum(inside, 0.0))
    found = _ratio(-2 * constant, linear + root) if larger else _ratio(2 * constant, -linear + root)
    return np.where((inside >= 0) & (found > 0), found, np.inf)


def levels_for(model: ModelName, p: Floats, rate: float) -> Floats:
    """The lowest level with X(n) = rate, for every parameter set; infinite where the curve does not get there."""
    given = np.full(len(p), rate)
    if model == "linear":
        return _ratio(given, p[:, 0])
    if model == "affine":
        return np.maximum(_ratio(given - p[:, 0], p[:, 1]), 0.0)
    if model == "knee":
        return np.where(given <= p[:, 1], _ratio(given, p[:, 0]), np.inf)
    if model == "power":
        found = np.full(len(p), np.inf)
        rises = p[:, 1] > 0
        found[rises] = np.exp(np.minimum(np.log(rate / p[rises, 0]) / p[rises, 1], 700.0))
        return found
    alpha, beta = p[:, 1], p[:, 2] if model == "usl" else np.zeros(len(p))
    return _usl_root(rate * beta, rate * (alpha - beta) - p[:, 0], rate * (1 - alpha), larger=False)


def predict(
    chosen: Candidate | None, near: Mapping[ModelName, Candidate], rows: Rows, levels: Sequence[float]
) -> tuple[Prediction, ...]:
    """The curve at the levels asked for, each with its interval, or why it is not said."""
    return tuple(_predict(chosen, near, rows, level) for level in levels)


def _predict(chosen: Candidate | None, near: Mapping[ModelName, Candidate], rows: Rows, level: float) -> Prediction:
    reason = _refusal(chosen, rows, level)
    first, last = (float(rows.distinct[i]) for i in (0, -1)) if len(rows.distinct) else (0.0, 0.0)
    outside = not first <= level <= last
    if reason or chosen is None:
        return Prediction(level=level, rate=None, low=None, high=None, extrapolated=outside, reason=reason)
    at = np.array([level])
    curves = rates(chosen.model, chosen.samples, at)[:, 0] if len(chosen.samples) else None
    low, high = percentiles(curves) if curves is not None else (None, None)
    others = {name: float(c.rates(at)[0]) for name, c in near.items()}
    rate = float(chosen.rates(at)[0])
    if rate <= 0:
        reason = f"the {NAMES[chosen.model]} curve falls to 0 before"
        return Prediction(level=level, rate=None, low=None, high=None, extrapolated=outside, reason=reason)
    low = max(low, 0.0) if low is not None else None  # a rate is never below 0, whatever a straight line says
    return Prediction(level=level, rate=rate, low=low, high=high, extrapolated=outside, others=others)


def _refusal(chosen: Candidate | None, rows: Rows, level: float) -> str:
    if chosen is None:
        return "no model is chosen: the points are too few to tell one"
    if level > limit(rows):
        return f"beyond the extrapolation limit, {REACH:g} × the highest level ({format_number(rows.distinct[-1])})"
    if level < float(rows.distinct[0]) / REACH:
        return f"below half of the lowest level ({format_number(rows.distinct[0])})"
    return ""


def need(chosen: Candidate | None, rows: Rows, wanted: Sequence[float]) -> tuple[Need, ...]:
    """The level that each rate takes, or why it cannot be said."""
    return tuple(_need(chosen, rows, rate) for rate in wanted)


def _need(chosen: Candidate | None, rows: Rows, rate: float) -> Need:
    if chosen is None:
        return _unknown(rate, "no model is chosen: the points are too few to tell one")
    value = float(levels_for(chosen.model, chosen.values[None], rate)[0])
    if value < float(rows.distinct[0]) / REACH:
        return _unknown(rate, f"it is had below half of the lowest level ({format_number(rows.distinct[0])})")
    if not math.isfinite(value):
        top = _roofs(chosen.model, chosen.values[None])[0] if chosen.model in _ROOFED else math.inf
        told = f": its roof is {format_rate(float(top))}" if math.isfinite(top) else ""
        return _unknown(rate, f"the {NAMES[chosen.model]} curve never reaches it{told}")
    if value > limit(rows):
        return _unknown(rate, f"it would take about {format_number(float(f'{value:.3g}'))}, which is beyond the "
                              f"extrapolation limit ({format_number(limit(rows))})")  # fmt: skip
    if not len(chosen.samples):
        return Need(rate=rate, level=value, low=None, high=None, reason="the points are too few for an interval")
    low, high = percentiles(levels_for(chosen.model, chosen.samples, rate))
    reason = "" if high is not None else "whether it can be reached at all is within the error"
    return Need(rate=rate, level=value, low=low, high=high, reason=reason)


def _unknown(rate: float, reason: str) -> Need:
    return Need(rate=rate, level=None, low=None, high=None, reason=reason)
