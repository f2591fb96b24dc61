"""The data of the fit: sorted rows, rows that are far off, known breaks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scale_sweep.analysis.fit.models import Floats, rates
from scale_sweep.analysis.fit.squares import solve
from scale_sweep.model.fitted import KnownBreak
from scale_sweep.model.planned import NUMA_SPREAD, SLOW_CORES, SMT_WITHIN
from scale_sweep.model.resources import Placement

MANY_LEVELS = 200


@dataclass(frozen=True, kw_only=True)
class Rows:
    levels: Floats
    rates: Floats
    distinct: Floats
    weights: Floats
    means: Floats
    of_level: NDArray[np.intp]
    # the mean rate, by which rates are divided inside, so that results do not depend on the unit of the data
    unit: float
    unit_level: float  # u of the formulas in models.py: the smallest level if it is below 1, else 1
    knot: float | None = None  # b of the formulas, if a break is known

    @property
    def starts(self) -> NDArray[np.intp]:
        """The numbers of each level's first row."""
        places: NDArray[np.intp] = np.searchsorted(self.levels, self.distinct)
        return places

    @cached_property
    def condensed(self) -> Rows:
        """At MANY_LEVELS levels at most."""
        return self if len(self.distinct) <= MANY_LEVELS else _condense(self)


def make_rows(levels: Floats, rates: Floats, knot: float | None = None) -> Rows:
    """Levels and rates must be above 0."""
    order = np.lexsort((rates, levels))
    levels, rates = levels[order], rates[order]
    distinct, of_level, counts = np.unique(levels, return_inverse=True, return_counts=True)
    sums = np.add.reduceat(rates, np.searchsorted(levels, distinct)) if len(rates) else rates
    return Rows(
        levels=levels,
        rates=rates,
        distinct=distinct,
        weights=counts.astype(float),
        means=sums / counts,
        of_level=of_level,
        unit=float(rates.mean()) if len(rates) else 1.0,
        unit_level=min(1.0, float(distinct[0])) if len(distinct) else 1.0,
        knot=knot,
    )


def _condense(rows: Rows) -> Rows:
    """Groups of neighbours, half of them even in ln n, half in n: narrow where a curve bends, never a large part of the
    axis."""
    n = rows.distinct
    place = (np.log(n / n[0]) / np.log(n[-1] / n[0]) + (n - n[0]) / (n[-1] - n[0])) * (MANY_LEVELS // 2)
    joined = np.unique(np.minimum(place.astype(np.intp), MANY_LEVELS - 1), return_inverse=True)[1]
    of_group = joined[rows.of_level]
    counts = np.bincount(of_group)
    level, mean = (np.bincount(of_group, values) / counts for values in (rows.levels, rows.rates))
    moved = np.gradient(mean, level)[of_group] * (rows.levels - level[of_group])
    return replace(
        rows,
        levels=level[of_group],
        rates=rows.rates - moved,
        distinct=level,
        weights=counts.astype(float),
        means=mean,
        of_level=of_group,
    )


_LEVELS_MIN, _OUTLIERS_MAX = 4, 3
_FACTOR_MIN = 2.0  # of the expected rate, in either direction; less is a kink or noise
_SPREADS_MIN = 6.0  # of the other rows' distances (median absolute deviation, scaled to σ)
_SIGMA_PER_MAD = 1.4826
_ROWS_OF_A_MEDIAN = 3  # with this many rows at its level, a row is judged by their median
_SUSPECTS_MAX = 12


@dataclass(frozen=True, kw_only=True)
class FarOff:
    level: float
    rate: float
    factor: float


def far_off(rows: Rows) -> tuple[FarOff, ...]:
    """The farthest first. The other rows are judged without them."""
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
    off: float
    left: float
    spread: float


def _suspects(levels: Floats, logs: Floats) -> list[int]:
    """Several: one outlier changes what its neighbours predict of each other. One if every level keeps its median."""
    off = np.abs(_distances(levels, logs))
    most = _SUSPECTS_MAX if np.unique(levels, return_counts=True)[1].min() <= _ROWS_OF_A_MEDIAN else 1
    return [int(i) for i in np.argsort(-off, kind="stable")[:most]]


def _without(levels: Floats, logs: Floats, i: int) -> _Judged:
    """The row by its level or by the levels beside it; the nearer one counts."""
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
    """ln of each row's rate over the median of its level of three rows or more, else over a line in ln n through the
    two nearest levels."""
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
    return np.asarray(logs - expected[of_level])


def known_breaks(placements: Mapping[float, Placement]) -> tuple[KnownBreak, ...]:
    """Where the CPUs begin to be of another kind, ascending. If the level is a number of CPUs, SMT siblings and slower
    cores begin at the first that is one; another NUMA node after the last level with one."""
    levels = sorted(placements)
    breaks = []
    for knob, label, words, field in (
        (SMT_WITHIN, "SMT siblings", "the added CPUs are SMT siblings of used cores", "smt_cpus"),
        (SLOW_CORES, "slower cores", "the added CPUs are cores of a slower kind", "slow_cpus"),
    ):
        those = [level for level in levels if getattr(placements[level], field)]
        if (after := _last_before(levels, those)) is not None:
            last = placements[levels[-1]]
            whole = next(i for i, cpu in enumerate(last.server_cpus) if cpu in getattr(last, field))
            exact = float(whole) if after <= whole < those[0] else after
            breaks.append(KnownBreak(after=exact, knob=knob, label=label, words=words))
    if (after := _last_before(levels, [n for n in levels if len(placements[n].nodes) > 1])) is not None:
        words = "the added CPUs are on another NUMA node"
        breaks.append(KnownBreak(after=after, knob=NUMA_SPREAD, label="another NUMA node", words=words))
    return tuple(sorted(breaks, key=lambda one: one.after))


def _last_before(levels: Sequence[float], those: Sequence[float]) -> float | None:
    """None if `those` are not the upper part of the levels."""
    before = [level for level in levels if level not in those]
    return before[-1] if before and those and before[-1] < those[0] else None


def best_knot(levels: Floats, measured: Floats, breaks: Sequence[KnownBreak]) -> float | None:
    """The break at which two lines fit best; None if none lies within the levels."""

    def squares(at: float) -> float:
        scaled = measured / measured.mean()
        solution = solve("linear_break", levels, np.ones_like(levels), scaled[None], knot=at)
        return float(np.sum((rates("linear_break", solution, levels)[0] - scaled) ** 2))

    inside = [one.after for one in breaks if len(levels) and levels[0] <= one.after < levels[-1]]
    return min(inside, key=squares, default=None)
