"""Makes a Comparison from tested ratios: intervals, what is called different or slower than allowed, and the sentences.

It is the same for two runs, for several runs a side, and for the variants of one run. Refuses to judge if the caller
gives a reason against it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from scale_sweep.analysis.compare.pairs import Unpaired
from scale_sweep.analysis.compare.ratios import Floats, Tested, quantile
from scale_sweep.analysis.compare.words import CautionInputs, cautions, nothing_words, point_name, sentence
from scale_sweep.model import Sweep
from scale_sweep.model.compared import Comparison, Differing, FalseAlarms, PointRatio, Spread

ALPHA = 0.05
POWER = 0.8
ALL_POINTS = "all points"


@dataclass(frozen=True, kw_only=True)
class Ratios:
    """points: in the order of the axis. overall: all points together; None for one point. unpaired: points without a
    ratio."""

    points: tuple[PointRatio, ...]
    overall: PointRatio | None
    unpaired: tuple[Unpaired, ...]
    spread: Spread | None = None

    def with_tests(self, found: Tested, whole: Tested | None, adjusted: Floats, spread: Spread) -> Ratios:
        """The ratios with intervals and p-values. adjusted: one p-value for each point and, if whole is given, a last
        one for it."""
        count = len(adjusted)
        points = tuple(_tested(p, found, at, float(adjusted[at]), spread, count) for at, p in enumerate(self.points))
        overall = self.overall
        if whole is not None and overall is not None:
            overall = _tested(overall, whole, 0, float(adjusted[-1]), spread, count)
        return replace(self, points=points, overall=overall, spread=spread)


@dataclass(frozen=True, kw_only=True)
class Sides:
    """What is compared. sweep: of A. allowed: the accepted loss, as a share of A's rate. same: A and B are one run.
    chance: false alarms of the runs' own noise. sessions: the number of runs of A and of B."""

    name_a: str
    name_b: str
    sweep: Sweep
    differing: tuple[Differing, ...]
    allowed: float | None
    same: bool = False
    chance: FalseAlarms | None = None
    not_judged_because: str = ""
    sessions: tuple[int, int] = (1, 1)
    session_percent: float | None = None


def assembled(sides: Sides, ratios: Ratios) -> Comparison:
    """The Comparison, with its sentence, its cautions and its verdict on what is allowed."""
    axis, allowed = sides.sweep.axis, sides.allowed
    whole = (*ratios.points, ratios.overall) if ratios.overall is not None else ratios.points
    points = sorted([*ratios.points, *map(_missing, ratios.unpaired)], key=lambda p: (p.level or 0.0, p.variant))
    slower = [p for p in whole if allowed is not None and p.differs and (p.ratio or 1.0) < 1 - allowed]
    inputs = CautionInputs(
        spread=ratios.spread,
        differing=sides.differing,
        allowed=allowed,
        same=sides.same,
        sessions=sides.sessions,
    )
    return Comparison(
        run_a=sides.name_a,
        run_b=sides.name_b,
        axis=axis,
        rate=sides.sweep.work.rate_words,
        confidence_percent=100 * (1 - ALPHA),
        points=tuple(points),
        overall=ratios.overall,
        differing=sides.differing,
        false_alarms=sides.chance,
        sentence=sentence(ratios.points, ratios.overall, axis) if ratios.points else nothing_words(ratios.unpaired),
        cautions=cautions(points, whole, inputs),
        allowed_percent=100 * allowed if allowed is not None else None,
        slower=tuple(ALL_POINTS if p.level is None else point_name(p.level, p.variant, axis) for p in slower),
        unjudged=tuple(point_name(u.level, u.variant, axis) for u in ratios.unpaired if u.lost),
        sessions_a=sides.sessions[0],
        sessions_b=sides.sessions[1],
        session_percent=sides.session_percent,
        not_judged_because=sides.not_judged_because,
    )


def _tested(point: PointRatio, tested: Tested, at: int, p_adjusted: float, spread: Spread, count: int) -> PointRatio:
    """The point with its interval and p-value. count: the number of ratios that are tested together. More of them make
    the smallest visible difference larger."""
    difference, error = float(tested.difference[at]), float(tested.error[at])
    degrees = np.array([float(tested.degrees[at])])
    reach = float(quantile(degrees, 1 - ALPHA / 2)[0]) * error
    seen = float((quantile(degrees, 1 - ALPHA / 2 / count) + quantile(degrees, POWER))[0]) * error
    return replace(
        point,
        ratio=math.exp(difference),
        low=math.exp(difference - reach),
        high=math.exp(difference + reach),
        p_value=float(tested.p_value[at]),
        p_holm=p_adjusted,
        smallest_percent=100 * (1 - math.exp(-seen)),
        spread=spread,
        own_spread=bool(tested.own[at]),
        differs=p_adjusted < ALPHA,
    )


def _missing(point: Unpaired) -> PointRatio:
    return PointRatio(
        level=point.level,
        variant=point.variant,
        trials_a=point.trials_a,
        trials_b=point.trials_b,
        missing=point.why,
    )
