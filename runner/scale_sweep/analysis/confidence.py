"""The 95 % of every interval and test, Student's t, and the model with effects of blocks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Floats = NDArray[np.float64]

SIGNIFICANCE = 0.05  # of every test
CONFIDENCE = 1 - SIGNIFICANCE  # of every interval
POWER = 0.80  # four times in five
OWN_SPREAD_FROM = 3
SOUGHT_PERCENT = 10.0  # of a rate: the size of the effects that sweeps look for, as for the trend within a short window
DIFFERENCE_MAX_PERCENT = 100.0  # if a rate could double without being noticed, a figure does not help the reader
REPEATS_MAX = 100  # no advice asks for more replicates, blocks or sessions


def student(degrees: float, probability: float = (1 + CONFIDENCE) / 2) -> float:
    """By default of a two-sided 95 % interval."""
    return float(stdtrit(degrees, probability))


def half_of_mean(count: int, own: float, std: float, degrees: int, leverage: float = 0.0) -> float:
    """Half of the 95 % interval of a mean of ln(rate). own: the trials' own spread, which three or more have if it is
    larger than the pooled std. leverage: what a removed drift adds, in units of one trial's variance."""
    half = student(degrees) * std * math.sqrt(1 / count + leverage)
    if count < OWN_SPREAD_FROM or own <= std:
        return half
    return max(half, student(count - 1) * own / math.sqrt(count))


def pooled_squares(groups: Iterable[Sequence[float]]) -> tuple[float, int]:
    """About the groups' own means, with the degrees of freedom."""
    squares, degrees = 0.0, 0
    for values in groups:
        mean = sum(values) / len(values)
        squares += sum((value - mean) ** 2 for value in values)
        degrees += len(values) - 1
    return squares, degrees


def smallest_of(std: float, degrees: int, count: int) -> float:
    """The difference in percent of two means of n trials, seen four times in five: (t(97.5 %) + t(80 %)) s √(2/n)."""
    factor = student(degrees) + student(degrees, POWER)
    return 100 * math.expm1(factor * std * math.sqrt(2 / count))


def replicates_for(percent: float, levels: int, std: float) -> int | None:
    """The fewest that show this difference between two levels; None above REPEATS_MAX."""
    counts = range(2, REPEATS_MAX + 1)
    return next((n for n in counts if smallest_of(std, levels * (n - 1), n) <= percent), None)


_ESTIMABLE = 1e-9


@dataclass(frozen=True, kw_only=True)
class BlockModel:
    """ln(rate) = mean of the level + effect of the block."""

    counts: Floats  # of each level's trials
    mean_log: Floats  # of each level
    mean_held: Floats  # (levels, blocks): the share of each level's trials in each block
    within: Floats  # (trials, blocks): the blocks of each trial, less the mean of its level
    back: Floats  # its pseudo-inverse
    effects: Floats  # of the blocks
    degrees: int
    squares: float  # of the residuals

    def is_known(self, moved: Floats) -> bool:
        """Whether the trials determine this combination of effects."""
        return bool(np.abs(moved - self.back @ (self.within @ moved)).max() <= _ESTIMABLE)


def block_model(logs: Floats, of_level: NDArray[np.intp], held: Floats) -> BlockModel:
    """held: (trials, blocks), 1 where the trial is in the block."""
    counts = np.bincount(of_level).astype(float)
    mean_log = np.bincount(of_level, logs) / counts
    mean_held = np.stack([held[of_level == at].mean(axis=0) for at in range(len(counts))])
    within = held - mean_held[of_level]
    back = np.linalg.pinv(within)
    effects = back @ (logs - mean_log[of_level])
    residuals = logs - mean_log[of_level] - within @ effects
    return BlockModel(
        counts=counts,
        mean_log=mean_log,
        mean_held=mean_held,
        within=within,
        back=back,
        effects=effects,
        degrees=len(logs) - len(counts) - int(np.linalg.matrix_rank(within)),
        squares=float(residuals @ residuals),
    )
