"""The speedup at one speed of the CPUs, beside the measured one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from scale_sweep.analysis.confidence import student
from scale_sweep.analysis.fit.summaries import pooled_noise, summaries, usable
from scale_sweep.analysis.observations import RateOf, observations
from scale_sweep.model.derived import CPU_BOUND
from scale_sweep.model.measured import TrialResult

TRIALS_MIN = 3
# A CPU of another decade, and one that is not made yet; a stored number beyond them is not a speed.
SPEED_LEAST, SPEED_MOST = 1e-4, 1e4
CV_MOST = 1000.0
SLOPE_OF_TRIAL_MOST = 1e3  # of few seconds with nearly equal speeds
APART = 1.03  # of the slowest and the fastest trial; less is not worth an answer


@dataclass(frozen=True, kw_only=True)
class Slope:
    """The rise of a rate in percent if the speed rises by 1 %, from 0 to 1."""

    value: float
    error: float
    degrees: int


@dataclass(frozen=True, kw_only=True)
class EqualSpeed:
    level: float
    slower: float  # by this share the CPUs of the level were slower; below 0: faster
    slope: Slope | None = None  # None: the speed differed by level, so that nothing is corrected
    speedup: float | None = None
    low: float | None = None  # of the 95 % interval
    high: float | None = None


def equal_speed(results: Sequence[TrialResult], rate: str | RateOf) -> EqualSpeed | None:
    """None if the speeds were equal, or the rates do not follow them."""
    seen = [
        (r, one, math.log(speed))
        for r, one in zip(results, observations(results, rate), strict=True)
        if one.role == "point" and not one.mark and one.value is not None and (speed := _speed(r)) is not None
    ]
    by_level: dict[float, list[float]] = {}
    for _, one, speed in seen:
        by_level.setdefault(one.level, []).append(speed)
    speeds = [speed for _, _, speed in seen]
    if len(by_level) < 2 or max(speeds) - min(speeds) < math.log(APART) or len({one.subject for _, one, _ in seen}) > 1:
        return None
    first, last = min(by_level), max(by_level)
    means = {level: fmean(of_level) for level, of_level in by_level.items()}
    squares = sum((speed - means[one.level]) ** 2 for _, one, speed in seen)
    apart, degrees = means[last] - means[first], max(len(seen) - len(means), 1)
    within = math.sqrt(squares / degrees)
    if abs(apart) > within:
        error = within * math.sqrt(1 / len(by_level[first]) + 1 / len(by_level[last]))
        is_known = abs(apart) > student(degrees) * error
        return EqualSpeed(level=last, slower=1 - math.exp(apart)) if is_known else None
    slope = _slope([r for r, _, _ in seen])
    if slope is None:
        return None
    middle = median(speeds)
    data = usable(
        [replace(one, value=(one.value or 0.0) * math.exp(slope.value * (middle - speed))) for _, one, speed in seen]
    )
    point = summaries(data, pooled_noise(data))[-1]
    if point.speedup is None or point.speedup_std_err is None or point.speedup_degrees is None:
        return None
    half = student(min(point.speedup_degrees, slope.degrees)) * math.hypot(
        point.speedup_std_err / point.speedup, slope.error * apart
    )
    low, high = point.speedup * math.exp(-half), point.speedup * math.exp(half)
    return EqualSpeed(level=last, slower=1 - math.exp(apart), slope=slope, speedup=point.speedup, low=low, high=high)


def _slope(results: Sequence[TrialResult]) -> Slope | None:
    """None if it is not clearly above 0."""
    weighted = [one for result in results if (one := _weighted(result)) is not None]
    if len(weighted) < TRIALS_MIN:
        return None
    weights = sum(weight for weight, _ in weighted)
    slope = sum(weight * one for weight, one in weighted) / weights
    degrees = len(weighted) - 1
    error = math.sqrt(sum(weight * (one - slope) ** 2 for weight, one in weighted) / degrees / weights)
    return Slope(value=min(slope, 1.0), error=error, degrees=degrees) if slope > student(degrees) * error else None


def _speed(result: TrialResult) -> float | None:
    """None if the CPUs were not the bottleneck, or the speed is no speed."""
    bottleneck, speed = result.verdict.bottleneck, result.measurement.cpu_speed
    if bottleneck is None or bottleneck.kind not in CPU_BOUND or speed is None:
        return None
    return speed if SPEED_LEAST <= speed <= SPEED_MOST else None


def _weighted(result: TrialResult) -> tuple[float, float] | None:
    m = result.measurement
    if m.cpu_speed_slope is None or m.cpu_speed_cv_percent is None or m.window_s is None:
        return None
    weight = m.window_s * min(abs(m.cpu_speed_cv_percent), CV_MOST) ** 2
    return (weight, m.cpu_speed_slope) if weight > 0 and abs(m.cpu_speed_slope) <= SLOPE_OF_TRIAL_MOST else None
