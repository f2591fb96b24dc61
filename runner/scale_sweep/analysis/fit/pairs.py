"""Claims of a run of short windows: the range of its pairs, and the range of another day."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from scale_sweep.analysis.confidence import student
from scale_sweep.analysis.fit.speedups import ratios_to_first
from scale_sweep.analysis.fit.summaries import Usable
from scale_sweep.model import AnotherDay, PointSummary

DAY = 0.05  # of ln(speedup) between days; bench/evidence/another_day.csv has the result for other spreads
PRIOR_DAYS = 4
CONFORMAL_FROM = 10


def holds_median(pairs: int) -> float:
    return 1 - 2.0 ** (1 - pairs)


def with_pairs(points: Sequence[PointSummary], data: Usable) -> tuple[PointSummary, ...]:
    """The points without 95 % intervals, each with the ratios of the blocks that hold it and the first level."""
    ratios = ratios_to_first(data.levels, np.log(data.rates), data.blocks) if data.blocks is not None else {}
    return tuple(
        replace(
            p,
            mean_low=None,
            mean_high=None,
            speedup_std_err=None,
            speedup_low=None,
            speedup_high=None,
            speedup_degrees=None,
            pairs=tuple(sorted(map(math.exp, ratios.get(p.level, ())))),
        )
        for p in points
    )


def another_day(point: PointSummary, earlier: Sequence[float]) -> AnotherDay | None:
    """The range in which the speedup of another day lies. earlier: speedups of stored repetitions, oldest first."""
    if not point.pairs or not point.speedup:
        return None
    logs = [math.log(value) for value in earlier if 0 < value < math.inf]
    if len(logs) >= CONFORMAL_FROM:
        far = (len(logs) - 1) // 2  # days that resemble each other are near each other
        half = max(abs(b - a) for a, b in zip(logs, [*logs[far:], *logs[:far]], strict=True))
    else:
        squares = sum((one - fmean(logs)) ** 2 for one in logs) if logs else 0.0
        degrees = PRIOR_DAYS + max(len(logs) - 1, 0)
        half = student(degrees) * math.sqrt((PRIOR_DAYS * DAY**2 + squares) / degrees)
    own = math.log(point.pairs[-1] / point.pairs[0]) / 2
    half = max(half, own)
    low, high = point.speedup * math.exp(-half), point.speedup * math.exp(half)
    return AnotherDay(low=low, high=high, repetitions=len(logs))
