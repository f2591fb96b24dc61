"""Rates at one speed of the CPUs: what a run would have measured if other machines had not slowed its CPUs. Pure.

Analysis of covariance (Snedecor and Cochran, Statistical Methods, chapter 18): the covariate is the logarithm of the
speed of the CPUs in each window, and the slope is the one within the trials, from second to second, so that
differences between levels cannot enter it. Refuses to correct a rate that the CPUs did not limit, one that does not
follow their speed, and a run whose CPUs had an equal speed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from scale_sweep.analysis.confidence import student
from scale_sweep.model import CPU_BOUND, TrialResult

TRIALS_MIN = 3
SLOPE_MAX = 2.0
# A CPU of another decade, and one that is not made yet; a stored number beyond them is not a speed.
SPEED_LEAST, SPEED_MOST = 1e-4, 1e4
CV_MOST = 1000.0
SLOPE_OF_TRIAL_MOST = 1e3  # of few seconds with nearly equal speeds
APART = 1.03  # of the slowest and the fastest trial; less is not worth a correction


@dataclass(frozen=True, kw_only=True)
class SpeedCorrection:
    """slope: by how many percent a rate rises if the speed rises by 1 %, at most SLOPE_MAX; slope_low, slope_high: its
    95 % interval. speed: that to which rates are corrected, the median of the trials, in pieces for each millisecond.
    slowest, fastest: of any trial."""

    slope: float
    slope_low: float
    slope_high: float
    speed: float
    slowest: float
    fastest: float

    def factor(self, result: TrialResult) -> float:
        """The factor of a trial's rate; 1 for a rate that the CPUs did not limit."""
        here = _speed(result)
        return (self.speed / here) ** self.slope if here is not None else 1.0


def speed_correction(results: Sequence[TrialResult]) -> SpeedCorrection | None:
    """None if there is nothing to correct, or the slope is not known."""
    known = [speed for result in results if (speed := _speed(result)) is not None]
    slopes = [one for result in results if _speed(result) is not None and (one := _weighted(result)) is not None]
    if len(slopes) < TRIALS_MIN or max(known) < APART * min(known):
        return None
    weights = sum(weight for weight, _ in slopes)
    slope = sum(weight * one for weight, one in slopes) / weights
    degrees = len(slopes) - 1
    error = math.sqrt(sum(weight * (one - slope) ** 2 for weight, one in slopes) / degrees / weights)
    half = student(degrees) * error
    if slope - half <= 0:
        return None
    return SpeedCorrection(
        slope=min(slope, SLOPE_MAX),
        slope_low=slope - half,
        slope_high=slope + half,
        speed=median(known),
        slowest=min(known),
        fastest=max(known),
    )


def _speed(result: TrialResult) -> float | None:
    """None where the CPUs were not the bottleneck, and where their speed was not measured. A stored file may hold any
    number."""
    bottleneck, speed = result.verdict.bottleneck, result.measurement.cpu_speed
    if bottleneck is None or bottleneck.kind not in CPU_BOUND or speed is None:
        return None
    return speed if SPEED_LEAST <= speed <= SPEED_MOST else None


def _weighted(result: TrialResult) -> tuple[float, float] | None:
    """The slope within a trial, with its weight: the sum of squares of the speed."""
    m = result.measurement
    if m.cpu_speed_slope is None or m.cpu_speed_cv_percent is None or m.window_s is None:
        return None
    weight = m.window_s * min(abs(m.cpu_speed_cv_percent), CV_MOST) ** 2
    return (weight, m.cpu_speed_slope) if weight > 0 and abs(m.cpu_speed_slope) <= SLOPE_OF_TRIAL_MOST else None
