"""Rates at one speed of the CPUs: what a run would have measured if other machines had not slowed its CPUs. Pure.

Analysis of covariance (Snedecor and Cochran, Statistical Methods, chapter 18): the covariate is the logarithm of the
CPU time of the same work in each window, and the slope is the one within the trials, from second to second, so that
differences between levels cannot enter it. Refuses to correct a rate that the CPUs did not limit, one that does not
follow their speed, and a run whose CPUs had an equal speed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from scipy.special import stdtrit

from runner.model import CPU_BOUND, TrialResult

CONFIDENCE = 0.95
TRIALS_MIN = 3
SLOPE_MAX = 2.0
APART = 1.03  # of the slowest and the fastest trial; less is not worth a correction


@dataclass(frozen=True, kw_only=True)
class SpeedCorrection:
    """slope: by how many percent a rate rises if the speed rises by 1 %, with its standard error. piece_us: CPU time of
    the work at the speed to which rates are corrected, in microseconds: the median of the trials. fastest_us,
    slowest_us: of any trial."""

    slope: float
    slope_error: float
    piece_us: float
    fastest_us: float
    slowest_us: float

    def factor(self, result: TrialResult) -> float:
        """What a trial's rate is multiplied with; 1 for a rate that the CPUs did not limit."""
        here = _piece_us(result)
        return (here / self.piece_us) ** self.slope if here is not None else 1.0


def speed_correction(results: Sequence[TrialResult]) -> SpeedCorrection | None:
    """None if there is nothing to correct, or the slope is not known."""
    known = [us for result in results if (us := _piece_us(result)) is not None]
    slopes = [one for result in results if _piece_us(result) is not None and (one := _weighted(result)) is not None]
    if len(slopes) < TRIALS_MIN or max(known) < APART * min(known):
        return None
    weights = sum(weight for weight, _ in slopes)
    slope = sum(weight * one for weight, one in slopes) / weights
    degrees = len(slopes) - 1
    error = math.sqrt(sum(weight * (one - slope) ** 2 for weight, one in slopes) / degrees / weights)
    if slope - float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) * error <= 0:
        return None
    return SpeedCorrection(
        slope=min(slope, SLOPE_MAX),
        slope_error=error,
        piece_us=median(known),
        fastest_us=min(known),
        slowest_us=max(known),
    )


def _piece_us(result: TrialResult) -> float | None:
    """None where the CPUs were not the bottleneck, and where their speed was not measured."""
    bottleneck = result.verdict.bottleneck
    if bottleneck is None or bottleneck.kind not in CPU_BOUND:
        return None
    return result.measurement.cpu_work_us


def _weighted(result: TrialResult) -> tuple[float, float] | None:
    """The slope within a trial, with its weight: the sum of squares of the speed."""
    m = result.measurement
    if m.cpu_speed_slope is None or m.cpu_speed_cv_percent is None or not m.window_s:
        return None
    return m.window_s * m.cpu_speed_cv_percent**2, m.cpu_speed_slope
