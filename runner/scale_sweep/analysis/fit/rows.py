"""The data of the fit: sorted rows of level and rate, with each level's mean; fewer levels for repeated fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scale_sweep.analysis.fit.models import Floats

MANY_LEVELS = 200


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The data of the fit, sorted: a level and a rate for every row, and the distinct levels with means and counts."""

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
        """The index of each level's first row."""
        places: NDArray[np.intp] = np.searchsorted(self.levels, self.distinct)
        return places

    @cached_property
    def condensed(self) -> Rows:
        """The same rows at MANY_LEVELS levels at most: themselves where they have no more."""
        return self if len(self.distinct) <= MANY_LEVELS else _condense(self)


def make_rows(levels: Floats, rates: Floats, knot: float | None = None) -> Rows:
    """Sorts rows and computes the levels' means. Levels and rates must be above 0."""
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
    """Groups of neighbours. Half of the groups divide ln n evenly, half of them n: a group is narrow where a curve
    bends, at the small levels, and never holds a large part of the axis."""
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
