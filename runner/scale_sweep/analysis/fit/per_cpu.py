"""The curve of the rate for each CPU-second: each level's mean, and the speedup that follows from it. Pure.

speedup(n) = a(n) / a(n₀), where a is the rate if the server had had the CPU time that others took from it
(scale_sweep/model/cpu_seconds.py). It is an estimate: it assumes that a CPU-second does as much work beside other
programs as alone, and that the server would have used the CPU time that others took.
Refuses an interval without replicates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.special import stdtrit

from scale_sweep.analysis.fit.models import Floats
from scale_sweep.analysis.fit.summaries import Noise, noise_floor, usable
from scale_sweep.model import CpuPoint, Observation

CONFIDENCE = 0.95


def cpu_points(per_cpu_s: Sequence[Observation], alone: Sequence[Observation]) -> tuple[CpuPoint, ...]:
    """A point for each level that has a value, ascending.

    per_cpu_s: rates for each CPU-second; alone: of the same trials, the rates if others had taken no CPU time.
    """
    data = usable(alone)
    levels, noise, means = data.by_level, noise_floor(data), dict(usable(per_cpu_s).by_level)
    return tuple(_point(levels[0], at, _geometric(means[at[0]]), noise) for at in levels)


def _point(first: tuple[float, Floats], here: tuple[float, Floats], per_cpu_s: float, noise: Noise | None) -> CpuPoint:
    (base, base_rates), (level, rates) = first, here
    speedup = _geometric(rates) / _geometric(base_rates)
    low = high = None
    if noise is not None and level != base:
        error = noise.std * math.sqrt(1 / len(rates) + 1 / len(base_rates))
        factor = math.exp(float(stdtrit(noise.degrees, (1 + CONFIDENCE) / 2)) * error)
        low, high = speedup / factor, speedup * factor
    return CpuPoint(level=level, n=len(rates), rate_per_cpu_s=per_cpu_s, speedup=speedup, low=low, high=high)


def _geometric(rates: Floats) -> float:
    return math.exp(sum(map(math.log, rates)) / len(rates))
