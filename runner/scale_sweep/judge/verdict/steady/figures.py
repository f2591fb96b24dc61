"""A rate from second to second: spread, trend, correlation, the error of its mean. Pure.

Neighbouring seconds are correlated, so a window of 40 s has fewer than 40 independent values. The errors of the mean
and of the trend allow for that (AR(1): Wilks, "Statistical Methods in the Atmospheric Sciences", 5.2.4). Refuses to
judge, and to describe fewer than STEADY_INTERVALS_MIN seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median

from scale_sweep.judge.verdict.thresholds import (
    ALTERNATION_MAX,
    BATCH_ERROR,
    BATCH_S,
    CORRELATION_BIAS,
    CORRELATION_MAX,
    STALLED_SHARE,
    STEADY_INTERVALS_MIN,
    UNCORRELATED,
)


@dataclass(frozen=True, kw_only=True)
class Steadiness:
    """The rate inside the window, second by second, in percent of its mean; all None with too few intervals.

    cv: spread. drift: the trend over the window; drift_error: its standard error for independent seconds. correlation:
    between neighbouring seconds, without the trend, corrected for its bias in short series (not in percent). error: the
    standard error of the mean with the seconds' correlation. halves: the second half against the first. The last two
    are None for a window shorter than two batches.
    """

    intervals: int
    cv_percent: float | None = None
    drift_percent: float | None = None
    drift_error_percent: float | None = None
    correlation: float | None = None
    error_percent: float | None = None
    halves_percent: float | None = None

    @property
    def trend_error_percent(self) -> float | None:
        """The standard error of the trend of correlated seconds; at least that of independent ones."""
        if self.drift_error_percent is None:
            return None
        return self.drift_error_percent * sqrt(_inflation(max(0.0, self.correlation or 0.0)))


def steadiness(rates: Sequence[float]) -> Steadiness:
    """Coefficient of variation, ordinary least-squares slope times the window, and the mean's error."""
    n = len(rates)
    mean = sum(rates) / n if n else 0.0
    if n < STEADY_INTERVALS_MIN or mean <= 0:
        return Steadiness(intervals=n)
    middle = (n - 1) / 2
    spread = sum((i - middle) ** 2 for i in range(n))
    slope = sum((i - middle) * r for i, r in enumerate(rates)) / spread
    rest = [r - mean - slope * (i - middle) for i, r in enumerate(rates)]
    variance = sum((r - mean) ** 2 for r in rates) / (n - 1)
    scale, is_long = 100 * (n - 1) / mean, n >= 2 * BATCH_S
    first, second = fmean(rates[: n // 2]), fmean(rates[n // 2 :])
    return Steadiness(
        intervals=n,
        cv_percent=100 * sqrt(variance) / mean,
        drift_percent=scale * slope,
        drift_error_percent=scale * sqrt(sum(r * r for r in rest) / (n - 2) / spread),
        correlation=correlation(rest),
        error_percent=100 * error_of_mean(rates) / mean if is_long else None,
        halves_percent=100 * (second - first) / mean if is_long else None,
    )


def correlation(rates: Sequence[float]) -> float:
    """Between neighbouring values, in -ALTERNATION_MAX..CORRELATION_MAX. The estimate from n values is too low by (1 +
    3 r) / n (Kendall 1954), which is corrected here; otherwise a random walk looks like noise."""
    n, mean = len(rates), fmean(rates)
    around = [r - mean for r in rates]
    whole = sum(a * a for a in around)
    if whole <= 0 or n <= STEADY_INTERVALS_MIN:
        return 0.0
    raw = sum(a * b for a, b in zip(around, around[1:], strict=False)) / whole
    return max(-ALTERNATION_MAX, min(CORRELATION_MAX, (raw * n + 1) / (n - CORRELATION_BIAS)))


def error_of_mean(rates: Sequence[float]) -> float:
    """The standard error of the mean of correlated values, in their unit. n values count as n (1 - r) / (1 + r).

    If neighbours are not correlated, the error is also computed from means of batches of BATCH_S seconds, and the
    smaller one counts: the mean of a rapidly alternating rate is more exact than its spread suggests.
    """
    n, mean, r = len(rates), fmean(rates), correlation(rates)
    spread = sqrt(sum((x - mean) ** 2 for x in rates) / (n - 1))
    known = spread * sqrt(_inflation(r) / n)
    if r >= UNCORRELATED:
        return known
    batches = batch_means(rates)
    between = sqrt(sum((b - fmean(batches)) ** 2 for b in batches) / (len(batches) - 1) / len(batches))
    return min(known, BATCH_ERROR * between) if between > 0 else known


def batch_means(rates: Sequence[float]) -> list[float]:
    """Means of successive batches of BATCH_S seconds. Seconds at the start that fill no batch are left out."""
    first = len(rates) % BATCH_S
    return [fmean(rates[i : i + BATCH_S]) for i in range(first, len(rates), BATCH_S)]


def stalled_percent(rates: Sequence[float]) -> float | None:
    """The percentage of seconds below a tenth of the median rate; None with too few seconds."""
    if len(rates) < STEADY_INTERVALS_MIN:
        return None
    least = STALLED_SHARE * median(rates)
    return 100 * sum(rate < least for rate in rates) / len(rates)


def _inflation(r: float) -> float:
    """The number of correlated values that count as one independent one."""
    return (1 + r) / (1 - r)
