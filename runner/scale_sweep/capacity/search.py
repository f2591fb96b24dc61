"""The search of the highest rate that holds an objective, its answer, and windows that confirm it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from scale_sweep.base.units import counted, format_rate

CAP = 1.5  # of an excess: beyond 4.5 times the limit, or below a fifth of it, a probe only says on which side it is
NEAR = 0.12  # of ln(rate): the width of the weights
SLOPE, SLOPE_WEIGHT = 4.0, 0.003  # the slope expected before any probe, and how many squares of ln(rate) it is worth
SLOPE_LEAST = 1.0
TURNS = 12  # of weights around the last crossing
CAPPED_WEIGHT = 0.05


class Tried(Protocol):
    """A rate that was offered: a probe, or a stored step."""

    @property
    def rate(self) -> float: ...
    @property
    def excess(self) -> float | None: ...
    @property
    def usable(self) -> bool: ...
    @property
    def holds(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Crossing:
    at: float  # ln(rate)
    spread: float  # standard deviation of the excess around the line
    error: float  # standard error of `at`
    worth: float  # the number of probes that the weights come to


def capped(excess: float | None) -> float:
    return CAP if excess is None else max(-CAP, min(CAP, excess))


def rise(seen: Sequence[Tried]) -> float:
    """The rise of the response time in percent with 1 % of the rate."""
    points = [(math.log(one.rate), capped(one.excess)) for one in seen]
    x_mean, y_mean = (sum(values) / len(points) for values in zip(*points, strict=True))
    squares = sum((x - x_mean) ** 2 for x, _ in points)
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / squares if squares else 0.0


def crossing(seen: Sequence[Tried]) -> Crossing:
    points = [(math.log(one.rate), capped(one.excess)) for one in seen]
    at = min(points, key=lambda point: abs(point[1]))[0]
    at_root = _fitted(points, at)
    for _ in range(TURNS):
        at = max(min(x for x, _ in points) - NEAR, min(max(x for x, _ in points) + NEAR, at_root.at))
        at_root = _fitted(points, at)
    return at_root


def _fitted(points: Sequence[tuple[float, float]], at: float) -> Crossing:
    near = [math.exp(-0.5 * ((x - at) / NEAR) ** 2) for x, _ in points]
    weights = [max(1e-9, w * (CAPPED_WEIGHT if abs(y) >= CAP else 1.0)) for w, (_, y) in zip(near, points, strict=True)]
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
    return Crossing(at=root, spread=spread, error=error, worth=worth)


OPENING_S: Final = 5.0  # seconds of the closed loop that a search begins with, after its warm-up
WARMUP_S: Final = 1.0  # seconds of a step that are discarded: a queue below capacity settles in a fraction of that
BETWEEN_S: Final = 0.5  # seconds from the end of a step to the begin of the next one


PROBES = 14  # usable ones
PROBES_MAX = 20  # with those that were left out
USABLE_LEAST = 8  # for an answer
HOPELESS = 6  # unusable probes in a row: other programs disturb the machine
BEGIN = 0.7  # of the rate of the closed loop
UP, DOWN = 1.25, 0.7  # to the next rate, while all probes were on one side
LOWEST = 0.02  # of the rate of the closed loop: if even this does not hold, no rate does
HIGHEST = 8.0
SAME = 0.001  # between the rates of a probe and of its repetition: a rate is rounded to whole requests
AROUND = (0.0, -0.06, 0.04, -0.02, 0.06, -0.04, 0.02)  # from the crossing, in turn, so that the slope is known


@dataclass(frozen=True, kw_only=True)
class Probe:
    rate: float
    excess: float | None  # ln(value / limit) of the condition furthest from holding; None: the rate was over capacity
    usable: bool = True  # False for a step that others disturbed
    too_fast: bool = False  # of such a step, the load generator could not keep up, so that a lower rate may be usable

    @property
    def holds(self) -> bool:
        return self.excess is not None and self.excess < 0


def next_rate(begin: float, probes: Sequence[Probe]) -> float | None:
    """None: the search is over. begin: what a closed loop reached. A probe that is not usable is repeated once, and
    moves the search only if its rate was the reason. The first one is repeated if it alone failed."""
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
    """The usable ones. The first may have waited for what the closed loop left: if its repetition held, it does not
    count."""
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
    """too_fast: rates there that the load generator could not offer; each halves the way."""
    return float(rate * factor ** (0.5**too_fast))


def _near(usable: Sequence[Probe], number: int) -> float:
    """At most one of AROUND outside of all that were offered: a rate may have failed by chance, so it is no bound."""
    rates = [math.log(probe.rate) for probe in usable]
    at = max(min(rates), min(max(rates), crossing(usable).at))
    return math.exp(at + AROUND[number % len(AROUND)])


SIDE = 0.975  # probability on one side of a 95 % interval
WIDEST = math.log(1.5)  # half of the interval of ln(rate): a wider one is no answer


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """In units per second."""

    rate: float | None  # None for the reason in `why`
    low: float | None
    high: float | None
    probes: int  # those that count
    why: str = ""
    all_hold: bool = False  # there is no rate because all probes hold

    @property
    def has_enough(self) -> bool:
        return self.probes >= USABLE_LEAST


def held_and_failed(tried: Sequence[Tried]) -> tuple[float | None, float | None]:
    """The highest rate that held, and the next higher that did not."""
    usable = [one for one in tried if one.usable]
    held = max((one.rate for one in usable if one.holds), default=None)
    return held, min((one.rate for one in usable if not one.holds and one.rate > (held or 0.0)), default=None)


def held_words(tried: Sequence[Tried], unit: str, seconds: float) -> str:
    """The answer of steps too short for a capacity."""
    held, failed = held_and_failed(tried)
    words = f"{format_rate(held)} {unit} held for {seconds:g} s" if held is not None else f"none held for {seconds:g} s"
    return words + (f", {format_rate(failed)} did not" if failed is not None else "")


def answer_of(probes: Sequence[Probe]) -> Capacity:
    """From all probes of a search."""
    usable = believed(probes)
    holding = [probe.holds for probe in usable]
    none = Capacity(rate=None, low=None, high=None, probes=len(usable))
    if not usable:
        why = f"none of {counted(len(probes), 'step')} was usable" if probes else "no step was measured"
        return replace(none, why=why)
    if len(usable) < USABLE_LEAST:
        was = "was" if len(usable) == 1 else "were"
        why = f"only {len(usable)} of {len(probes)} steps {was} usable, {USABLE_LEAST} are needed"
        return replace(none, why=why)
    if not any(holding):
        least = min(p.rate for p in usable)
        return replace(none, why=f"no rate holds the objective, down to the lowest, {least:.4g}/s")
    if all(holding):
        most = max(p.rate for p in usable)
        return replace(none, why=f"the highest rate, {most:.4g}/s, still holds the objective", all_hold=True)
    from scipy.special import stdtrit  # here, because help texts import this package

    cross = crossing(usable)
    half = float(stdtrit(max(2.0, cross.worth - 2.0), SIDE)) * cross.error
    rates = [math.log(probe.rate) for probe in usable]
    if rise(usable) < SLOPE_LEAST:
        why = "the response times hardly depend on the rate: pauses of the server decide them"
        return replace(none, why=why)
    if not min(rates) <= cross.at <= max(rates) or half > WIDEST:
        return replace(none, why="the response times differed too much between steps at nearly the same rate")
    rate, low, high = (math.exp(at) for at in (cross.at, cross.at - half, cross.at + half))
    return Capacity(rate=rate, low=low, high=high, probes=len(usable))


FACTOR = 1.05  # between the rates of two windows
WINDOWS = 8  # of one capacity: down to 29 % below it


def next_window(rate: float, windows: Sequence[Probe]) -> float | None:
    """None: they are over. rate: the capacity that the steps show."""
    if not windows:
        return rate
    if len(windows) >= WINDOWS or not windows[-1].usable:
        return None
    held, failed = held_and_failed(windows)
    if held is None and failed is not None:
        return failed / FACTOR
    return held * FACTOR if failed is None and held is not None else None


def confirmed(answer: Capacity, windows: Sequence[Probe]) -> Capacity:
    """With an interval that reaches to the highest rate that held and to the next that did not. If these are over 10 %
    off, or the objective was missed by far (CAP) at 5 % less, the answer is between these two, give or take FACTOR."""
    held, failed = held_and_failed(windows)
    if answer.rate is None or answer.low is None or answer.high is None or (held is None and failed is None):
        return answer
    if held is None:
        is_over = windows[-1].usable and next_window(answer.rate, windows) is None
        why = f"no window of a minute held the objective, down to {failed:.4g}/s"
        return replace(answer, rate=None, low=None, high=None, why=why) if is_over else answer
    top = failed if failed is not None else held * FACTOR
    below = [window for window in windows if window.usable and window.rate < answer.rate / math.sqrt(FACTOR)]
    is_missed = any(capped(window.excess) >= CAP for window in below)
    if is_missed or abs(math.log(answer.rate / math.sqrt(held * top))) > 2 * math.log(FACTOR):
        return replace(answer, rate=math.sqrt(held * top), low=held / FACTOR, high=top * FACTOR)
    return replace(answer, low=min(answer.low, held), high=max(answer.high, top))
