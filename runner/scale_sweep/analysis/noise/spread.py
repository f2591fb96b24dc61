"""The spread of the replicates, and the ratios that are judged by it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from scale_sweep.analysis.confidence import POWER, REPEATS_MAX, half_of_mean, pooled_squares, smallest_of, student
from scale_sweep.analysis.noise.agreement import agreement_of
from scale_sweep.analysis.noise.drift_test import log_value, steadied, trend_of
from scale_sweep.analysis.noise.parts import parts_of
from scale_sweep.model.fitted import PointSummary
from scale_sweep.model.observed import AblationSplit, Drift, LevelInterval, NoiseReport, Observation, Ratio, Trend

Point = tuple[float, str]


@dataclass(frozen=True, kw_only=True)
class PooledRates:
    """ln(rate) of the VALID trials on the curve."""

    logs: Mapping[Point, tuple[float, ...]]
    points: tuple[Point, ...]  # all that were planned and ran, also those without a VALID trial
    std: float | None  # pooled, with its degrees of freedom; None: unknown
    degrees: int
    # the variance that removing the drift adds to a point's mean, in units of one trial's variance
    leverage: Mapping[Point, float] = field(default_factory=dict)
    apart: frozenset[Point] = frozenset()  # the points whose replicates differ by more than their windows explain


def rates_of(observed: Sequence[Observation]) -> PooledRates:
    """With the pooled spread; a drift is removed."""
    agreement = agreement_of(observed)
    apart = frozenset((one.level, one.variant) for one in agreement.apart) if agreement is not None else frozenset()
    steady, line = steadied(observed)
    rates = replace(_as_measured(steady), apart=apart)
    if line is None:
        return rates
    orders: dict[Point, list[float]] = {}
    for one in observed:
        if one.role == "point" and not one.mark and log_value(one):
            orders.setdefault(one.point, []).append(one.order)
    return replace(
        rates,
        std=math.sqrt(line.squares / line.degrees),
        degrees=line.degrees,
        leverage={point: line.leverage(orders[point]) if point in orders else 0.0 for point in rates.logs},
    )


def _as_measured(observed: Sequence[Observation]) -> PooledRates:
    """Drift checks and ablation trials are no points; replicates of ablation trials show noise."""
    groups: dict[Point, list[float]] = {}
    ablations: dict[tuple[Point, float | None], list[float]] = {}
    points: dict[Point, None] = {}
    for one in observed:
        value = log_value(one)
        if one.role == "point":
            points[one.point] = None
        if one.mark or value is None or one.role == "drift_check":
            continue
        if one.role == "ablation":
            ablations.setdefault((one.point, one.knobs_of_level), []).append(value)
        else:
            groups.setdefault(one.point, []).append(value)
    squares, degrees = pooled_squares((*groups.values(), *ablations.values()))
    return PooledRates(
        logs={point: tuple(logs) for point, logs in groups.items()},
        points=tuple(sorted(points)),
        std=math.sqrt(squares / degrees) if degrees else None,
        degrees=degrees,
    )


def intervals(rates: PooledRates) -> tuple[LevelInterval, ...]:
    return tuple(_interval(rates, point) for point in rates.points)


def with_intervals(points: Sequence[PointSummary], observed: Sequence[Observation]) -> tuple[PointSummary, ...]:
    """With intervals that allow for a removed drift; unchanged for several subjects."""
    if len({o.subject for o in observed}) > 1:
        return tuple(points)
    factors = {i.level: 1 + i.half_percent / 100 for i in intervals(rates_of(observed)) if i.half_percent is not None}
    return tuple(
        replace(p, mean_low=p.rate_mean / factors[p.level], mean_high=p.rate_mean * factors[p.level])
        if p.level in factors
        else p
        for p in points
    )


def _interval(rates: PooledRates, point: Point) -> LevelInterval:
    logs, half = rates.logs.get(point, ()), None
    if logs and rates.std is not None:
        own = statistics.stdev(logs) if len(logs) > 1 else 0.0
        half = half_of_mean(len(logs), own, rates.std, rates.degrees, rates.leverage.get(point, 0.0))
        if point in rates.apart and own > rates.std:
            half = max(half, student(len(logs) - 1) * own / math.sqrt(len(logs)))
    return LevelInterval(
        level=point[0],
        variant=point[1],
        n=len(logs),
        mean=math.exp(sum(logs) / len(logs)) if logs else None,
        half_percent=100 * math.expm1(half) if half is not None else None,
        disagrees=point in rates.apart,
    )


def smallest_difference_percent(rates: PooledRates) -> float | None:
    sizes = [len(logs) for logs in rates.logs.values()]
    if rates.std is None or len(sizes) < 2:
        return None
    return smallest_of(rates.std, rates.degrees, min(sizes))


def replicates_for_drift(trend: Trend, points: int, percent: float) -> int | None:
    """The fewest with which a drift of this percentage is seen four times in five; None above REPEATS_MAX. With R
    replicates of L points in blocks, its standard error is proportional to (R L − 1) / √(R (R² − 1)) for independent
    trials."""
    if trend.ratio.high is None or points < 1:
        return None

    def size(replicates: float) -> float:
        independent = (replicates * points - 1) / math.sqrt(replicates * (replicates**2 - 1))
        return independent * math.sqrt(_inflation_of_drift(round(replicates), points, trend.alike))

    trials = trend.degrees + points + 1
    error = math.log(trend.ratio.high / trend.ratio.value) / student(trend.degrees) / size(trials / points)
    for count in range(math.ceil(trials / points), REPEATS_MAX + 1):
        degrees = max(1, points * (count - 1) - 1)
        if (student(degrees) + student(degrees, POWER)) * error * size(count) <= math.log1p(percent / 100):
            return count
    return None


def _inflation_of_drift(replicates: int, points: int, alike: float) -> float:
    """Σ cᵢ cⱼ φ^|i − j| / Σ cᵢ², for AR(1) trials and weights c, the distance of a trial's block from the middle
    one."""
    own = across = before = 0.0
    for trial in range(replicates * points):
        weight = trial // points - (replicates - 1) / 2
        own += weight**2
        across += weight * before
        before = alike * (before + weight)
    return 1 + 2 * across / own if own else 1.0


def ratio_of(later: Sequence[float], earlier: Sequence[float], rates: PooledRates) -> Ratio:
    """The ratio of two means of logs, with the interval of the pooled spread."""
    difference = sum(later) / len(later) - sum(earlier) / len(earlier)
    if rates.std is None:
        return Ratio(value=math.exp(difference), low=None, high=None)
    half = student(rates.degrees) * rates.std * math.sqrt(1 / len(later) + 1 / len(earlier))
    return Ratio(value=math.exp(difference), low=math.exp(difference - half), high=math.exp(difference + half))


def ablation_splits(observed: Sequence[Observation], rates: PooledRates) -> tuple[AblationSplit, ...]:
    """For each boundary with counting trials before it, after it, and after it with the old knobs."""
    ablated: dict[tuple[float, float, str], list[Observation]] = {}
    for one in observed:
        if one.role == "ablation" and one.knobs_of_level is not None:
            ablated.setdefault((one.knobs_of_level, *one.point), []).append(one)
    splits = []
    for (before, after, subject), of_it in sorted(ablated.items()):
        old, new = rates.logs.get((before, subject)), rates.logs.get((after, subject))
        middle = [value for o in of_it if not o.mark and (value := log_value(o)) is not None]
        if old and new and middle:
            split = AblationSplit(
                before=before,
                after=after,
                variant=subject,
                total=ratio_of(new, old, rates),
                hardware=ratio_of(middle, old, rates),
                by_knobs=ratio_of(new, middle, rates),
            )
            splits.append(split)
    return tuple(splits)


def later_rates(observed: Sequence[Observation], rates: PooledRates) -> tuple[tuple[float, Ratio], ...]:
    """By level: the rate in the second half of a sentinel's window over the mean of the trials."""
    later = []
    for one in observed:
        logs, value = rates.logs.get(one.point), log_value(one)
        halves = one.window.halves if one.window else None
        if one.role == one.mark == "sentinel" and logs and value is not None and halves is not None:
            later.append((one.level, ratio_of([value + math.log1p(max(halves, -1.9) / 2)], logs, rates)))
    return tuple(later)


def drift_of(observed: Sequence[Observation], rates: PooledRates) -> Drift | None:
    """Drift check against the first trial of its point."""
    known = [(o, log) for o in observed if (log := log_value(o)) is not None]
    check = next((one for one in known if one[0].role == "drift_check"), None)
    same = [one for one in known if check and one[0].role == "point" and one[0].point == check[0].point]
    if check is None or not same:
        return None
    (repeat, later), (first, earlier) = check, min(same, key=lambda one: one[0].order)
    return Drift(
        first_order=first.order,
        repeat_order=repeat.order,
        ratio=ratio_of([later], [earlier], rates),
        are_valid=not first.mark and not repeat.mark,
    )


def noise_report(observed: Sequence[Observation]) -> NoiseReport:
    """Everything about a run's noise."""
    rates = rates_of(observed)
    return NoiseReport(
        levels=intervals(rates),
        noise_percent=100 * rates.std if rates.std is not None else None,
        smallest_difference_percent=smallest_difference_percent(rates),
        drift=drift_of(observed, rates),
        ablations=ablation_splits(steadied(observed)[0], rates),
        trend=trend_of(observed),
        later=later_rates(observed, rates),
        agreement=agreement_of(observed),
        parts=parts_of([observed]),
    )
