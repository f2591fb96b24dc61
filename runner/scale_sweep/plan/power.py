"""The power of a plan: the smallest difference, the intervals of a level and of a prediction, and needed replicates.

The noise of a trial is assumed: from an earlier run, or a guess. Formulas: Student's t and the usual normal-theory
sample size of two means. A prediction's interval covers several models, so no formula gives its width: runs of the plan
are simulated, with a curve that is slightly contended, and fitted. Refuses a statement about one replicate, which shows
no noise, and a width if the fit would not answer in most runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scale_sweep.analysis.fit import FitQuestions, Terms, fit_rows
from scale_sweep.analysis.noise.spread import DIFFERENCE_MAX_PERCENT, smallest_of, student
from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import format_number
from scale_sweep.model import Plan
from scale_sweep.plan.planner import TRIALS_OF_A_VARIANT

GUESS_PERCENT = 3.0
REPLICATES_MAX = 100
REACH = 2.0  # the predicted level, as a multiple of the last one
CONTENTION = 0.03  # of the simulated curve
DRAWS = 9
_SAMPLES = 200  # of each fit's bootstrap
_SEED = 20260812


@dataclass(frozen=True, kw_only=True)
class AssumedNoise:
    """The noise of one trial's rate, in percent (standard deviation). source: where it comes from, in words."""

    percent: float
    source: str


GUESS = AssumedNoise(percent=GUESS_PERCENT, source="assumed: no earlier run of it on this machine shows its noise")


@dataclass(frozen=True, kw_only=True)
class Power:
    """The power of a plan at this noise. smallest_percent: the difference of two levels (of `scale ab`: of B and A
    at a level) that is found four times in five at 5 %. level_percent: half of the 95 % interval of a level's mean.
    prediction_percent: both ends of the 95 % interval of the rate at predicted_level, relative to the rate; None if
    there are too few levels or replicates."""

    noise: AssumedNoise
    smallest_percent: float | None
    level_percent: float | None = None
    predicted_level: float | None = None
    prediction_percent: tuple[float, float] | None = None


def power_of(plan: Plan, noise: AssumedNoise) -> Power:
    """The power of the current plan, without trials that it may add."""
    sweep, std = plan.sweep, math.log1p(noise.percent / 100)
    if sweep.variants_ab:
        blocks = sweep.replicates // TRIALS_OF_A_VARIANT
        return Power(noise=noise, smallest_percent=_of_blocks(std, len(sweep.levels), blocks))
    points = len({trial.point_id for trial in plan.trials if trial.role == "point"})
    replicates = sweep.replicates
    if replicates < 2:
        return Power(noise=noise, smallest_percent=None)
    degrees = points * (replicates - 1)
    last = REACH * max(sweep.levels)
    return Power(
        noise=noise,
        smallest_percent=smallest_of(std, degrees, replicates) if len(sweep.levels) > 1 else None,
        level_percent=100 * math.expm1(student(degrees) * std / math.sqrt(replicates)),
        predicted_level=last,
        prediction_percent=prediction_percent(sweep.levels, replicates, std, last),
    )


def _of_blocks(std: float, levels: int, blocks: int) -> float | None:
    """For `scale ab`: a block's difference has the spread of one trial, and each level is tested by its own blocks."""
    degrees = levels * (blocks - 1)
    if degrees < 1:
        return None
    reach = student(degrees, 1 - 0.05 / 2 / (levels + (levels > 1))) + student(degrees, 0.80)
    return 100 * math.expm1(reach * std / math.sqrt(blocks))


def replicates_for(percent: float, points: int, noise: AssumedNoise) -> int:
    """The fewest replicates, at least two, that find a difference of this percentage between two levels.

    Raises UsageError if more than 100 would be needed.
    """
    std = math.log1p(noise.percent / 100)
    for replicates in range(2, REPLICATES_MAX + 1):
        if smallest_of(std, points * (replicates - 1), replicates) <= percent:
            return replicates
    raise _too_many(percent, noise, "replicates")


def blocks_for(percent: float, levels: int, noise: AssumedNoise) -> int:
    """The fewest blocks of `scale ab` that find the difference. Else as replicates_for."""
    std = math.log1p(noise.percent / 100)
    for blocks in range(2, REPLICATES_MAX + 1):
        if (seen := _of_blocks(std, levels, blocks)) is not None and seen <= percent:
            return blocks
    raise _too_many(percent, noise, "blocks")


def _too_many(percent: float, noise: AssumedNoise, what: str) -> UsageError:
    return UsageError(
        f"--detect {percent:g}%: more than {REPLICATES_MAX} {what} would be needed at a noise of {noise.percent:.1f} % "
        f"({noise.source})",
        remedy="ask for a larger difference, or make the trials steadier (a longer --duration, a quiet machine)",
    )


def _seen(percent: float, between: str) -> str:
    if percent >= DIFFERENCE_MAX_PERCENT:
        return f"no difference between {between} can be seen: the trials are too few for this noise"
    return f"a difference of {percent:.1f} % between {between} is seen four times in five"


def power_sentence(plan: Plan, power: Power) -> str:
    """The power of a plan in one line."""
    premise = f"at a noise of {power.noise.percent:.1f} % ({power.noise.source})"
    if plan.sweep.variants_ab:
        if power.smallest_percent is None:
            return "one block shows no noise of its own: no difference can be tested"
        return f"{premise} {_seen(power.smallest_percent, 'A and B')}"
    if power.level_percent is None:
        return "one replicate shows no noise of its own: no difference can be tested"
    parts = [f"a level's mean is known to ± {power.level_percent:.1f} %"]
    if power.smallest_percent is not None:
        parts.insert(0, _seen(power.smallest_percent, "two levels"))
    if power.prediction_percent is not None and power.predicted_level is not None:
        at = format_number(power.predicted_level)
        low, high = power.prediction_percent
        parts.append(f"a rate predicted for {at} {plan.sweep.axis} to about {low:.0f}..{high:+.0f} %")
    return f"{premise} {', '.join(parts)}"


def prediction_percent(
    levels: Sequence[float], replicates: int, std: float, at: float, *, draws: int = DRAWS, seed: int = _SEED
) -> tuple[float, float] | None:
    """The ends of the fit's 95 % interval of X(at), in percent of the predicted rate; the median over simulated runs.

    std: of one trial's ln X. None if most fits have no model or no interval.
    """
    chance, unit = np.random.default_rng(seed), min(*levels, 1.0)
    ends = []
    for _ in range(draws):
        drawn = [
            (level, level / (1 + CONTENTION * (level / unit - 1)) * math.exp(error))
            for level in sorted(set(levels))
            for error in chance.normal(0, std, replicates)
        ]
        fit = fit_rows(drawn, Terms(axis="levels"), questions=FitQuestions(predict=(at,)), samples=_SAMPLES)
        prediction = fit.predictions[0]
        if prediction.rate and prediction.low is not None and prediction.high is not None:
            ends.append((100 * (prediction.low / prediction.rate - 1), 100 * (prediction.high / prediction.rate - 1)))
    if 2 * len(ends) <= draws:
        return None
    low, high = np.median(np.array(ends), axis=0)
    return float(low), float(high)
