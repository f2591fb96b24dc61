"""Is a rate level, so that the warm-up may end? Pure.

It is if the last quarter of the warm-up and the quarter before it, of three seconds at least, have the same mean within
LEVEL_PERCENT, up or down. So a slow approach is compared over longer times than a fast one. Refuses to look at a second
of the window: who waits for high seconds in the window selects them.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from scale_sweep.judge.verdict.thresholds import LEVEL_LEAST_S, LEVEL_PERCENT, LEVEL_SHARE


def is_level(rates: Sequence[float]) -> bool:
    """Whether the last seconds show no change. False with fewer than twice LEVEL_LEAST_S, and without any rate."""
    part = compared_seconds(len(rates))
    if len(rates) < 2 * part:
        return False
    before, after = fmean(rates[-2 * part : -part]), fmean(rates[-part:])
    return after > 0 and abs(after - before) <= LEVEL_PERCENT / 100 * (after + before) / 2


def compared_seconds(seconds: int) -> int:
    """How many last seconds of a warm-up are compared with as many before them."""
    return max(LEVEL_LEAST_S, int(LEVEL_SHARE * seconds))
