"""`compare_runs` makes a Comparison of two stored runs from the parts of this package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scale_sweep.analysis.compare.assembled import ALPHA, Ratios, Sides, assembled
from scale_sweep.analysis.compare.chance import false_alarms, family
from scale_sweep.analysis.compare.comparable import check_comparable
from scale_sweep.analysis.compare.manifests import differing
from scale_sweep.analysis.compare.paired import compare_points
from scale_sweep.analysis.compare.pairs import PointLogs, pair_points
from scale_sweep.analysis.compare.ratios import together
from scale_sweep.analysis.compare.words import name_of, quick_words
from scale_sweep.model import StoredRun
from scale_sweep.model.compared import Comparison, PointRatio

ONE_SESSION = (
    "there is one run a side: the spread between sessions (a restart, neighbours, another day) is not known, and a "
    "difference of two sessions cannot be tested against it"
)
SINGLE = "there are single trials: the spread between trials is not known"


def compare_runs(a: StoredRun, b: StoredRun, allowed: float | None = None) -> Comparison:
    """B against A. allowed: the accepted loss, as a share of A's rate (0.05).

    A point is called different if its p-value is below 5 % after Holm's step-down over all points and all of them
    together. It is slower than allowed if it is called different and its ratio is below 1 − allowed.
    Raises UsageError for runs that are not of one kind.
    """
    check_comparable((a, b))
    paired, unpaired = pair_points(a, b)
    found = compare_points(paired) if paired else None
    rows = [plain(p) for p in paired]
    ratios = Ratios(points=tuple(rows), overall=overall_row(paired) if found else None, unpaired=tuple(unpaired))
    if found is not None:
        tested, spread = found
        whole = together(tested) if len(paired) > 1 else None
        ratios = ratios.with_tests(tested, whole, family(tested)[0], spread)
    is_single = found is None or found[1] == "seconds"
    sides = Sides(
        name_a=name_of(a),
        name_b=name_of(b),
        sweep=a.plan.sweep,
        differing=differing(a, b),
        allowed=allowed,
        same=a.path == b.path,
        chance=false_alarms(paired, ALPHA, allowed) if found else None,
        not_judged_because=f"{SINGLE}, and {ONE_SESSION}" if is_single else ONE_SESSION,
    )
    comparison = assembled(sides, ratios)
    return replace(comparison, cautions=(*comparison.cautions, *quick_words(a.results, b.results)))


def plain(point: PointLogs) -> PointRatio:
    """The ratio alone, without interval or test."""
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


def overall_row(points: Sequence[PointLogs]) -> PointRatio | None:
    """All points together, with equal weights; None for a single point."""
    if len(points) < 2:
        return None
    rate_a, rate_b = (math.exp(float(np.mean([np.mean(getattr(p, side)) for p in points]))) for side in ("a", "b"))
    return PointRatio(
        level=None,
        variant="",
        trials_a=sum(len(p.a) for p in points),
        trials_b=sum(len(p.b) for p in points),
        rows_per_s_a=rate_a,
        rows_per_s_b=rate_b,
        ratio=rate_b / rate_a,
    )
