"""Finds rows that are far from what their neighbours predict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from scale_sweep.analysis.fit.models import Floats
from scale_sweep.analysis.fit.rows import Rows
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.base.units import format_rate

_LEVELS_MIN, _OUTLIERS_MAX = 4, 3
_FACTOR_MIN = 2.0  # of the expected rate, in either direction; less is a kink or noise
_SPREADS_MIN = 6.0  # of the other rows' distances (median absolute deviation, scaled to σ)
_SIGMA_PER_MAD = 1.4826
_ROWS_OF_A_MEDIAN = 3  # with this many rows at its level, a row is judged by their median
_SUSPECTS_MAX = 12


@dataclass(frozen=True, kw_only=True)
class FarOff:
    """A row, and its rate over the expected rate."""

    level: float
    rate: float
    factor: float


def outliers(rows: Rows, terms: Terms) -> tuple[str, ...]:
    return tuple(
        f"one {terms.row} lies far off: {format_rate(one.rate, None)} {terms.rate} at {terms.count(one.level)}, "
        f"{f'{one.factor:.2g} times' if one.factor >= 1 else f'1/{1 / one.factor:.2g} of'} the value that its "
        "neighbours predict;  check it, because it changes the whole fit"
        for one in far_off(rows)
    )


def far_off(rows: Rows) -> tuple[FarOff, ...]:
    """The outliers, the farthest first. The other rows are judged without them."""
    levels, logs = rows.levels, np.log(rows.rates)
    far: list[FarOff] = []
    while len(far) < _OUTLIERS_MAX and len(np.unique(levels)) >= _LEVELS_MIN:
        judged = {i: _without(levels, logs, i) for i in _suspects(levels, logs)}
        worst = min(judged, key=lambda i: judged[i].left)
        off, spread = judged[worst].off, judged[worst].spread
        if abs(off) < max(math.log(_FACTOR_MIN), _SPREADS_MIN * spread):
            break
        far.append(FarOff(level=float(levels[worst]), rate=math.exp(logs[worst]), factor=math.exp(off)))
        levels, logs = np.delete(levels, worst), np.delete(logs, worst)
    if len(far) == _OUTLIERS_MAX:  # this many are no outliers: the curve is not smooth, or the noise is large
        return ()
    return tuple(far)


@dataclass(frozen=True, kw_only=True)
class _Judged:
    """A row's distance in ln from what the others predict; and the sum and spread of the others' distances without
    it."""

    off: float
    left: float
    spread: float


def _suspects(levels: Floats, logs: Floats) -> list[int]:
    """The rows that may be the worst. One outlier changes what its neighbours predict of each other, so several rows
    are tried, unless every level has enough rows to keep its median."""
    off = np.abs(_distances(levels, logs))
    most = _SUSPECTS_MAX if np.unique(levels, return_counts=True)[1].min() <= _ROWS_OF_A_MEDIAN else 1
    return [int(i) for i in np.argsort(-off, kind="stable")[:most]]


def _without(levels: Floats, logs: Floats, i: int) -> _Judged:
    """A row against the others. Two neighbours can explain it (the one other row of its level, or the levels beside
    it); the nearer one counts."""
    other_levels, other_logs = np.delete(levels, i), np.delete(logs, i)
    left = np.abs(_distances(other_levels, other_logs))
    total, spread = float(left.sum()), _SIGMA_PER_MAD * float(np.median(left))
    same = other_logs[other_levels == levels[i]]
    if len(same) >= _ROWS_OF_A_MEDIAN - 1:
        return _Judged(off=float(logs[i] - np.median(same)), left=total, spread=spread)
    beside = other_levels != levels[i]
    alone = _distances(np.append(other_levels[beside], levels[i]), np.append(other_logs[beside], logs[i]))[-1]
    offs = [float(alone), *(float(logs[i] - one) for one in same)]
    return _Judged(off=min(offs, key=abs), left=total, spread=spread)


def _distances(levels: Floats, logs: Floats) -> Floats:
    """ln of each row's rate over its prediction: the median of its level, else a line between its neighbours.

    A level with three rows or more is judged by its own median. Any other is judged by the two nearest levels in ln n,
    between them or, at an end, beyond them.
    """
    distinct, of_level, counts = np.unique(levels, return_inverse=True, return_counts=True)
    order = np.lexsort((logs, levels))
    starts = np.searchsorted(levels[order], distinct)
    upper, lower = logs[order][starts + counts // 2], logs[order][starts + (counts - 1) // 2]
    medians, across = (upper + lower) / 2, np.log(distinct)
    expected = medians.copy()
    few, last = np.flatnonzero(counts < _ROWS_OF_A_MEDIAN), len(distinct) - 1
    a = np.where(few == 0, 1, np.where(few == last, last - 2, few - 1))
    b = np.where(few == 0, 2, np.where(few == last, last - 1, few + 1))
    slopes = (medians[b] - medians[a]) / (across[b] - across[a])
    expected[few] = medians[a] + slopes * (across[few] - across[a])
    distances: Floats = logs - expected[of_level]
    return distances
