"""The search of the highest rate that holds an objective, by steps, and where the response time crosses its limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

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
    return CAP if excess is None else max(-CAP, min(CAP, excess))


def rise(seen: Sequence[Seen]) -> float:
    """By how many percent the response time rises with 1 % of the rate, over all probes."""
    points = [(math.log(one.rate), capped(one.excess)) for one in seen]
    x_mean, y_mean = (sum(values) / len(points) for values in zip(*points, strict=True))
    squares = sum((x - x_mean) ** 2 for x, _ in points)
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / squares if squares else 0.0


def crossing(seen: Sequence[Seen]) -> Crossing:
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


OPENING_S: Final = 5.0  # seconds of the closed loop that a search begins with, after its warm-up
WARMUP_S: Final = 1.0  # seconds of a step that are discarded: a queue below capacity settles in a fraction of that
BETWEEN_S: Final = 0.5  # seconds from the end of a step to the begin of the next one


PROBES = 14  # usable ones
PROBES_MAX = 20  # with those that were left out
USABLE_LEAST = 8  # for an answer
HOPELESS = 6  # left out one after another: the machine is not left alone
BEGIN = 0.7  # of the rate of the closed loop
UP, DOWN = 1.25, 0.7  # to the next rate, while all probes were on one side
LOWEST = 0.02  # of the rate of the closed loop: if even this does not hold, no rate does
HIGHEST = 8.0
SAME = 0.001  # between the rates of a probe and of its repetition: a rate is rounded to whole requests
AROUND = (0.0, -0.06, 0.04, -0.02, 0.06, -0.04, 0.02)  # from the crossing, in turn, so that the slope is known


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A step as the search sees it."""

    rate: float
    # ln(value / limit) of the condition furthest from holding; None: the rate was over capacity (not achieved, or a
    # backlog that grew)
    excess: float | None
    usable: bool = True  # False for a step that others disturbed
    too_fast: bool = False  # of such a step, the load generator could not keep up, so that a lower rate may be usable

    @property
    def holds(self) -> bool:
        """Whether the objective held."""
        return self.excess is not None and self.excess < 0


def next_rate(begin: float, probes: Sequence[Probe]) -> float | None:
    """The next rate to offer; None: the search is over. begin: what a closed loop reached. A probe that is not usable
    is repeated once. It moves the search only if its rate was the reason. The first probe is repeated if it
    alone failed."""
    usable = believed(probes)
    if len(usable) >= PROBES or len(probes) >= PROBES_MAX or _is_hopeless(probes):
        return None
    if probes and not probes[-1].usable and (len(probes) < 2 or probes[-2].rate != probes[-1].rate):
        return probes[-1].rate
    if not usable:
        return probes[-1].rate * (DOWN if probes[-1].too_fast else 1.0) if probes else BEGIN * begin
    held = [probe.rate for probe in usable if probe.holds]
    failed = [probe.rate for probe in usable if not probe.holds]
    too_fast = {probe.rate for probe in probes if probe.too_fast}
    if not held:
        rate = _moved(min(failed), DOWN, sum(rate < min(failed) for rate in too_fast))
        return rate if rate >= LOWEST * begin else None
    if not failed:
        rate = _moved(max(held), UP, sum(rate > max(held) for rate in too_fast))
        return rate if rate <= HIGHEST * begin else None
    if failed == [probes[0].rate] and not _repetitions(probes):
        return probes[0].rate
    return _near(usable, len(probes))


def believed(probes: Sequence[Probe]) -> list[Probe]:
    """The usable probes. The first one follows the closed loop, which loaded the server fully, and may have waited for
    what that left behind: if it failed and its repetition held, it does not count."""
    usable = [probe for probe in probes if probe.usable]
    if usable and not usable[0].holds and any(probe.usable and probe.holds for probe in _repetitions(probes)):
        return usable[1:]
    return usable


def _repetitions(probes: Sequence[Probe]) -> list[Probe]:
    return [probe for probe in probes[1:] if abs(probe.rate / probes[0].rate - 1) <= SAME]


def _is_hopeless(probes: Sequence[Probe]) -> bool:
    usable, last = len(believed(probes)), probes[-HOPELESS:]
    if usable >= USABLE_LEAST:
        return False
    in_a_row = len(last) == HOPELESS and not any(probe.usable for probe in last)
    return in_a_row or usable + PROBES_MAX - len(probes) < USABLE_LEAST


def _moved(rate: float, factor: float, too_fast: int) -> float:
    """The rate a factor further. too_fast: rates on that side that were too fast for the load generator; each of them
    halves the way, because the same rate once more would be left out for the same reason."""
    return float(rate * factor ** (0.5**too_fast))


def _near(usable: Sequence[Probe], number: int) -> float:
    """A rate near the crossing, at most one of AROUND outside of all that were offered. A probe may have failed by
    chance, so the lowest rate that failed is no bound."""
    around = AROUND[number % len(AROUND)]
    rates = [math.log(probe.rate) for probe in usable]
    at = max(min(rates), min(max(rates), crossing(usable).at))
    return math.exp(at + around)
