"""The chance that the curve is below a rate at a level."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from scale_sweep.analysis.fit.beyond import LIMITS_OF_A_FALL, Known
from scale_sweep.analysis.fit.candidates import LIMITS, Candidate
from scale_sweep.analysis.fit.local import chords_at
from scale_sweep.analysis.fit.models import Floats

LEVELS_AT_ONCE = 256
# The normal quantiles of 99.5 % and 97.5 %: how much wider the intervals of a falling curve are.
_WIDER_IF_FALLING = 2.5758 / 1.9600
_LEAST = 1e-12  # of the unit: a straight line may be below 0
assert (LIMITS_OF_A_FALL[1], round(LIMITS[1], 6)) == (99.5, 97.5)


def chances_below(known: Known, levels: Floats, rate: float) -> tuple[Floats, Floats]:
    """(least, most) over the models and chords, from 0 to 1, for each level. NaN where nothing has samples."""
    parts = [_chances(known, levels[at : at + LEVELS_AT_ONCE], rate) for at in range(0, len(levels), LEVELS_AT_ONCE)]
    if not parts:
        return np.zeros(0), np.zeros(0)
    return np.concatenate([least for least, _ in parts]), np.concatenate([most for _, most in parts])


def _chances(known: Known, levels: Floats, rate: float) -> tuple[Floats, Floats]:
    rows = known.rows
    is_beyond = levels > rows.distinct[-1]
    shares = [_share_below(c, levels, rate, is_wider=known.falls) for c in known.plausible if len(c.samples)]
    shares += [
        np.where(is_beyond, _share_below(c, levels, rate, is_wider=known.falls), np.nan)
        for c in known.wider
        if len(c.samples)
    ]
    if not shares:
        return np.full(len(levels), np.nan), np.full(len(levels), np.nan)
    least, most = np.nanmin(shares, axis=0), np.nanmax(shares, axis=0)
    for at in np.flatnonzero(~is_beyond & (levels >= rows.distinct[0])):
        for value, error in chords_at(rows, float(levels[at]), known.noise, is_missed=known.is_missed):
            below = below_mean(value, error, rate, known.noise.degrees if known.noise is not None else 1)
            least[at], most[at] = min(least[at], below), max(most[at], below)
    return least, most


def below_mean(mean: float, error: float, rate: float, degrees: float) -> float:
    """The chance that what was estimated as `mean`, with a standard error of these degrees of freedom, is below the
    rate."""
    if error <= 0:
        return float(mean < rate)
    return float(stdtr(degrees, (rate - mean) / error))


def _share_below(candidate: Candidate, levels: Floats, rate: float, *, is_wider: bool) -> Floats:
    curves = candidate.curves(levels)
    if is_wider:
        least = _LEAST * rate
        own = np.maximum(candidate.rates(levels), least)
        curves = own * (np.maximum(curves, least) / own) ** _WIDER_IF_FALLING
    share: Floats = np.mean(curves < rate, axis=0)
    return share
