"""Tests paired points by the best estimate of the spread that the two runs offer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scale_sweep.analysis.compare.pairs import PointLogs
from scale_sweep.analysis.compare.ratios import Floats, Side, Tested, tested, variances, welch
from scale_sweep.model.compared import Spread


def compare_points(points: Sequence[PointLogs]) -> tuple[Tested, Spread] | None:
    """Tests all points at once. None if there is no spread: single trials with too few seconds in their windows."""
    a, b = _side([p.a for p in points]), _side([p.b for p in points])
    found = variances(a, b)
    if found is not None:
        return welch(a, b, *found), "common" if found[0] is found[1] else "replicates"
    spreads_a, spreads_b = [p.seconds_a for p in points], [p.seconds_b for p in points]
    if None in spreads_a or None in spreads_b:
        return None
    variance_a, degrees_a = _of(spreads_a)
    variance_b, degrees_b = _of(spreads_b)
    own = np.zeros(len(points), dtype=bool)
    return tested(b.mean - a.mean, variance_a, variance_b, degrees_a, degrees_b, own), "seconds"


def _side(logs: Sequence[Sequence[float]]) -> Side:
    arrays = [np.asarray(values, dtype=float) for values in logs]
    return Side(
        n=np.array([float(len(x)) for x in arrays]),
        mean=np.array([x.mean() for x in arrays]),
        squares=np.array([((x - x.mean()) ** 2).sum() for x in arrays]),
    )


def _of(spreads: Sequence[object]) -> tuple[Floats, Floats]:
    return (
        np.array([getattr(s, "variance", 0.0) for s in spreads], dtype=float),
        np.array([getattr(s, "degrees", 0.0) for s in spreads], dtype=float),
    )
