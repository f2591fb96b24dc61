"""How many seconds to discard at the start of the measured time, so that the rest is steady. Pure.

A short window (quick) tries its last seconds; a window that carries the claim, the end of the transient by MSER-5.
Refuses to discard a stall, and to leave less than the requested length.
"""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.judge.verdict.steady.figures import Steadiness, steadiness
from scale_sweep.judge.verdict.steady.rules import troubles
from scale_sweep.judge.verdict.steady.warmup import may_be_discarded, transient
from scale_sweep.judge.verdict.thresholds import (
    CLAIM_LOOKS,
    STEADY_CV_PERCENT,
    STEADY_DRIFT_ERRORS,
    STEADY_DRIFT_PERCENT,
    STEADY_INTERVALS_MIN,
)


def is_steady(rates: Sequence[float]) -> bool | None:
    """Whether it is, by the first version of the rules, which decided what stored runs discarded; None with too few
    seconds.

    These rules take seconds as independent. The verdict's rules for short windows (rules.py) are stricter.
    """
    found = steadiness(rates)
    if found.cv_percent is None:
        return None
    return found.cv_percent <= STEADY_CV_PERCENT and not _has_trend(found)


def seconds_to_settle(rates: Sequence[float], least: int) -> int | None:
    """For a short window: 0 if the whole is steady, or too short to decide. Else the last `least` seconds are judged
    alone; None if they are not steady either.

    Seconds are discarded only because of a trend: a rate that stopped for a moment has no trend, and keeps that moment.
    """
    if is_steady(rates) is not False:
        return 0
    if not STEADY_INTERVALS_MIN <= least < len(rates) or not _has_trend(steadiness(rates)):
        return None
    return len(rates) - least if is_steady(rates[-least:]) else None


def seconds_to_claim(rates: Sequence[float], least: int, look: int = CLAIM_LOOKS) -> int | None:
    """For a window that carries the claim: 0 if the whole is steady; else the transient's length by MSER-5, if the rest
    is steady and at least `least` seconds long; else None. least 0: nothing may be discarded."""
    if not troubles(steadiness(rates), claims=True, look=look):
        return 0
    found = transient(rates)
    if found is None or not least or not 0 < found.seconds <= len(rates) - least:
        return None
    if not may_be_discarded(rates, found.seconds):
        return None
    return None if troubles(steadiness(rates[found.seconds :]), claims=True, look=look) else found.seconds


def _has_trend(found: Steadiness) -> bool:
    noise = STEADY_DRIFT_ERRORS * (found.drift_error_percent or 0.0)
    return abs(found.drift_percent or 0.0) > max(STEADY_DRIFT_PERCENT, noise)
