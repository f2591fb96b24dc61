"""When a growing window is checked, and how certain each look must be. Pure.

A test that is repeated five times and stops at the first success is wrong more often than a single test. So the total
error is distributed over the looks (alpha spending by a power of the time: Kim and DeMets 1987, rho = 2): the first
look must be the most certain, the last may use most. Refuses to check in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from scale_sweep.judge.verdict.thresholds import CLAIM_ALPHA, CLAIM_LOOKS, CLAIM_OFF_PERCENT


def look_seconds(duration_s: float, window_max_s: float) -> tuple[float, ...]:
    """The window lengths at which it is checked, in seconds: from the shortest to the longest, evenly."""
    step = (window_max_s - duration_s) / (CLAIM_LOOKS - 1)
    return tuple(duration_s + step * k for k in range(CLAIM_LOOKS)) if step > 0 else (duration_s,)


def look_at(seconds: float, looks: Sequence[float]) -> int | None:
    """The number of the look that a window of this length has reached, from 1; None before the first."""
    return sum(seconds >= look for look in looks) or None


def error_allowed_percent(look: int) -> float:
    """The largest accepted standard error of the mean, percent, at this look (1..CLAIM_LOOKS).

    With it, the mean is within CLAIM_OFF_PERCENT except for the look's part of CLAIM_ALPHA.
    """
    part = CLAIM_ALPHA * (look**2 - (look - 1) ** 2) / CLAIM_LOOKS**2
    return CLAIM_OFF_PERCENT / NormalDist().inv_cdf(1 - part / 2)
