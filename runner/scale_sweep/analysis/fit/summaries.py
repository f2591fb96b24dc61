"""Observations → points, with speedups, ranges of pairs and of another day. With two levels the test of a speedup is
Student's paired t test on ln of each block's ratio (Jain, The Art of Computer Systems Performance Analysis, section
13.4.1)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from scale_sweep.analysis.confidence import block_model, half_of_mean, student
from scale_sweep.analysis.fit.models import Floats
from scale_sweep.model.fitted import AnotherDay, CpuPoint, PointSummary, RejectedLevel
from scale_sweep.model.observed import Observation

DEGREES_MIN = 3  # with fewer, the pooled spread of the replicates knows more than the ratios of the blocks
OWN_FROM = 3  # ratios of a level


@dataclass(frozen=True, kw_only=True)
class Speedup:
    log: float  # ln(speedup)
    error: float  # standard, of log
    degrees: int  # of the error
    blocks: int = 0  # those that hold both levels; 0 if the ratio is one of means

    @property
    def value(self) -> float:
        return math.exp(self.log)

    @property
    def interval(self) -> tuple[float, float]:
        half = student(self.degrees) * self.error
        return math.exp(self.log - half), math.exp(self.log + half)


def paired_speedups(levels: Floats, rates: Floats, blocks: Floats) -> Mapping[float, Speedup]:
    """By levels that blocks join to the first, directly or through others."""
    return paired_differences(levels, np.log(rates), blocks)


def paired_differences(levels: Floats, logs: Floats, blocks: Floats) -> Mapping[float, Speedup]:
    """logs: of rates or of parts of them. Differences of parts add up to the difference of their sum."""
    if len(levels) == 0 or len(np.unique(blocks)) < 2:
        return {}
    distinct, of_level = np.unique(levels, return_inverse=True)
    model = block_model(logs, of_level, (blocks[:, None] == np.unique(blocks)[None, :]).astype(float))
    if model.degrees < DEGREES_MIN:
        return {}
    variance, spread_of_effects = model.squares / model.degrees, model.back @ model.back.T
    made = {}
    for at, level in enumerate(distinct[1:], start=1):
        moved = model.mean_held[at] - model.mean_held[0]
        if model.is_known(moved):
            of_means = 1 / model.counts[at] + 1 / model.counts[0] + float(moved @ spread_of_effects @ moved)
            ratios = _ratios(logs, of_level, blocks, at)
            error, degrees = math.sqrt(variance * of_means), model.degrees
            own = float(ratios.std(ddof=1)) / math.sqrt(len(ratios)) if len(ratios) >= OWN_FROM else 0.0
            if own > error:
                error, degrees = own, len(ratios) - 1
            log = float(model.mean_log[at] - model.mean_log[0] - moved @ model.effects)
            made[float(level)] = Speedup(log=log, error=error, degrees=degrees, blocks=len(ratios))
    return made


def ratios_to_first(levels: Floats, logs: Floats, blocks: Floats) -> Mapping[float, Floats]:
    """By level: ln(rate / rate of the first) of each block with both."""
    distinct, of_level = np.unique(levels, return_inverse=True)
    return {float(level): _ratios(logs, of_level, blocks, at) for at, level in enumerate(distinct) if at}


def _ratios(logs: Floats, of_level: NDArray[np.intp], blocks: Floats, at: int) -> Floats:
    both = np.intersect1d(blocks[of_level == at], blocks[of_level == 0])

    def mean(level: int, block: float) -> float:
        return float(logs[(of_level == level) & (blocks == block)].mean())

    return np.array([mean(at, block) - mean(0, block) for block in both])


@dataclass(frozen=True, kw_only=True)
class Usable:
    """One level and rate for each trial, by level."""

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
    """The pooled spread of ln(rate) within the levels."""

    std: float
    degrees: int


def usable(observed: Sequence[Observation]) -> Usable:
    """Those that count and have a value, by level."""
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
    """About the levels' means; None if no level has two."""
    squares, degrees = 0.0, 0
    for _, rates in data.by_level:
        logs = np.log(rates)
        squares += float(np.sum((logs - logs.mean()) ** 2))
        degrees += len(logs) - 1
    return Noise(std=math.sqrt(squares / degrees), degrees=degrees) if degrees else None


def summaries(data: Usable, noise: Noise | None) -> tuple[PointSummary, ...]:
    """By level; speedup and efficiency refer to the first."""
    paired = paired_speedups(data.levels, data.rates, data.blocks) if data.blocks is not None else {}
    points: list[PointSummary] = []
    for level, rates in data.by_level:
        first = points[0] if points else None
        mean = float(rates.mean())
        ratio = paired.get(level)
        if ratio is None and first and noise:
            error = noise.std * math.sqrt(1 / len(rates) + 1 / first.n)
            ratio = Speedup(log=math.log(mean / first.rate_mean), error=error, degrees=noise.degrees)
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


def cpu_points(per_cpu_s: Sequence[Observation], alone: Sequence[Observation]) -> tuple[CpuPoint, ...]:
    """per_cpu_s: rates for each CPU-second. alone: rates if others had taken no CPU time."""
    data = usable(alone)
    levels, noise, means = data.by_level, pooled_noise(data), dict(usable(per_cpu_s).by_level)
    points = []
    for level, rates in levels:
        base, base_rates = levels[0]
        speedup = _geometric(rates) / _geometric(base_rates)
        low = high = None
        if noise is not None and level != base:
            error = noise.std * math.sqrt(1 / len(rates) + 1 / len(base_rates))
            factor = math.exp(student(noise.degrees) * error)
            low, high = speedup / factor, speedup * factor
        per_cpu = _geometric(means[level])
        points.append(CpuPoint(level=level, n=len(rates), rate_per_cpu_s=per_cpu, speedup=speedup, low=low, high=high))
    return tuple(points)


def _geometric(rates: Floats) -> float:
    return math.exp(sum(map(math.log, rates)) / len(rates))


DAY = 0.05  # of ln(speedup) between days; bench/evidence/another_day.csv has the result for other spreads
PRIOR_DAYS = 4
CONFORMAL_FROM = 10


def holds_median(pairs: int) -> float:
    return 1 - 2.0 ** (1 - pairs)


def with_pairs(points: Sequence[PointSummary], data: Usable) -> tuple[PointSummary, ...]:
    """Ratios of the blocks that hold it and the first level, in place of 95 % intervals."""
    ratios = ratios_to_first(data.levels, np.log(data.rates), data.blocks) if data.blocks is not None else {}
    return tuple(
        replace(
            p,
            mean_low=None,
            mean_high=None,
            speedup_std_err=None,
            speedup_low=None,
            speedup_high=None,
            speedup_degrees=None,
            pairs=tuple(sorted(map(math.exp, ratios.get(p.level, ())))),
        )
        for p in points
    )


def another_day(point: PointSummary, earlier: Sequence[float]) -> AnotherDay | None:
    """earlier: speedups of stored repetitions, oldest first."""
    if not point.pairs or not point.speedup:
        return None
    logs = [math.log(value) for value in earlier if 0 < value < math.inf]
    if len(logs) >= CONFORMAL_FROM:
        far = (len(logs) - 1) // 2  # days that resemble each other are near each other
        half = max(abs(b - a) for a, b in zip(logs, [*logs[far:], *logs[:far]], strict=True))
    else:
        squares = sum((one - fmean(logs)) ** 2 for one in logs) if logs else 0.0
        degrees = PRIOR_DAYS + max(len(logs) - 1, 0)
        half = student(degrees) * math.sqrt((PRIOR_DAYS * DAY**2 + squares) / degrees)
    own = math.log(point.pairs[-1] / point.pairs[0]) / 2
    half = max(half, own)
    low, high = point.speedup * math.exp(-half), point.speedup * math.exp(half)
    return AnotherDay(low=low, high=high, repetitions=len(logs))
