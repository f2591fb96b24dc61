"""Which rate to offer next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scale_sweep.capacity.crossing import crossing

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
