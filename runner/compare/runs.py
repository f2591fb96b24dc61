"""compare_runs: two stored runs in, a Comparison out. Puts the parts of this room together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from runner.compare.chance import false_alarms, family
from runner.compare.manifests import differing
from runner.compare.paired import compare_points
from runner.compare.pairs import PointLogs, Unpaired, pair_points
from runner.compare.ratios import Tested, quantile, together
from runner.compare.words import cautions, point_name, sentence
from runner.model import StoredRun
from runner.model.compared import Comparison, PointRatio, Spread

ALPHA = 0.05
POWER = 0.8
ALL_POINTS = "all points"


def compare_runs(a: StoredRun, b: StoredRun, allowed: float | None = None) -> Comparison:
    """B against A. allowed: the slow-down that is still allowed, as a share of A's rate (0.05).

    A point is called different when its p-value, by Holm's step-down over all points and all of them together, is below
    5 %. It is slower than allowed when it is called different and its ratio is below 1 − allowed.
    """
    paired, unpaired = pair_points(a, b)
    tested = compare_points(paired) if paired else None
    ratios, overall = _ratios(paired, tested)
    points = sorted([*ratios, *map(_missing, unpaired)], key=lambda p: (p.level or 0.0, p.variant))
    axis = a.plan.sweep.axis
    whole = (*ratios, overall) if overall is not None else tuple(ratios)
    slower = [p for p in whole if allowed is not None and p.differs and (p.ratio or 1.0) < 1 - allowed]
    chance = false_alarms(paired, ALPHA, allowed) if tested else None
    differences = differing(a, b)
    return Comparison(
        run_a=_name(a),
        run_b=_name(b),
        axis=axis,
        confidence_percent=100 * (1 - ALPHA),
        points=tuple(points),
        overall=overall,
        differing=differences,
        false_alarms=chance,
        sentence=sentence(ratios, overall, axis),
        cautions=cautions(points, whole, tested[1] if tested else None, differences, allowed, same=a.path == b.path),
        allowed_percent=100 * allowed if allowed is not None else None,
        slower=tuple(ALL_POINTS if p is overall else point_name(p.level, p.variant, axis) for p in slower),
        unjudged=tuple(point_name(u.level, u.variant, axis) for u in unpaired if u.lost),
    )


def _name(run: StoredRun) -> str:
    return run.path.rstrip("/").rpartition("/")[2]


def _ratios(
    paired: Sequence[PointLogs], found: tuple[Tested, Spread] | None
) -> tuple[list[PointRatio], PointRatio | None]:
    if found is None:
        return [_plain(p) for p in paired], None
    tested, spread = found
    adjusted, _ = family(tested)
    count = len(adjusted)
    ratios = [_ratio(p, tested, at, float(adjusted[at]), spread, count) for at, p in enumerate(paired)]
    if len(paired) < 2:
        return ratios, None
    whole = together(tested)
    logs_a, logs_b = [np.mean(p.a) for p in paired], [np.mean(p.b) for p in paired]
    everything = PointLogs(level=0.0, variant="", a=(float(np.mean(logs_a)),), b=(float(np.mean(logs_b)),))
    overall = _ratio(everything, whole, 0, float(adjusted[-1]), spread, count)
    counts = (sum(len(p.a) for p in paired), sum(len(p.b) for p in paired))
    return ratios, replace(overall, level=None, trials_a=counts[0], trials_b=counts[1])


def _plain(point: PointLogs) -> PointRatio:
    """A ratio of which nothing is known but itself."""
    rate_a, rate_b = math.exp(float(np.mean(point.a))), math.exp(float(np.mean(point.b)))
    return PointRatio(
        level=point.level,
        variant=point.variant,
        trials_a=len(point.a),
        trials_b=len(point.b),
        rows_per_s_a=rate_a,
        rows_per_s_b=rate_b,
        ratio=rate_b / rate_a,
    )


def _ratio(point: PointLogs, tested: Tested, at: int, p_holm: float, spread: Spread, count: int) -> PointRatio:
    """count: how many ratios are tested together, which makes the smallest difference that shows a larger one."""
    difference, error = float(tested.difference[at]), float(tested.error[at])
    degrees = np.array([float(tested.degrees[at])])
    reach = float(quantile(degrees, 1 - ALPHA / 2)[0]) * error
    seen = float((quantile(degrees, 1 - ALPHA / 2 / count) + quantile(degrees, POWER))[0]) * error
    return replace(
        _plain(point),
        ratio=math.exp(difference),
        low=math.exp(difference - reach),
        high=math.exp(difference + reach),
        p_value=float(tested.p_value[at]),
        p_holm=p_holm,
        smallest_percent=100 * (1 - math.exp(-seen)),
        spread=spread,
        own_spread=bool(tested.own[at]),
        differs=p_holm < ALPHA,
    )


def _missing(point: Unpaired) -> PointRatio:
    return PointRatio(
        level=point.level,
        variant=point.variant,
        trials_a=point.trials_a,
        trials_b=point.trials_b,
        missing=point.why,
    )
