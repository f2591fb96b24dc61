"""When a window that may grow is looked at, and how sure each look must be. Pure.

Who looks five times and takes the first look that passes is wrong more often than who looks once. So the error that may
be made in all is spent over the looks (alpha spending by a power of the time: Kim and DeMets 1987, rho = 2): the first
look must be the surest, the last may use most. Refuses to look in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from runner.verdict.thresholds import CLAIM_ALPHA, CLAIM_LOOKS, CLAIM_OFF_PERCENT


def look_seconds(duration_s: float, window_max_s: float) -> tuple[float, ...]:
    """Lengths of the window at which it is looked at: from the first possible one to the longest, evenly."""
    step = (window_max_s - duration_s) / (CLAIM_LOOKS - 1)
    return tuple(duration_s + step * k for k in range(CLAIM_LOOKS)) if step > 0 else (duration_s,)


def look_at(seconds: float, looks: Sequence[float]) -> int | None:
    """Which look a window of so many seconds has come to, counted from 1; None before the first."""
    return sum(seconds >= look for look in looks) or None


def error_allowed_percent(look: int) -> float:
    """The largest standard error of the mean, percent, at this look (1..CLAIM_LOOKS).

    At it the mean is within CLAIM_OFF_PERCENT with all but the look's part of CLAIM_ALPHA.
    """
    part = CLAIM_ALPHA * (look**2 - (look - 1) ** 2) / CLAIM_LOOKS**2
    return CLAIM_OFF_PERCENT / NormalDist().inv_cdf(1 - part / 2)
