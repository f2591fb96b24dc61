"""The sweep that settles what a run leaves open: its levels, its replicates and its time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from scale_sweep.analysis.fit.beyond import Known, need, predict
from scale_sweep.analysis.fit.chance import chances_below
from scale_sweep.analysis.fit.choice import LEVELS_FOR_A_MODEL
from scale_sweep.analysis.fit.derived import REACH, levels_for
from scale_sweep.analysis.fit.next_level import with_next_level
from scale_sweep.model import Plan
from scale_sweep.model.sizing import LevelNeed, NextSweep

_SURE = 0.975  # a chance to miss above this, by the most hopeful model, is no question any more
_WIDE = 1.5  # the ends of an interval of levels whose ratio is larger are worth a measurement
REPLICATES_MIN, REPLICATES_MAX = 2, 10
_ADDED_MAX = 4  # levels: sixteen times the highest one


def next_sweep(plan: Plan, known: Known, answer: LevelNeed) -> NextSweep | None:
    """The sweep that settles the answer; None if nothing is open, or if no sweep of this axis can settle it."""
    if not len(known.rows.distinct) or not _is_open(answer):
        return None
    if answer.level is not None:
        return _narrower(plan, known, answer.level) if answer.by_model else None
    if known.lost and known.chosen is not None:
        return _sweep(plan, known, [r.level for r in known.lost])
    if known.chosen is None and np.any(known.rows.means >= answer.wanted):
        return _sweep(plan, known, [], times=2)
    if known.chosen is None:
        return _upward(plan, known, _along_a_line(known, answer.wanted))
    reached = need(known, [answer.wanted])[0].level
    if reached is not None:
        is_beyond = reached > known.rows.distinct[-1]  # the farther the level, the more the rate exceeds the need
        return _sweep(plan, known, [known.limit]) if is_beyond else _narrower(plan, known, reached)
    crossing = _crossing(known, answer.wanted)
    if math.isfinite(crossing):
        return _upward(plan, known, crossing) if crossing > known.limit else None
    least, _ = chances_below(known, np.array([known.limit]), answer.wanted)
    return _sweep(plan, known, [known.limit]) if least[0] <= _SURE and not known.falls else None


def _is_open(answer: LevelNeed) -> bool:
    if answer.level is None or answer.high is None or answer.low is None:
        return True
    return answer.high > _WIDE * answer.low and answer.high - answer.low > 1


def _along_a_line(known: Known, wanted: float) -> float:
    return wanted * float(known.rows.distinct[-1] / known.rows.means[-1])


def _crossing(known: Known, wanted: float) -> float:
    chosen = known.chosen
    if chosen is None:
        return math.inf
    return float(levels_for(chosen.model, chosen.values[None], wanted, chosen.unit_level)[0])


def _upward(plan: Plan, known: Known, crossing: float) -> NextSweep:
    measured = [float(level) for level in known.rows.distinct]
    added = [REACH * measured[-1]]
    while len(added) < _ADDED_MAX and (len(measured) + len(added) < LEVELS_FOR_A_MODEL or REACH * added[-1] < crossing):
        added.append(REACH * added[-1])
    return replace(_sweep(plan, known, added), reaches=REACH * added[-1] >= crossing)


def _narrower(plan: Plan, known: Known, level: float) -> NextSweep:
    """The level that halves the interval at a level; else the level itself if it was not measured; else replicates."""
    halved = with_next_level(known, predict(known, [level])[0]).halved_by
    place = halved if halved is not None else float(math.ceil(level)) if level > known.rows.distinct[-1] else None
    if place is not None and not np.any(known.rows.distinct == place):
        return _sweep(plan, known, [place])
    return _sweep(plan, known, [], times=2)


def _sweep(plan: Plan, known: Known, added: list[float], times: int = 1) -> NextSweep:
    levels = sorted({*map(float, known.rows.distinct), *added})
    replicates = min(max(times * plan.sweep.replicates, REPLICATES_MIN), max(REPLICATES_MAX, plan.sweep.replicates))
    return NextSweep(
        levels=tuple(levels),
        added=tuple(sorted(set(added))),
        replicates=replicates,
        seconds=plan.seconds_estimated / max(len(plan.trials), 1) * len(levels) * replicates,
    )
