"""Is a rate steady, and is its mean the long-run one?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf, isfinite, sqrt
from statistics import fmean, median

from scipy.special import stdtrit

from scale_sweep.base.units import moved_words
from scale_sweep.judge.verdict import thresholds as limit


@dataclass(frozen=True, kw_only=True)
class Steadiness:
    """The rate's, second by second, in percent of its mean. drift: over the window; drift_error: for independent
    seconds."""

    intervals: int
    cv_percent: float | None = None
    drift_percent: float | None = None
    drift_error_percent: float | None = None
    # between neighbouring seconds, without the trend, corrected for short series; error: of the mean, with it; halves:
    # the second against the first
    correlation: float | None = None
    error_percent: float | None = None
    halves_percent: float | None = None

    @property
    def trend_error_percent(self) -> float | None:
        """For correlated seconds; at least that of independent ones."""
        if self.drift_error_percent is None:
            return None
        return self.drift_error_percent * sqrt(_inflation(max(0.0, self.correlation or 0.0)))


def steadiness(rates: Sequence[float]) -> Steadiness:
    """Coefficient of variation, least-squares slope times the window, and the mean's error."""
    n = len(rates)
    mean = sum(rates) / n if n else 0.0
    if n < limit.STEADY_INTERVALS_MIN or mean <= 0:
        return Steadiness(intervals=n)
    middle = (n - 1) / 2
    spread = sum((i - middle) ** 2 for i in range(n))
    slope = sum((i - middle) * r for i, r in enumerate(rates)) / spread
    rest = [r - mean - slope * (i - middle) for i, r in enumerate(rates)]
    variance = sum((r - mean) ** 2 for r in rates) / (n - 1)
    scale, is_long = 100 * (n - 1) / mean, n >= 2 * limit.BATCH_S
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
    """Between neighbouring values. The estimate from n values is too low by (1 + 3 r) / n (Kendall 1954): uncorrected,
    a random walk looks like noise."""
    n, mean = len(rates), fmean(rates)
    around = [r - mean for r in rates]
    whole = sum(a * a for a in around)
    if whole <= 0 or n <= limit.STEADY_INTERVALS_MIN:
        return 0.0
    raw = sum(a * b for a, b in zip(around, around[1:], strict=False)) / whole
    return max(-limit.ALTERNATION_MAX, min(limit.CORRELATION_MAX, (raw * n + 1) / (n - limit.CORRELATION_BIAS)))


def error_of_mean(rates: Sequence[float]) -> float:
    """n correlated values count as n (1 - r) / (1 + r). If neighbours are not correlated, means of batches of BATCH_S
    give a second estimate, and the smaller counts: the mean of a rapidly alternating rate is more exact than its spread
    suggests."""
    n, mean, r = len(rates), fmean(rates), correlation(rates)
    spread = sqrt(sum((x - mean) ** 2 for x in rates) / (n - 1))
    known = spread * sqrt(_inflation(r) / n)
    if r >= limit.UNCORRELATED:
        return known
    batches = batch_means(rates)
    between = sqrt(sum((b - fmean(batches)) ** 2 for b in batches) / (len(batches) - 1) / len(batches))
    return min(known, limit.BATCH_ERROR * between) if between > 0 else known


def batch_means(rates: Sequence[float]) -> list[float]:
    """Seconds at the start that fill no batch are left out."""
    first = len(rates) % limit.BATCH_S
    return [fmean(rates[i : i + limit.BATCH_S]) for i in range(first, len(rates), limit.BATCH_S)]


def stalled_percent(rates: Sequence[float]) -> float | None:
    """Seconds below a tenth of the median rate."""
    if len(rates) < limit.STEADY_INTERVALS_MIN:
        return None
    least = limit.STALLED_SHARE * median(rates)
    return 100 * sum(rate < least for rate in rates) / len(rates)


def _inflation(r: float) -> float:
    return (1 + r) / (1 - r)


def modes(rates: Sequence[float]) -> tuple[float, float] | None:
    """The two values between which a rate jumps (None: it does not): mean rates of groups with the smallest spread
    inside (Otsu), apart by Ashman's D."""
    values = sorted(rates)
    n = len(values)
    if n < limit.MODES_SECONDS or values[0] == values[-1]:
        return None
    sums, squares = [0.0, *accumulate(values)], [0.0, *accumulate(v * v for v in values)]

    def group(a: int, b: int) -> tuple[float, float]:
        mean = (sums[b] - sums[a]) / (b - a)
        return mean, max(0.0, (squares[b] - squares[a]) / (b - a) - mean * mean)

    least = max(2, round(limit.MODES_SHARE * n))
    at = min(range(least, n - least + 1), key=lambda k: k * group(0, k)[1] + (n - k) * group(k, n)[1])
    (low, var_low), (high, var_high) = group(0, at), group(at, n)
    inside = sqrt(var_low + var_high)
    is_far = high - low > limit.MODES_GAP_PERCENT / 100 * sums[n] / n
    if not is_far or sqrt(2) * (high - low) <= limit.MODES_APART * inside:
        return None
    return low, high


def troubles(figures: Steadiness, *, claims: bool, look: int = limit.CLAIM_LOOKS) -> tuple[str, ...]:
    """Reasons against a steady rate; empty if none, or undecided. claims: by the rules of a window that carries the
    claim. look: one that has ended is judged as at the last."""
    return _of_claim(figures, look) if claims else _of_short(figures)


def _drifts(figures: Steadiness) -> bool:
    drift = abs(figures.drift_percent or 0.0)
    noise = limit.STEADY_DRIFT_ERRORS * (figures.trend_error_percent or 0.0)
    return drift > limit.STEADY_DRIFT_CAP_PERCENT or drift > max(limit.STEADY_DRIFT_PERCENT, noise)


def _of_short(figures: Steadiness) -> tuple[str, ...]:
    reasons = [f"the rate {moved_words(figures.drift_percent or 0.0)} over the window"] if _drifts(figures) else []
    if figures.cv_percent is not None and figures.cv_percent > limit.STEADY_CV_PERCENT:
        reasons.append(f"the rate varied by {figures.cv_percent:.0f} % from second to second")
    return tuple(reasons)


def _of_claim(figures: Steadiness, look: int) -> tuple[str, ...]:
    drifted = f"the rate {moved_words(figures.drift_percent or 0.0)} over the window"
    reasons = [drifted] if _has_claim_trend(figures) else []
    halves, error = figures.halves_percent or 0.0, mean_error(figures)
    if abs(halves) > limit.CLAIM_HALVES_PERCENT:
        reasons.append(_halves_words(halves))
    if error.within(1 - spent(look) / 2) > limit.CLAIM_OFF_PERCENT:
        reach = error.within(limit.CLAIM_SURE)
        is_known = reach < limit.UNKNOWN_PERCENT
        known = f"has a 95 % interval of -{reach:.0f} to +{reach:.0f} %" if is_known else "is not known"
        varied = f"the mean {known}: the rate varied by {figures.cv_percent or 0.0:.0f} %"
        reasons.append(
            f"{varied}, and slowly, so that the window holds few independent seconds"
            if (figures.correlation or 0.0) > limit.CORRELATION_SLOW
            else f"{varied} from second to second"
        )
    return tuple(reasons)


def _has_claim_trend(figures: Steadiness) -> bool:
    """Above the cap, or half of it and certainly no noise: it then goes on after the window."""
    drift = abs(figures.drift_percent or 0.0)
    noise = limit.CLAIM_TREND_ERRORS * (figures.trend_error_percent or 0.0)
    return drift > limit.CLAIM_DRIFT_PERCENT or drift > max(limit.CLAIM_TREND_PERCENT, noise)


@dataclass(frozen=True, kw_only=True)
class MeanError:
    """In percent; inf: the mean is not known."""

    percent: float
    degrees: float

    def within(self, probability: float) -> float:
        """Exceeded in one direction with 1 - probability, by Student's t."""
        if not self.percent or not isfinite(self.percent):
            return self.percent
        return self.percent * float(stdtrit(self.degrees, probability))


def mean_error(figures: Steadiness) -> MeanError:
    """By the m independent seconds of the window, whose variance about their own mean is too small by (m − 1) / m, with
    m − 1 degrees of freedom; 0: not known."""
    spread, error = figures.cv_percent or 0.0, figures.error_percent or 0.0
    if error <= 0 or spread <= 0:
        return MeanError(percent=0.0, degrees=inf)
    many = (spread / error) ** 2
    return MeanError(percent=spread / sqrt(many - 1) if many > 1 else inf, degrees=many - 1)


def _halves_words(percent: float) -> str:
    """percent: of the mean. The sentence has it of the first half, so that no half is more than 100 % below another."""
    first, second = 100 - percent / 2, 100 + percent / 2
    if first <= 0:
        return "the first half of the window stood still"
    side = "above" if percent > 0 else "below"
    return f"the second half of the window is {abs(100 * (second / first - 1)):.0f} % {side} the first"


def look_seconds(duration_s: float, window_max_s: float) -> tuple[float, ...]:
    """Window lengths at which it is checked, evenly from the shortest to the longest."""
    step = (window_max_s - duration_s) / (limit.CLAIM_LOOKS - 1)
    return tuple(duration_s + step * k for k in range(limit.CLAIM_LOOKS)) if step > 0 else (duration_s,)


def look_at(seconds: float, looks: Sequence[float]) -> int | None:
    """From 1; None before the first."""
    return sum(seconds >= look for look in looks) or None


def spent(look: int) -> float:
    """The part of CLAIM_ALPHA that this look may use: five looks that stop at the first success are wrong more often
    than one, so the error is distributed over them (alpha spending by a power of time: Kim and DeMets 1987, rho =
    2)."""
    return limit.CLAIM_ALPHA * (look**2 - (look - 1) ** 2) / limit.CLAIM_LOOKS**2
