"""The speedup of each level against the first, with its 95 % interval, from ratios within blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scale_sweep.analysis.confidence import student
from scale_sweep.analysis.fit.models import Floats

DEGREES_MIN = 3  # with fewer, the pooled spread of the replicates knows more than the ratios of the blocks
OWN_FROM = 3  # ratios of a level
_ESTIMABLE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Speedup:
    """log: ln(speedup), with its standard error and the error's degrees of freedom. blocks: those that hold both
    levels; 0 if the ratio is one of means."""

    log: float
    error: float
    degrees: int
    blocks: int = 0

    @property
    def value(self) -> float:
        """The speedup."""
        return math.exp(self.log)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval by Student's t."""
        half = student(self.degrees) * self.error
        return math.exp(self.log - half), math.exp(self.log + half)


def paired_speedups(levels: Floats, rates: Floats, blocks: Floats) -> Mapping[float, Speedup]:
    """The speedup of each level above the first. A level that no block joins to the first, directly or through others,
    has none; no level has one where fewer than DEGREES_MIN degrees of freedom are left."""
    if len(levels) == 0 or len(np.unique(blocks)) < 2:
        return {}
    logs = np.log(rates)
    distinct, of_level = np.unique(levels, return_inverse=True)
    counts = np.bincount(of_level).astype(float)
    held = (blocks[:, None] == np.unique(blocks)[None, :]).astype(float)
    mean_held = np.stack([held[of_level == i].mean(axis=0) for i in range(len(distinct))])
    mean_log = np.bincount(of_level, logs) / counts
    within = held - mean_held[of_level]
    back = np.linalg.pinv(within)
    effects = back @ (logs - mean_log[of_level])
    residuals = logs - mean_log[of_level] - within @ effects
    degrees = len(logs) - len(distinct) - int(np.linalg.matrix_rank(within))
    if degrees < DEGREES_MIN:
        return {}
    variance, spread_of_effects = float(residuals @ residuals) / degrees, back @ back.T
    made = {}
    for at, level in enumerate(distinct[1:], start=1):
        moved = mean_held[at] - mean_held[0]
        if np.abs(moved - back @ (within @ moved)).max() > _ESTIMABLE:
            continue
        pooled = Speedup(
            log=float(mean_log[at] - mean_log[0] - moved @ effects),
            error=math.sqrt(variance * (1 / counts[at] + 1 / counts[0] + float(moved @ spread_of_effects @ moved))),
            degrees=degrees,
        )
        made[float(level)] = _of_own_ratios(pooled, _ratios(logs, of_level, blocks, at))
    return made


def ratios_to_first(levels: Floats, logs: Floats, blocks: Floats) -> Mapping[float, Floats]:
    """By level above the first: ln(rate of the level / rate of the first) of each block that holds both."""
    distinct, of_level = np.unique(levels, return_inverse=True)
    return {float(level): _ratios(logs, of_level, blocks, at) for at, level in enumerate(distinct) if at}


def _ratios(logs: Floats, of_level: NDArray[np.intp], blocks: Floats, at: int) -> Floats:
    """ln(rate of the level / rate of the first) of each block that holds both."""
    both = np.intersect1d(blocks[of_level == at], blocks[of_level == 0])

    def mean(level: int, block: float) -> float:
        return float(logs[(of_level == level) & (blocks == block)].mean())

    return np.array([mean(at, block) - mean(0, block) for block in both])


def _of_own_ratios(pooled: Speedup, ratios: Floats) -> Speedup:
    own = float(ratios.std(ddof=1)) / math.sqrt(len(ratios)) if len(ratios) >= OWN_FROM else 0.0
    if own <= pooled.error:
        return Speedup(log=pooled.log, error=pooled.error, degrees=pooled.degrees, blocks=len(ratios))
    return Speedup(log=pooled.log, error=own, degrees=len(ratios) - 1, blocks=len(ratios))
