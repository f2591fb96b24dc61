"""The capacity that the steps of a search show, with an interval, and the windows on fresh servers that confirm it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from scale_sweep.base.units import counted, format_rate
from scale_sweep.capacity.search import CAP, SLOPE_LEAST, USABLE_LEAST, Probe, believed, capped, crossing, rise

SIDE = 0.975  # probability on one side of a 95 % interval
WIDEST = math.log(1.5)  # half of the interval of ln(rate): a wider one is no answer


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """rate, low, high: units per second; None if there is none, for the reason in `why`. probes: those that count.
    all_hold: there is no rate because all of them hold."""

    rate: float | None
    low: float | None
    high: float | None
    probes: int
    why: str = ""
    all_hold: bool = False

    @property
    def has_enough(self) -> bool:
        return self.probes >= USABLE_LEAST


class Tried(Protocol):
    """A rate that was offered: a probe, or a step."""

    @property
    def rate(self) -> float:
        """The offered rate."""

    @property
    def usable(self) -> bool:
        """Whether it says something about the server."""

    @property
    def holds(self) -> bool:
        """Whether the objective held."""


def held_and_failed(tried: Sequence[Tried]) -> tuple[float | None, float | None]:
    """The highest rate that held, and the next higher one that did not."""
    usable = [one for one in tried if one.usable]
    held = max((one.rate for one in usable if one.holds), default=None)
    return held, min((one.rate for one in usable if not one.holds and one.rate > (held or 0.0)), default=None)


def held_words(tried: Sequence[Tried], unit: str, seconds: float) -> str:
    """The answer of steps of these seconds, which are too short for a capacity."""
    held, failed = held_and_failed(tried)
    words = f"{format_rate(held)} {unit} held for {seconds:g} s" if held is not None else f"none held for {seconds:g} s"
    return words + (f", {format_rate(failed)} did not" if failed is not None else "")


def answer_of(probes: Sequence[Probe]) -> Capacity:
    """The answer from all probes of a search."""
    usable = believed(probes)
    if not usable:
        return _none(usable, f"none of {counted(len(probes), 'step')} was usable" if probes else "no step was measured")
    if len(usable) < USABLE_LEAST:
        was = "was" if len(usable) == 1 else "were"
        return _none(usable, f"only {len(usable)} of {len(probes)} steps {was} usable, {USABLE_LEAST} are needed")
    if not any(probe.holds for probe in usable):
        return _none(usable, f"no rate holds the objective, down to the lowest, {min(p.rate for p in usable):.4g}/s")
    if all(probe.holds for probe in usable):
        why = f"the highest rate, {max(p.rate for p in usable):.4g}/s, still holds the objective"
        return replace(_none(usable, why), all_hold=True)
    from scipy.special import stdtrit  # here, because help texts import this package

    cross = crossing(usable)
    half = float(stdtrit(max(2.0, cross.worth - 2.0), SIDE)) * cross.error
    rates = [math.log(probe.rate) for probe in usable]
    if rise(usable) < SLOPE_LEAST:
        return _none(usable, "the response times hardly depend on the rate: pauses of the server decide them")
    if not min(rates) <= cross.at <= max(rates) or half > WIDEST:
        return _none(usable, "the response times differed too much between steps at nearly the same rate")
    return Capacity(
        rate=math.exp(cross.at), low=math.exp(cross.at - half), high=math.exp(cross.at + half), probes=len(usable)
    )


def _none(usable: Sequence[Probe], why: str) -> Capacity:
    return Capacity(rate=None, low=None, high=None, probes=len(usable), why=why)


FACTOR = 1.05  # between the rates of two windows
WINDOWS = 8  # of one capacity: down to 29 % below it


def next_window(rate: float, windows: Sequence[Probe]) -> float | None:
    """The rate of the next window; None: they are over. rate: the capacity that the steps show. windows: those so
    far."""
    if not windows:
        return rate
    if len(windows) >= WINDOWS or not windows[-1].usable:
        return None
    held, failed = held_and_failed(windows)
    if held is None and failed is not None:
        return failed / FACTOR
    return held * FACTOR if failed is None and held is not None else None


def confirmed(answer: Capacity, windows: Sequence[Probe]) -> Capacity:
    """The answer after its windows. Its interval reaches to the highest rate that held and to the next higher one that
    did not. If these are more than 10 % off the capacity, or the objective was missed by far (CAP) at 5 % less, chance
    is no explanation: the answer is then between these two rates, give or take FACTOR."""
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
