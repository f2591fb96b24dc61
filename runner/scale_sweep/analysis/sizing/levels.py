"""The smallest level of a run that holds a rate, and each level's chance to miss it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scale_sweep.analysis.confidence import SIGNIFICANCE, student
from scale_sweep.analysis.fit.beyond import Known, below_mean, chances_below, need, predict, refusal
from scale_sweep.analysis.fit.curve import known_of
from scale_sweep.analysis.fit.models import Floats
from scale_sweep.analysis.fit.rows import known_breaks
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.analysis.noise.drift_test import without_drift
from scale_sweep.analysis.observations import observations
from scale_sweep.analysis.sizing.machines import next_sweep
from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.work import rate_of
from scale_sweep.model.fitted import REACH, StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.observed import Observation
from scale_sweep.model.sizing import LevelChance, LevelNeed

ACCEPTED = SIGNIFICANCE  # the chance to miss of a level that holds the rate
_END = SIGNIFICANCE / 2  # beyond each end of a 95 % interval
LEVELS_MAX = 2000
_NORMAL = 1.9600  # the quantile of 97.5 %
_MANY = 1e9  # degrees of freedom of an error that is known
LONE = (
    "no level has two trials: each chance comes from one trial and leaves out the differences between starts of the "
    "server; give --replicates 3"
)


def level_need(run: StoredRun, wanted: float, also: Sequence[float] = ()) -> LevelNeed:
    """also: levels whose rates are wanted too."""
    sweep = run.plan.sweep
    axis = load_axis(sweep.axis)
    rate = rate_of(sweep.work, durable=axis.is_durable, objective=sweep.load.objective)
    observed = observations(run.results, rate.field)
    known = known_of(
        without_drift(observed),
        Terms(axis=axis.name, one=axis.unit, rate=rate.words),
        breaks=known_breaks({t.level: t.placement for t in run.plan.trials}),
    )
    answer = LevelNeed(
        run=run.path.rstrip("/").rpartition("/")[2],
        axis=axis.name,
        unit=axis.unit,
        rate_words=f"simulated {rate.words}" if run.plan.is_simulated else rate.words,
        wanted=wanted,
        level=None,
        granted=_granted(run),
    )
    if not len(known.rows.distinct):
        return replace(answer, by_model=False, reason=f"no rate is fitted ({_why_unfitted(run, observed)})")
    counted = [result for result, seen in zip(run.results, observed, strict=True) if not seen.mark]
    answer = _by_trials(answer, known, counted) if known.chosen is None else held(answer, known, also)
    energies: dict[float, list[float]] = {}
    for r in counted:
        if r.measurement.joules_per_million_rows is not None:
            energies.setdefault(r.trial.level, []).append(r.measurement.joules_per_million_rows)
    joules = {level: sum(here) / len(here) for level, here in energies.items()}
    chances = tuple(replace(c, joules_per_million_rows=joules.get(c.level)) for c in answer.chances)
    return replace(answer, chances=chances, settled_by=next_sweep(run.plan, known, answer))


def _why_unfitted(run: StoredRun, observed: Sequence[Observation]) -> str:
    first: dict[str, str] = {}
    for result, seen in zip(run.results, observed, strict=True):
        if seen.mark and seen.mark not in first:
            first[seen.mark] = next(iter(result.verdict.reasons), "")
    return "; ".join(f"{mark}: {reason}" if reason else mark for mark, reason in first.items()) or "no trial"


def _granted(run: StoredRun) -> dict[str, float]:
    granted: dict[str, float] = {}
    for name, amount in (pair for r in run.on_curve for pair in r.trial.resources.amounts.items()):
        if name != run.plan.sweep.axis:
            granted[name] = max(amount.value, granted.get(name, 0.0))
    return granted


def held(answer: LevelNeed, known: Known, also: Sequence[float] = ()) -> LevelNeed:
    """The answer by the fitted curve."""
    levels, wanted = _levels(known), answer.wanted
    least, most = chances_below(known, levels, wanted)
    level = _first(levels, most <= ACCEPTED)
    able = [one for one in also if one > 0 and not refusal(known, one)]
    shown = sorted({*_around(levels, level, need(known, [wanted])[0].level), *known.rows.distinct, *able})
    by_level = _chances(known, shown, wanted)
    if level is None:
        return replace(answer, chances=by_level, reason=_why_none(known, wanted, float(levels[-1]), float(most[-1])))
    lowest = f"{known.terms.count(level)} is the lowest level that the fit allows: fewer may hold it too"
    return replace(
        answer,
        level=level,
        low=_first(levels, least <= 1 - _END),
        high=_first(levels, most <= _END),
        chances=by_level,
        notes=(lowest,) if level == float(levels[0]) and level != 1 else (),
    )


def _levels(known: Known) -> Floats:
    """Whole numbers, or multiples of the smallest measured one, that the fit allows; of many, an even choice."""
    measured = known.rows.distinct
    step = 1.0 if np.all(measured == np.round(measured)) else float(measured[0])
    first, last = math.ceil(float(measured[0]) / REACH / step - 1e-9), math.floor(known.limit / step + 1e-9)
    numbers = np.arange(max(first, 1), last + 1)
    if last - first >= LEVELS_MAX:
        numbers = np.unique(np.round(np.geomspace(max(first, 1), last, LEVELS_MAX)))
    levels = np.unique(np.concatenate([np.round(numbers * step, 9), measured]))
    return levels[[not refusal(known, float(level)) for level in levels]]


def _around(levels: Floats, level: float | None, crossing: float | None) -> list[float]:
    places = [int(np.searchsorted(levels, value)) for value in (level, crossing) if value is not None]
    around = {at + step for at in places for step in (-1, 0, 1)} | {len(levels) - 1}
    return [float(levels[at]) for at in around if 0 <= at < len(levels)]


def _chances(known: Known, levels: Sequence[float], wanted: float) -> tuple[LevelChance, ...]:
    most = chances_below(known, np.array(levels), wanted)[1]
    return tuple(
        LevelChance(
            level=float(p.level),
            rate=p.rate,
            low=p.low,
            high=p.high,
            miss=float(chance) if p.rate is not None and math.isfinite(chance) else None,
            is_measured=bool(np.any(known.rows.distinct == p.level)),
        )
        for p, chance in zip(predict(known, levels), most, strict=True)
    )


def _first(levels: Floats, holds: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float | None:
    places = np.flatnonzero(holds)
    return float(levels[places[0]]) if len(places) else None


def _why_none(known: Known, wanted: float, last: float, miss: float) -> str:
    crossing = need(known, [wanted])[0]
    if crossing.level is None:
        return crossing.reason
    if not math.isfinite(miss):
        return "the points are too few for an interval"
    about = known.terms.named(format_number(float(f"{crossing.level:.3g}")))
    at = known.terms.count(last)
    return (
        f"the curve reaches it at about {about}, but no level is sure: at {at}, the highest that the fit allows, the "
        f"chance to miss is still up to {100 * miss:.0f} %"
    )


def _by_trials(answer: LevelNeed, known: Known, counted: Sequence[TrialResult]) -> LevelNeed:
    chances = tuple(_of_level(known, at, counted, answer.wanted) for at in range(len(known.rows.distinct)))
    holds = [c for c in chances if c.miss is not None and c.miss <= ACCEPTED]
    safe = [c for c in chances if c.miss is not None and c.miss <= _END]
    maybe = [c for c in chances if c.miss is not None and c.miss <= 1 - _END]
    notes = ["no model can be chosen from so few points: only the measured levels are judged"]
    notes += [LONE] if known.noise is None else []
    answer = replace(answer, chances=chances, by_model=False, notes=tuple(notes))
    if not holds:
        best = max(chances, key=lambda c: c.rate or 0.0)
        why = (
            f"the chance to miss is {100 * (best.miss or 0.0):.0f} % at {known.terms.count(best.level)}, the best level"
        )
        if all(c.miss is None for c in chances):
            why = "the trials have no error: no level has two trials, and their windows are too short for one"
        elif (best.rate or 0.0) < answer.wanted:
            last = known.terms.count(float(known.rows.distinct[-1]))
            why = f"no measured level reaches it, and the points are too few to predict beyond {last}"
        return replace(answer, reason=why)
    if holds[0] is chances[0]:
        notes.append(f"{known.terms.count(holds[0].level)} is the lowest level measured: fewer may hold it too")
    return replace(
        answer, level=holds[0].level, low=maybe[0].level, high=safe[0].level if safe else None, notes=tuple(notes)
    )


def _of_level(known: Known, at: int, counted: Sequence[TrialResult], wanted: float) -> LevelChance:
    """By the replicates' spread, else by the error of its only trial."""
    level, mean = float(known.rows.distinct[at]), float(known.rows.means[at])
    here = LevelChance(level=level, rate=mean, low=None, high=None, miss=None, is_measured=True)
    if known.noise is not None:
        error, degrees = known.noise.std / math.sqrt(float(known.rows.weights[at])), float(known.noise.degrees)
    else:
        own = [own_error(r) for r in counted if r.trial.level == level]
        error, degrees = (own[0] if own and own[0] is not None else math.nan), _MANY
    if not math.isfinite(error):
        return here
    factor = math.exp(student(degrees) * error)
    miss = below_mean(math.log(mean), error, math.log(wanted), degrees)
    return replace(here, low=mean / factor, high=mean * factor, miss=miss)


def own_error(result: TrialResult) -> float | None:
    """Relative, of one trial: of its search, else of its window's seconds."""
    m = result.measurement
    if result.trial.load.objective is None:
        return m.rate_error_percent / 100 if m.rate_error_percent is not None else None
    if not m.capacity_low_per_s or not m.capacity_high_per_s:
        return None
    return math.log(m.capacity_high_per_s / m.capacity_low_per_s) / (2 * _NORMAL)
