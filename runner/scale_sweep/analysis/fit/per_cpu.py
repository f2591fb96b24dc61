"""The curve of the rate for each CPU-second: each level's mean, and the speedup that it stands for. Pure.

speedup(n) = r(n) / r(n₀) · n / n₀, where r is the rows for each CPU-second of the server. It is an estimate: it assumes
that a CPU-second does as much work beside other programs as alone, and that the server would use all cores of a level.
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


def cpu_points(observed: Sequence[Observation]) -> tuple[CpuPoint, ...]:
    """A point for each level that has a value, ascending. The values are rates for each CPU-second."""
    data = usable(observed)
    levels, noise = data.by_level, noise_floor(data)
    return tuple(_point(levels[0], at, noise) for at in levels)


def _point(first: tuple[float, Floats], here: tuple[float, Floats], noise: Noise | None) -> CpuPoint:
    (base, base_rates), (level, rates) = first, here
    mean, base_mean = _geometric(rates), _geometric(base_rates)
    speedup = mean / base_mean * level / base
    low = high = None
    if noise is not None and level != base:
        error = noise.std * math.sqrt(1 / len(rates) + 1 / len(base_rates))
        factor = math.exp(float(stdtrit(noise.degrees, (1 + CONFIDENCE) / 2)) * error)
        low, high = speedup / factor, speedup * factor
    return CpuPoint(level=level, n=len(rates), rate_per_cpu_s=mean, speedup=speedup, low=low, high=high)


def _geometric(rates: Floats) -> float:
    return math.exp(sum(map(math.log, rates)) / len(rates))
