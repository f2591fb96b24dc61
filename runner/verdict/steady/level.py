"""Is a rate level, so that the warm-up may end? Pure.

It is if the last three seconds and the three before them have the same mean within LEVEL_PERCENT, up or down. Refuses
to look at a second of the window: who waits for high seconds in the window selects them.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from runner.verdict.thresholds import LEVEL_PERCENT, LEVEL_S


def is_level(rates: Sequence[float]) -> bool:
    """Whether the last LEVEL_S seconds show no change. False with fewer, and without any rate."""
    if len(rates) < LEVEL_S:
        return False
    half = LEVEL_S // 2
    before, after = fmean(rates[-LEVEL_S:-half]), fmean(rates[-half:])
    return after > 0 and abs(after - before) <= LEVEL_PERCENT / 100 * (after + before) / 2
