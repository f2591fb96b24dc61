"""Was the rate steady? Its spread from second to second, its trend over the window, the time in which it stood still.

`steadiness_of` is the verdict's door. The window of a sweep grows until the rate is steady (fio's steady state is the
model: a limit on slope and on deviation), up to a limit; where the rate had not settled when it began, its last stretch
is judged instead. Refuses to judge fewer than STEADY_INTERVALS_MIN seconds, and to pass over a stall: only a trend is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median

from runner.verdict.evidence import Evidence
from runner.verdict.thresholds import (
    STALLED_SHARE,
    STEADY_CV_PERCENT,
    STEADY_DRIFT_ERRORS,
    STEADY_DRIFT_PERCENT,
    STEADY_INTERVALS_MIN,
)


@dataclass(frozen=True, kw_only=True)
class Steadiness:
    """The rate inside the window, second by second, in percent of its mean: spread, trend over the window, and the
    trend's standard error. All None with too few intervals."""

    intervals: int
    cv_percent: float | None = None
    drift_percent: float | None = None
    drift_error_percent: float | None = None


def steadiness_of(evidence: Evidence) -> tuple[str, ...]:
    """Why the rate was not steady, as reasons of the verdict; empty when it was, or when that cannot be told."""
    m, found = evidence.measurement, []
    drift = m.rate_drift_percent or 0.0
    if drifts(m.rate_drift_percent, m.rate_drift_error_percent):
        found.append(f"the rate {'fell' if drift < 0 else 'rose'} by {abs(drift):.0f} % over the window")
    if varies(m.rate_cv_percent):
        found.append(f"the rate varied by {m.rate_cv_percent:.0f} % from second to second")
    return tuple(found)


def steadiness(rates: Sequence[float]) -> Steadiness:
    """Coefficient of variation; ordinary least-squares slope times the window, with its standard error."""
    n = len(rates)
    mean = sum(rates) / n if n else 0.0
    if n < STEADY_INTERVALS_MIN or mean <= 0:
        return Steadiness(intervals=n)
    middle = (n - 1) / 2
    spread = sum((i - middle) ** 2 for i in range(n))
    slope = sum((i - middle) * r for i, r in enumerate(rates)) / spread
    residual = sum((r - mean - slope * (i - middle)) ** 2 for i, r in enumerate(rates)) / (n - 2)
    variance = sum((r - mean) ** 2 for r in rates) / (n - 1)
    scale = 100 * (n - 1) / mean
    return Steadiness(
        intervals=n,
        cv_percent=100 * sqrt(variance) / mean,
        drift_percent=scale * slope,
        drift_error_percent=scale * sqrt(residual / spread),
    )


def drifts(drift_percent: float | None, error_percent: float | None) -> bool:
    """Whether the trend is large, and larger than noise makes one."""
    return drift_percent is not None and abs(drift_percent) > max(
        STEADY_DRIFT_PERCENT, STEADY_DRIFT_ERRORS * (error_percent or 0.0)
    )


def varies(cv_percent: float | None) -> bool:
    """Whether the rate jumps from second to second."""
    return cv_percent is not None and cv_percent > STEADY_CV_PERCENT


def is_steady(rates: Sequence[float]) -> bool | None:
    """None with too few seconds to tell."""
    found = steadiness(rates)
    if found.cv_percent is None:
        return None
    return not varies(found.cv_percent) and not drifts(found.drift_percent, found.drift_error_percent)


def seconds_to_settle(rates: Sequence[float], least: int) -> int | None:
    """How many seconds at the start to pass over so that the rest is steady: 0 where the whole is, or is too short to
    tell. Else the last `least` seconds are judged by themselves; None where these are not steady either.

    Only a trend lets seconds be passed over: a rate that stood still for a moment has no trend, and keeps that moment.
    """
    if is_steady(rates) is not False:
        return 0
    whole = steadiness(rates)
    if not STEADY_INTERVALS_MIN <= least < len(rates) or not drifts(whole.drift_percent, whole.drift_error_percent):
        return None
    return len(rates) - least if is_steady(rates[-least:]) else None


def stalled_percent(rates: Sequence[float]) -> float | None:
    """Share of the seconds with less than a tenth of the median rate; None with too few seconds."""
    if len(rates) < STEADY_INTERVALS_MIN:
        return None
    least = STALLED_SHARE * median(rates)
    return 100 * sum(rate < least for rate in rates) / len(rates)
