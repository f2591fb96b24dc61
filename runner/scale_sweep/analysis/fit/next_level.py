"""The level to measure next, so that a wide interval becomes half as wide.

A level is tried by fitting again with rows that it could have: as many replicates as the other levels have, with their
noise, about a mean within the interval at that level (a preposterior analysis: Raiffa and Schlaifer, "Applied
Statistical Decision Theory", 1961).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from scale_sweep.analysis.fit.beyond import Known, hull
from scale_sweep.analysis.fit.candidates import Candidate, fit_model
from scale_sweep.analysis.fit.choice import PLAUSIBLE_AICC, ModelChoice
from scale_sweep.analysis.fit.models import COUNTS, Floats, ModelName
from scale_sweep.analysis.fit.partial_curves import may_miss, wider_curves
from scale_sweep.analysis.fit.rows import Rows, make_rows
from scale_sweep.model.fitted import Prediction

_PLACES, _SAMPLES = 12, 100
_ALSO: tuple[ModelName, ...] = ("amdahl", "usl")  # the rules of the intervals ask for these, plausible or not


def with_next_level(known: Known, prediction: Prediction) -> Prediction:
    """Adds the level nearest to the measured ones that halves an interval too wide to use."""
    if not prediction.is_wide or prediction.low is None or prediction.high is None:
        return prediction
    places = level_places(known.rows, prediction.level)
    half = (prediction.high - prediction.low) / 2
    first, last = 0, len(places)
    while first < last:  # the farther the level, the narrower the interval
        middle = (first + last) // 2
        if _width(known, places[middle], prediction.level) <= half:
            last = middle
        else:
            first = middle + 1
    return replace(prediction, halved_by=places[first]) if first < len(places) else prediction


def level_places(rows: Rows, level: float) -> list[float]:
    """The nearest to the measured ones first, whole numbers if those are."""
    first, last = float(rows.distinct[0]), float(rows.distinct[-1])
    if first <= level <= last:
        return [level]
    end = last if level > last else first
    steps = end + (level - end) * np.arange(1, _PLACES + 1) / _PLACES
    if level > last and np.all(rows.distinct == np.round(rows.distinct)):
        steps = np.unique(np.append(np.ceil(steps[steps < level]), level))
        steps = steps[steps <= level]
    return [float(step) for step in steps]


def _width(known: Known, place: float, level: float) -> float:
    low, high = hull(known, place)
    chosen = known.chosen
    if chosen is None or low is None or high is None:
        return math.inf
    rate = float(chosen.rates(np.array([place]))[0])
    means = [max((low + rate) / 2, 1e-3 * rate), rate, (high + rate) / 2]
    return float(np.median([_width_with(known, place, mean, level) for mean in means]))


def _width_with(known: Known, place: float, mean: float, level: float) -> float:
    rates = mean * np.exp(known.error * _quantiles(max(int(np.median(known.rows.weights)), 1)))
    rows = make_rows(
        np.append(known.rows.levels, np.full(len(rates), place)), np.append(known.rows.rates, rates), known.rows.knot
    )
    assert known.chosen is not None
    names = dict.fromkeys([known.chosen.model, *(c.model for c in known.plausible), *_ALSO])
    fitted = {name: fit_model(name, rows, _SAMPLES) for name in names if COUNTS[name] <= len(rows.distinct)}
    plausible = _left(fitted, [c.model for c in known.plausible])
    best = fitted[plausible[0]]
    choice = ModelChoice(
        model=best.model, supported=(), verdict="retrograde" if known.falls else "undecided", plausible=tuple(plausible)
    )
    again = replace(
        known,
        chosen=best,
        plausible=[fitted[name] for name in plausible],
        wider=wider_curves(fitted, choice, rows, _SAMPLES),
        rows=rows,
        is_missed=may_miss(best, rows),
    )
    low, high = hull(again, level)
    return math.inf if low is None or high is None else high - low


def _left(fitted: dict[ModelName, Candidate], plausible: list[ModelName]) -> list[ModelName]:
    aicc = {name: a for name in plausible if (a := fitted[name].aicc) is not None}
    if not aicc:
        return plausible
    lowest = min(aicc.values())
    return sorted((name for name in aicc if aicc[name] <= lowest + PLAUSIBLE_AICC), key=lambda name: aicc[name])


def _quantiles(count: int) -> Floats:
    if count == 1:
        return np.zeros(1)
    drawn: Floats = ndtri((np.arange(count) + 0.5) / count)
    return drawn / float(np.std(drawn, ddof=1))
