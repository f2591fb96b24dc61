"""Spread of the replicates about their point's mean, and what follows from it. Spreads are of ln(rate): relative.

The pooled spread assumes that all points are equally noisy in relative terms. Where a point of three or more trials is
noisier than the others, its own spread makes its interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy import special

from runner.model import LevelInterval, Observation, Ratio

CONFIDENCE = 0.95
POWER = 0.80
OWN_SPREAD_FROM = 3
Point = tuple[float, str]


@dataclass(frozen=True, kw_only=True)
class Rates:
    """ln(rate) of the VALID trials on the curve by point; std: pooled, with its degrees of freedom; None: unknown.

    points: all that were planned and ran, also those without a VALID trial.
    """

    logs: Mapping[Point, tuple[float, ...]]
    points: tuple[Point, ...]
    std: float | None
    degrees: int


def log_value(observed: Observation) -> float | None:
    """ln of the value, None where it has none above 0."""
    value = observed.value
    return math.log(value) if value is not None and math.isfinite(value) and value > 0 else None


def rates_of(observed: Sequence[Observation]) -> Rates:
    """By point, with the pooled spread. Anchors and bridges are no points, but a bridge's replicates tell of noise."""
    groups: dict[Point, list[float]] = {}
    bridges: dict[tuple[Point, float | None], list[float]] = {}
    points: dict[Point, None] = {}
    for one in observed:
        value = log_value(one)
        if one.role == "point":
            points[one.point] = None
        if one.mark or value is None or one.role == "anchor":
            continue
        if one.role == "bridge":
            bridges.setdefault((one.point, one.bridged_from), []).append(value)
        else:
            groups.setdefault(one.point, []).append(value)
    squares, degrees = 0.0, 0
    for logs in (*groups.values(), *bridges.values()):
        mean = sum(logs) / len(logs)
        squares += sum((v - mean) ** 2 for v in logs)
        degrees += len(logs) - 1
    return Rates(
        logs={point: tuple(logs) for point, logs in groups.items()},
        points=tuple(sorted(points)),
        std=math.sqrt(squares / degrees) if degrees else None,
        degrees=degrees,
    )


def intervals(rates: Rates) -> tuple[LevelInterval, ...]:
    """Of each point, ascending by level."""
    return tuple(_interval(rates, point) for point in rates.points)


def _interval(rates: Rates, point: Point) -> LevelInterval:
    logs = rates.logs.get(point, ())
    mean = math.exp(sum(logs) / len(logs)) if logs else None
    return LevelInterval(level=point[0], variant=point[1], n=len(logs), mean=mean, half_percent=_half(rates, logs))


def _half(rates: Rates, logs: Sequence[float]) -> float | None:
    if not logs or rates.std is None:
        return None
    half = student(rates.degrees) * rates.std / math.sqrt(len(logs))
    if len(logs) >= OWN_SPREAD_FROM:
        mean = sum(logs) / len(logs)
        own = math.sqrt(sum((v - mean) ** 2 for v in logs) / (len(logs) - 1))
        half = max(half, student(len(logs) - 1) * own / math.sqrt(len(logs))) if own > rates.std else half
    return 100 * math.expm1(half)


def student(degrees: int, probability: float = (1 + CONFIDENCE) / 2) -> float:
    """Quantile of Student's t."""
    return float(special.stdtrit(degrees, probability))


def smallest_difference_percent(rates: Rates) -> float | None:
    """(t(1 - 5 %/2) + t(80 %)) s sqrt(2/n): the difference of two means of n trials that a test at 5 % sees four times
    in five (the usual normal-theory sample size formula, with Student's t for the pooled spread s); n: the fewest."""
    sizes = [len(logs) for logs in rates.logs.values()]
    if rates.std is None or len(sizes) < 2:
        return None
    factor = student(rates.degrees) + student(rates.degrees, POWER)
    return 100 * math.expm1(factor * rates.std * math.sqrt(2 / min(sizes)))


def ratio_of(later: Sequence[float], earlier: Sequence[float], rates: Rates) -> Ratio:
    """exp of the difference of two means of logs, with the interval that the pooled spread gives. Both not empty."""
    difference = sum(later) / len(later) - sum(earlier) / len(earlier)
    if rates.std is None:
        return Ratio(value=math.exp(difference), low=None, high=None)
    half = student(rates.degrees) * rates.std * math.sqrt(1 / len(later) + 1 / len(earlier))
    return Ratio(value=math.exp(difference), low=math.exp(difference - half), high=math.exp(difference + half))
