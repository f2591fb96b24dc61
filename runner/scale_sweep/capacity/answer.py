"""The answer of a search: the highest rate that holds the objective with its 95 % interval, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from scale_sweep.base.units import counted, format_rate
from scale_sweep.capacity.crossing import SLOPE_LEAST, crossing, rise
from scale_sweep.capacity.search import USABLE_LEAST, Probe, believed

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
        """Whether enough probes were usable."""
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
