"""The answer of a search: the highest rate that holds the objective with its 95 % interval, or why there is none. Pure.

Refuses an answer from fewer than USABLE_LEAST probes, and one beyond what was offered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scale_sweep.base.units import counted
from scale_sweep.capacity.crossing import crossing
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
    if not min(rates) <= cross.at <= max(rates) or half > WIDEST:
        return _none(usable, "the response times differed too much between steps at nearly the same rate")
    return Capacity(
        rate=math.exp(cross.at), low=math.exp(cross.at - half), high=math.exp(cross.at + half), probes=len(usable)
    )


def _none(usable: Sequence[Probe], why: str) -> Capacity:
    return Capacity(rate=None, low=None, high=None, probes=len(usable), why=why)
