"""Curves of a part of the levels, which intervals cover besides the models.

The span of such curves is the discrepancy that Kennedy and O'Hagan (2001, "Bayesian calibration of computer models")
model as a process; with a dozen levels its correlation cannot be estimated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.special import fdtrc, ndtri

from scale_sweep.analysis.confidence import student
from scale_sweep.analysis.fit.candidates import Candidate, fit_model
from scale_sweep.analysis.fit.choice import ModelChoice
from scale_sweep.analysis.fit.models import WITH_BREAK, Floats, ModelName
from scale_sweep.analysis.fit.rows import Rows, make_rows
from scale_sweep.analysis.fit.summaries import Noise
from scale_sweep.model.fitted import REACH

DOUBT_P = 0.4  # a misfit this likely by chance is still taken for one: missing it costs more than a wider interval
_REJECTED_P = 0.05
_TAIL_LEVELS_MIN = 3
_TURN = 0.25  # of the difference between the slopes of the lower and the upper half
_NORMAL = 1.9600  # the quantile of 97.5 %
_TAIL_MODELS: tuple[ModelName, ...] = ("affine", "power", "amdahl")


def misfit_p(chosen: Candidate, rows: Rows) -> float | None:
    """F test of lack of fit: the chance of level means as far from the curve. None if it cannot be tested."""
    pure = float(np.sum((rows.rates - rows.means[rows.of_level]) ** 2))
    within, left = len(rows.rates) - len(rows.distinct), len(rows.distinct) - len(chosen.free)
    if within < 1 or left < 1 or pure <= 0:
        return None
    ratio = max(chosen.rss - pure, 0.0) / left / (pure / within)
    return float(fdtrc(left, within, ratio))


def may_miss(chosen: Candidate | None, rows: Rows) -> bool:
    p = misfit_p(chosen, rows) if chosen is not None else None
    return p is not None and p <= DOUBT_P


def wider_curves(
    candidates: Mapping[ModelName, Candidate], choice: ModelChoice, rows: Rows, samples: int
) -> list[Candidate]:
    """Curves that intervals beyond the levels cover besides the plausible models. The USL: few rows cannot exclude a
    peak. Lines that bend away from the chosen curve by what the measured slopes differ. Where the level means may miss
    the curve: lines, powers and Amdahl of the upper half and of the last three levels; else of the upper half a line if
    the replicates allow it, and Amdahl if AICc rejects it for all levels, unless a known break explains the bend. If
    the rate falls: a line steeper than that of the last three levels and, with replicates, a power from the peak on."""
    if not choice.model:
        return []
    if choice.falls:
        return [*_falling_tail(rows, samples), _line_of_last(candidates[choice.model], rows)]
    amdahl, usl = candidates.get("amdahl"), candidates.get("usl")
    half = max(_TAIL_LEVELS_MIN, (len(rows.distinct) + 1) // 2)
    wider = [usl] if usl is not None and "usl" not in choice.plausible else []
    wider += _bends_on(candidates[choice.model], rows)
    if may_miss(candidates[choice.model], rows):
        tails = [_last(rows, count) for count in sorted({half, _TAIL_LEVELS_MIN})]
        return wider + [fit_model(model, tail, samples) for tail in tails for model in _TAIL_MODELS]
    wider += _line_that_goes_on(choice, _last(rows, half), samples)
    is_rejected = amdahl is not None and amdahl.aicc is not None and "amdahl" not in choice.plausible
    if is_rejected and choice.model not in WITH_BREAK:
        wider.append(fit_model("amdahl", _last(rows, half), samples))
    return wider


def _line_that_goes_on(choice: ModelChoice, upper: Rows, samples: int) -> list[Candidate]:
    if choice.model in ("linear", "affine", *WITH_BREAK):
        return []
    line = fit_model("affine", upper, samples)
    p = misfit_p(line, upper)
    return [line] if p is not None and p > _REJECTED_P else []


def _falling_tail(rows: Rows, samples: int) -> list[Candidate]:
    if len(rows.rates) == len(rows.distinct):
        return []
    first = min(int(rows.means.argmax()), len(rows.distinct) - _TAIL_LEVELS_MIN)
    return [fit_model("power", _last(rows, len(rows.distinct) - first), samples)]


def _line_of_last(chosen: Candidate, rows: Rows) -> Candidate:
    last = slice(-_TAIL_LEVELS_MIN, None)
    slope, start = np.polyfit(rows.distinct[last], rows.means[last], 1, w=np.sqrt(rows.weights[last]))
    at = float(rows.distinct[-1])
    return _lines(chosen, at, np.array([start + slope * at]), np.array([slope - _turn(rows)]))


def _bends_on(chosen: Candidate, rows: Rows) -> list[Candidate]:
    if not len(chosen.samples):
        return []
    last = float(rows.distinct[-1])
    here, twice = chosen.curves(np.array([last, REACH * last])).T
    turns = _turn(rows) / _NORMAL * ndtri((np.arange(len(here)) + 0.5) / len(here))
    return [_lines(chosen, last, here, (twice - here) / last / (REACH - 1) + turns)]


def _turn(rows: Rows) -> float:
    half = (len(rows.distinct) + 1) // 2
    lower, upper = (
        np.polyfit(rows.distinct[part], rows.means[part], 1, w=np.sqrt(rows.weights[part]))[0]
        for part in (slice(None, max(half, 2)), slice(-max(half, 2), None))
    )
    return _TURN * abs(float(upper - lower))


def _lines(of: Candidate, at: float, rates: Floats, slopes: Floats) -> Candidate:
    samples = np.column_stack([rates - at * slopes, slopes])
    return replace(of, model="affine", values=samples.mean(axis=0), samples=samples)


def _last(rows: Rows, count: int) -> Rows:
    upper = rows.levels >= rows.distinct[-count]
    return make_rows(rows.levels[upper], rows.rates[upper])


def between(rows: Rows, level: float, noise: Noise | None, *, is_missed: bool = False) -> tuple[float, float] | None:
    """The 95 % interval of the chords at a level; None without chords."""
    chords = chords_at(rows, level, noise, is_missed=is_missed)
    if noise is None or not chords:
        return None
    times = student(noise.degrees)
    return min(v - times * e for v, e in chords), max(v + times * e for v, e in chords)


def chords_at(
    rows: Rows, level: float, noise: Noise | None, *, is_missed: bool = False
) -> tuple[tuple[float, float], ...]:
    """(rate, standard error) of the chords between the neighbouring levels' means, one straight over n, one over ln n.
    is_missed: also those of the gaps beside, continued as far as they stay between the two means. None outside the
    levels, or without replicates."""
    if noise is None or not rows.distinct[0] <= level <= rows.distinct[-1] or len(rows.distinct) < 2:
        return ()
    upper = min(max(int(np.searchsorted(rows.distinct, level)), 1), len(rows.distinct) - 1)
    pair = slice(upper - 1, upper + 1)
    ends, means = rows.distinct[pair], rows.means[pair]
    errors = noise.std * means / np.sqrt(rows.weights[pair])
    chords = [_chord(level, ends, means, errors), _chord(math.log(level), np.log(ends), means, errors)]
    for first in (upper - 2, upper) if is_missed else ():
        if 0 <= first < len(rows.distinct) - 1:
            beside = slice(first, first + 2)
            value, _ = _chord(level, rows.distinct[beside], rows.means[beside], np.zeros(2))
            value = min(max(value, float(means.min())), float(means.max()))
            chords.append((value, float(errors.max())))
    return tuple(chords)


def _chord(at: float, ends: Floats, means: Floats, errors: Floats) -> tuple[float, float]:
    share = (at - float(ends[0])) / float(ends[1] - ends[0])
    parts = np.array([1 - share, share])
    return float(parts @ means), float(np.linalg.norm(parts * errors))
