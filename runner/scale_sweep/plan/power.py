"""The power of a plan: the smallest difference, the intervals of a level and of a prediction, needed replicates, gates.

Formulas: Student's t and the usual normal-theory sample size of two means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scale_sweep.analysis import confidence
from scale_sweep.analysis.compare.gates import blocks_pass_share
from scale_sweep.analysis.confidence import (
    DIFFERENCE_MAX_PERCENT,
    POWER,
    REPEATS_MAX,
    SIGNIFICANCE,
    smallest_of,
    student,
)
from scale_sweep.analysis.fit.curve import FitQuestions, fit_rows
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.analysis.noise.parts import PLACES, pooled_parts
from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import counted, format_number, percent_words
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.compared import Gate
from scale_sweep.model.declared_parts import STEP_S
from scale_sweep.model.observed import NoiseParts
from scale_sweep.model.planned import Plan
from scale_sweep.plan.planner import TRIALS_OF_A_VARIANT

GUESS_PERCENT = 3.0
REACH = 2.0  # the predicted level, as a multiple of the last one
CONTENTION = 0.03  # of the simulated curve
DRAWS = 9
_SAMPLES = 200  # of each fit's bootstrap
_SEED = 20260812
_LEVELS_MOST = 24  # of the simulated curve


@dataclass(frozen=True, kw_only=True)
class AssumedNoise:
    percent: float
    source: str  # in words
    is_guess: bool = False
    parts: NoiseParts | None = None  # of earlier runs


GUESS = AssumedNoise(
    percent=GUESS_PERCENT, source="assumed: no earlier run of it on this machine shows its noise", is_guess=True
)


def with_parts(noise: AssumedNoise, runs: Sequence[NoiseParts]) -> AssumedNoise:
    return replace(noise, parts=pooled_parts(runs))


@dataclass(frozen=True, kw_only=True)
class Power:
    noise: AssumedNoise
    smallest_percent: float | None  # of two levels, or B and A at a level, that is found four times in five at 5 %
    level_percent: float | None = None  # half of the 95 % interval of a level's mean
    predicted_level: float | None = None
    prediction_percent: tuple[float, float] | None = None  # ends of the 95 % interval there, relative to the rate


def power_of(plan: Plan, noise: AssumedNoise) -> Power:
    """Without trials that the plan may add."""
    sweep, std = plan.sweep, math.log1p(noise.percent / 100)
    if sweep.variants_ab:
        looks = sweep.looks_ab or (sweep.replicates // TRIALS_OF_A_VARIANT,)
        return Power(noise=noise, smallest_percent=_of_blocks(std, len(sweep.levels), looks[-1], len(looks)))
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


def _of_blocks(std: float, levels: int, blocks: int, looks: int = 1) -> float | None:
    """A block's difference has the spread of one trial, and each level is tested by its own blocks. looks: how
    often."""
    degrees = levels * (blocks - 1)
    if degrees < 1:
        return None
    tests = looks * (levels + (levels > 1))
    reach = student(degrees, 1 - SIGNIFICANCE / 2 / tests) + student(degrees, POWER)
    return 100 * math.expm1(reach * std / math.sqrt(blocks))


def replicates_for(percent: float, points: int, noise: AssumedNoise) -> int:
    """The fewest that find this difference between two levels. Raises UsageError above 100."""
    count = confidence.replicates_for(percent, points, math.log1p(noise.percent / 100))
    if count is None:
        raise _too_many(percent, noise, "replicates")
    return count


def blocks_for(percent: float, levels: int, noise: AssumedNoise) -> int:
    std = math.log1p(noise.percent / 100)
    for blocks in range(2, REPEATS_MAX + 1):
        if (seen := _of_blocks(std, levels, blocks)) is not None and seen <= percent:
            return blocks
    raise _too_many(percent, noise, "blocks")


def _too_many(percent: float, noise: AssumedNoise, what: str) -> UsageError:
    return UsageError(
        f"--detect {percent:g}%: more than {REPEATS_MAX} {what} would be needed at a noise of {noise.percent:.1f} % "
        f"({noise.source})",
        remedy="ask for a larger difference, or make the trials steadier (a longer --duration, a quiet machine)",
    )


def _unseen(percent: float, between: str = "") -> str:
    if percent >= DIFFERENCE_MAX_PERCENT:
        return f"no difference{between} will show: the trials are too few for this noise"
    return f"differences{between} under {percent_words(percent)} will not show"


WITHIN = ("seconds", "window")  # parts of the noise that longer windows reduce
LONGER = 1.5  # times the planned window: only a best window beyond it is worth a longer one


def advice(plan: Plan, noise: AssumedNoise) -> str:
    """A sentence on the better use of time, by the parts of the noise of earlier runs; "" if they are not known.

    A trial takes o + w seconds: start and warm-up, and window. Its variance is b + s / w, with b between trials. So a
    level's mean in a given time has the least variance for w = √(s o / b) (Kalibera and Jones 2013, section 6).
    """
    parts, replicates = noise.parts, plan.sweep.replicates
    largest = parts.largest if parts is not None else None
    if parts is None or largest is None or replicates < 2 or plan.sweep.variants_ab or not plan.trials:
        return ""
    window_s = plan.sweep.load.duration_s or parts.window_s
    inside = sum(p.percent**2 for p in parts.parts if p.name in WITHIN) * parts.window_s / window_s
    between = sum(p.percent**2 for p in parts.parts if p.name not in WITHIN)
    other_s = max(1.0, plan.seconds_estimated / len(plan.trials) - window_s)
    is_longer = inside * other_s > LONGER**2 * between * window_s
    points = len({trial.point_id for trial in plan.trials if trial.role == "point"})
    by_t = student(points * (2 * replicates - 1)) / student(points * (replicates - 1))
    by_replicates = 100 * (1 - by_t / math.sqrt(2))
    by_windows = 100 * (1 - math.sqrt((between + inside / 2) / (between + inside)))
    better = "longer windows (--duration) use the time better" if is_longer else "more --replicates use the time better"
    return (
        f"In earlier runs {100 * parts.share(largest):.0f} % of the noise was {PLACES[largest.name]}: twice the "
        f"replicates would narrow a level's interval by {by_replicates:.0f} %, windows of twice the length by "
        f"{by_windows:.0f} %, so {better}"
    )


def power_sentence(plan: Plan, power: Power) -> str:
    """The power of a plan in one line."""
    if plan.sweep.load.searches and not plan.sweep.load.is_long(0.0):
        return f"Steps under {STEP_S:g} s make no capacity: no difference can be tested"
    noise = percent_words(power.noise.percent)
    premise = f"({noise} noise assumed)" if power.noise.is_guess else f"({noise} noise: {power.noise.source})"
    if plan.sweep.variants_ab:
        if power.smallest_percent is None:
            return "One block does not show the noise: no difference can be tested"
        return f"Expected precision: {_unseen(power.smallest_percent, ' between A and B')} {premise}"
    if power.level_percent is None:
        return "One replicate does not show the noise: no difference can be tested"
    if plan.sweep.load.objective is not None and power.noise.is_guess:
        return "Expected precision: not known; the interval of each capacity follows from its steps"
    level = percent_words(round(power.level_percent) if power.level_percent >= 1 else power.level_percent)
    seen = "" if power.smallest_percent is None else f"; {_unseen(power.smallest_percent)}"
    return f"Expected precision: about {level} a level{seen} {premise}"


def power_details(plan: Plan, power: Power) -> tuple[str, ...]:
    """Sentences of `scale plan` alone."""
    details = [advice(plan, power.noise)]
    if power.prediction_percent is not None and power.predicted_level is not None:
        at = load_axis(plan.sweep.axis).count(format_number(power.predicted_level))
        low, high = power.prediction_percent
        details.insert(0, f"The interval of a rate predicted for {at} is about {low:+.0f} to {high:+.0f} %")
    return tuple(filter(None, details))


@dataclass(frozen=True, kw_only=True)
class GatePower:
    """In percent of the runs with these blocks."""

    gate: Gate
    noise: AssumedNoise
    blocks: int
    passes_percent: float | None = None  # if A and B are equally fast; None for one block
    fires_percent: float | None = None  # does not pass, if B is slower by the gate's percentage at one level
    blocks_needed: int | None = None  # to pass four times in five, if it must be shown; None: over 100


def gate_power_of(plan: Plan, noise: AssumedNoise, gate: Gate) -> GatePower:
    """How often a gate of `scale ab` passes."""
    std, levels = math.log1p(noise.percent / 100), len(plan.sweep.levels)
    blocks = plan.sweep.replicates // TRIALS_OF_A_VARIANT
    equal = (0.0,) * levels
    needed = None
    if gate.must_be_shown:
        counts = range(2, REPEATS_MAX + 1)
        needed = next((n for n in counts if blocks_pass_share(gate, equal, std, n) >= POWER), None)
    if blocks < 2:
        return GatePower(gate=gate, noise=noise, blocks=blocks, blocks_needed=needed)
    slower = (math.log(gate.low), *equal[1:])
    return GatePower(
        gate=gate,
        noise=noise,
        blocks=blocks,
        passes_percent=100 * blocks_pass_share(gate, equal, std, blocks),
        fires_percent=100 * (1 - blocks_pass_share(gate, slower, std, blocks)),
        blocks_needed=needed,
    )


def gate_sentence(power: GatePower) -> str:
    """The power of a gate in one line."""
    gate, noise = power.gate, power.noise
    if power.passes_percent is None or power.fires_percent is None:
        return f"{gate.flag} with one block: nothing can be shown, because one block does not show the noise"
    sentence = (
        f"{gate.flag} with {counted(power.blocks, 'block')}, at a noise of {noise.percent:.1f} %: passes in "
        f"{power.passes_percent:.0f} % of the cases if A and B are equally fast, rejects B in "
        f"{power.fires_percent:.0f} % if B is truly {gate.percent:g} % slower at one level"
    )
    if not gate.must_be_shown or power.passes_percent >= 100 * POWER:
        return sentence
    if power.blocks_needed is None:
        return f"{sentence}; more than {REPEATS_MAX} blocks would be needed to pass in {100 * POWER:.0f} %"
    return f"{sentence}; with {counted(power.blocks_needed, 'block')} it passes in {100 * POWER:.0f} %"


def prediction_percent(
    levels: Sequence[float], replicates: int, std: float, at: float, *, draws: int = DRAWS, seed: int = _SEED
) -> tuple[float, float] | None:
    """The ends of the fit's 95 % interval of X(at), in percent of the predicted rate; the median of simulated runs.
    std: of one trial's ln X. None if most fits have no interval."""
    chance, unit = np.random.default_rng(seed), min(*levels, 1.0)
    ordered = sorted(set(levels))
    some = ordered[:: math.ceil(len(ordered) / _LEVELS_MOST)]  # as many trials of fewer levels, which take less time
    std *= math.sqrt(len(some) / len(ordered))
    ends = []
    for _ in range(draws):
        drawn = [
            (level, level / (1 + CONTENTION * (level / unit - 1)) * math.exp(error))
            for level in some
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
