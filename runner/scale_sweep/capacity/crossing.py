"""Where the response time crosses its limit: the logarithm of the excess over the limit, regressed on the logarithm of
the rate near the crossing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

CAP = 1.5  # of an excess: beyond 4.5 times the limit, or below a fifth of it, a probe only says on which side it is
NEAR = 0.12  # of ln(rate): the width of the weights
SLOPE, SLOPE_WEIGHT = 4.0, 0.003  # the slope expected before any probe, and how many squares of ln(rate) it is worth
SLOPE_LEAST = 1.0
TURNS = 12  # of weights around the last crossing
CAPPED_WEIGHT = 0.05


class Seen(Protocol):
    """The part of a probe that a regression needs."""

    @property
    def rate(self) -> float:
        """The offered rate."""

    @property
    def excess(self) -> float | None:
        """ln(value / limit); None: the rate was over capacity."""


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """at: ln(rate) of the crossing. slope: there. spread: standard deviation of the excess around the line. error:
    standard error of `at`. worth: the number of probes that the weights come to."""

    at: float
    slope: float
    spread: float
    error: float
    worth: float


def capped(excess: float | None) -> float:
    """The excess within the caps."""
    return CAP if excess is None else max(-CAP, min(CAP, excess))


def rise(seen: Sequence[Seen]) -> float:
    """By how many percent the response time rises with 1 % of the rate, over all probes."""
    points = [(math.log(one.rate), capped(one.excess)) for one in seen]
    x_mean, y_mean = (sum(values) / len(points) for values in zip(*points, strict=True))
    squares = sum((x - x_mean) ** 2 for x, _ in points)
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / squares if squares else 0.0


def crossing(seen: Sequence[Seen]) -> Crossing:
    """The crossing of probes, of which there is at least one."""
    points = [(math.log(one.rate), capped(one.excess)) for one in seen]
    at = min(points, key=lambda point: abs(point[1]))[0]
    at_root = _fitted(points, at)
    for _ in range(TURNS):
        at = max(min(x for x, _ in points) - NEAR, min(max(x for x, _ in points) + NEAR, at_root.at))
        at_root = _fitted(points, at)
    return at_root


def _weight(x: float, y: float, at: float) -> float:
    near = math.exp(-0.5 * ((x - at) / NEAR) ** 2)
    return near * (CAPPED_WEIGHT if abs(y) >= CAP else 1.0)


def _fitted(points: Sequence[tuple[float, float]], at: float) -> Crossing:
    weights = [max(1e-9, _weight(x, y, at)) for x, y in points]
    total = sum(weights)
    middle = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / total
    mean = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / total
    squares = sum(w * (x - middle) ** 2 for w, (x, _) in zip(weights, points, strict=True))
    products = sum(w * (x - middle) * (y - mean) for w, (x, y) in zip(weights, points, strict=True))
    slope = max(SLOPE_LEAST, (products + SLOPE_WEIGHT * SLOPE) / (squares + SLOPE_WEIGHT))
    rests = [w * (y - mean - slope * (x - middle)) ** 2 for w, (x, y) in zip(weights, points, strict=True)]
    worth = total**2 / sum(w * w for w in weights)
    spread = math.sqrt(sum(rests) / total * worth / max(1.0, worth - 2.0))
    root = middle - mean / slope
    error = spread / slope * math.sqrt(1 / worth + (root - middle) ** 2 / (squares + SLOPE_WEIGHT) * total / worth)
    return Crossing(at=root, slope=slope, spread=spread, error=error, worth=worth)
