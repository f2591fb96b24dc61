"""Observations → points: which observations count, each level's mean and spread, speedup, pooled spread."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scale_sweep.analysis.confidence import half_of_mean, student
from scale_sweep.analysis.fit.models import Floats
from scale_sweep.analysis.fit.speedups import Speedup, paired_speedups
from scale_sweep.model import CpuPoint, Observation, PointSummary, RejectedLevel


@dataclass(frozen=True, kw_only=True)
class Usable:
    """The data of the fit: one level and one rate for each trial, by level. The rest is counted by its mark."""

    levels: Floats
    rates: Floats
    left_out: Mapping[str, int]
    blocks: Floats | None = None  # of each trial; None for plain rows, which have none
    rejected: tuple[RejectedLevel, ...] = ()  # the levels that lost trials, ascending
    # (level, rate) of the rejected trials of levels that lost a third or more but not all
    doubted: tuple[tuple[float, float], ...] = ()
    # for each note, the levels of counting trials that have it
    noted: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    is_quick: bool = False  # from short windows, which know no long-run rate

    @property
    def lost(self) -> tuple[RejectedLevel, ...]:
        return tuple(r for r in self.rejected if r.is_lost)

    @property
    def by_level(self) -> list[tuple[float, Floats]]:
        distinct, starts = np.unique(self.levels, return_index=True)
        return list(zip(map(float, distinct), np.split(self.rates, starts[1:]), strict=False))


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The pooled spread of ln(rate) within the levels, which is relative, and its degrees of freedom."""

    std: float
    degrees: int


def usable(observed: Sequence[Observation]) -> Usable:
    """The observations that count and have a value, by level. Drift checks and ablation trials are not on the curve."""
    points = [o for o in observed if o.role == "point"]
    kept = sorted((o.level, o.value, o.block) for o in points if not o.mark and o.value is not None)
    rejected = tuple(_rejected(points, level) for level in sorted({o.level for o in points if o.mark}))
    doubted = {r.level for r in rejected if r.is_doubted}
    table = np.array(kept, dtype=float).reshape(-1, 3)
    return Usable(
        levels=table[:, 0],
        rates=table[:, 1],
        blocks=table[:, 2],
        left_out=dict(Counter(o.mark for o in points if o.mark)),
        rejected=rejected,
        doubted=tuple((o.level, o.value) for o in points if o.mark and o.value is not None and o.level in doubted),
        noted={
            note: tuple(sorted({o.level for o in points if not o.mark and o.note == note}))
            for note in dict.fromkeys(o.note for o in points if not o.mark and o.note)
        },
    )


def _rejected(points: Sequence[Observation], level: float) -> RejectedLevel:
    here = [o for o in points if o.level == level]
    rates = [o.value for o in here if o.mark and o.value is not None]
    return RejectedLevel(
        level=level,
        marks=dict(Counter(o.mark for o in here if o.mark)),
        kept=sum(not o.mark and o.value is not None for o in here),
        rate=sum(rates) / len(rates) if rates else None,
    )


def pooled_noise(data: Usable) -> Noise | None:
    """The spread of the replicates about their level's mean; None if no level has two."""
    squares, degrees = 0.0, 0
    for _, rates in data.by_level:
        logs = np.log(rates)
        squares += float(np.sum((logs - logs.mean()) ** 2))
        degrees += len(logs) - 1
    return Noise(std=math.sqrt(squares / degrees), degrees=degrees) if degrees else None


def summaries(data: Usable, noise: Noise | None) -> tuple[PointSummary, ...]:
    """One summary for each level, ascending. Speedup and efficiency refer to the first."""
    paired = paired_speedups(data.levels, data.rates, data.blocks) if data.blocks is not None else {}
    points: list[PointSummary] = []
    for level, rates in data.by_level:
        first = points[0] if points else None
        mean = float(rates.mean())
        ratio = paired.get(level) or (_of_means(mean, len(rates), first, noise) if first and noise else None)
        speedup = ratio.value if ratio else mean / first.rate_mean if first else 1.0
        low, high = ratio.interval if ratio else (None, None)
        own = float(np.log(rates).std(ddof=1)) if len(rates) > 1 else 0.0
        factor = math.exp(half_of_mean(len(rates), own, noise.std, noise.degrees)) if noise else None
        points.append(
            PointSummary(
                level=level,
                n=len(rates),
                rate_mean=mean,
                rate_std=float(rates.std(ddof=1)) if len(rates) > 1 else None,
                mean_low=mean / factor if factor else None,
                mean_high=mean * factor if factor else None,
                speedup=speedup,
                efficiency=speedup / (level / first.level) if first else 1.0,
                speedup_std_err=speedup * ratio.error if ratio else None,
                speedup_low=low,
                speedup_high=high,
                speedup_degrees=ratio.degrees if ratio else None,
                speedup_blocks=ratio.blocks if ratio else 0,
            )
        )
    return tuple(points)


def _of_means(mean: float, trials: int, first: PointSummary, noise: Noise) -> Speedup:
    return Speedup(
        log=math.log(mean / first.rate_mean),
        error=noise.std * math.sqrt(1 / trials + 1 / first.n),
        degrees=noise.degrees,
    )


def cpu_points(per_cpu_s: Sequence[Observation], alone: Sequence[Observation]) -> tuple[CpuPoint, ...]:
    """A point for each level that has a value, ascending.

    per_cpu_s: rates for each CPU-second; alone: of the same trials, the rates if others had taken no CPU time.
    """
    data = usable(alone)
    levels, noise, means = data.by_level, pooled_noise(data), dict(usable(per_cpu_s).by_level)
    return tuple(_point(levels[0], at, _geometric(means[at[0]]), noise) for at in levels)


def _point(first: tuple[float, Floats], here: tuple[float, Floats], per_cpu_s: float, noise: Noise | None) -> CpuPoint:
    (base, base_rates), (level, rates) = first, here
    speedup = _geometric(rates) / _geometric(base_rates)
    low = high = None
    if noise is not None and level != base:
        error = noise.std * math.sqrt(1 / len(rates) + 1 / len(base_rates))
        factor = math.exp(student(noise.degrees) * error)
        low, high = speedup / factor, speedup * factor
    return CpuPoint(level=level, n=len(rates), rate_per_cpu_s=per_cpu_s, speedup=speedup, low=low, high=high)


def _geometric(rates: Floats) -> float:
    return math.exp(sum(map(math.log, rates)) / len(rates))
