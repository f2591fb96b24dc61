"""Rows that lie far off what their neighbours lead to expect; named, never left out.

Least squares follows one row that is ten times too high, and every figure of the fit with it: the reader must know.
Refuses to judge where there are fewer than four levels or rows.
"""

from __future__ import annotations

import math

import numpy as np

from runner.fit.bootstrap import Rows
from runner.fit.models import Floats
from runner.fit.words import Terms, quantity

_LEVELS_MIN, _OUTLIERS_MAX = 4, 3
_FACTOR_MIN = 2.0  # of what is expected, either way: less is a kink or noise
_SPREADS_MIN = 6.0  # of the other rows' distances (median absolute deviation, made comparable with σ)
_SIGMA_PER_MAD = 1.4826


def outliers(rows: Rows, terms: Terms) -> tuple[str, ...]:
    """A sentence for each row far off, the farthest first; the others are judged without it."""
    levels, logs = rows.levels, np.log(rows.rates)
    found: list[str] = []
    while len(found) < _OUTLIERS_MAX and len(np.unique(levels)) >= _LEVELS_MIN:
        off = _distances(levels, logs)
        worst = int(np.argmax(np.abs(off)))
        spread = _SIGMA_PER_MAD * float(np.median(np.abs(np.delete(off, worst))))
        if abs(off[worst]) < max(math.log(_FACTOR_MIN), _SPREADS_MIN * spread):
            break
        factor, rate = math.exp(off[worst]), math.exp(logs[worst])
        times = f"{factor:.2g} times" if factor >= 1 else f"1/{1 / factor:.2g} of"
        found.append(
            f"one {terms.row} lies far off: {quantity(rate, None)} {terms.rate} at "
            f"{terms.count(float(levels[worst]))}, {times} what its neighbours lead to expect; check it, because the "
            "whole fit follows it"
        )
        levels, logs = np.delete(levels, worst), np.delete(logs, worst)
    if len(found) == _OUTLIERS_MAX:  # so many are no outliers: the curve is not smooth, or the noise is large
        return ()
    return tuple(found)


def _distances(levels: Floats, logs: Floats) -> Floats:
    """ln of each row's rate over what the others say: the median of its level, else a line between its neighbours.

    A level with three rows or more is judged by its own median; another by the two nearest levels in ln n, between them
    or, at an end, beyond them.
    """
    distinct, of_level, counts = np.unique(levels, return_inverse=True, return_counts=True)
    order = np.lexsort((logs, levels))
    starts = np.searchsorted(levels[order], distinct)
    upper, lower = logs[order][starts + counts // 2], logs[order][starts + (counts - 1) // 2]
    medians, across = (upper + lower) / 2, np.log(distinct)
    expected = medians.copy()
    for i in np.flatnonzero(counts < 3):
        a, b = (i - 1, i + 1) if 0 < i < len(distinct) - 1 else (1, 2) if i == 0 else (i - 2, i - 1)
        slope = (medians[b] - medians[a]) / (across[b] - across[a])
        expected[i] = medians[a] + slope * (across[i] - across[a])
    found: Floats = logs - expected[of_level]
    return found
