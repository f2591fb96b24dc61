"""Open loop: was the offered rate achieved, of the load and of each operation with a rate of its own?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scale_sweep.base.units import format_rate
from scale_sweep.judge.verdict.evidence import OfferedOperation, ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.rule import Found
from scale_sweep.judge.verdict.thresholds import BACKLOG_GROWS, CHANCE_SIGMAS, OFFERED_MET
from scale_sweep.model import BottleneckKind


def is_met(use: ResourceUse, given: TrialResources) -> bool | None:
    """Whether it was. None in a closed loop, and if the rate is not known. With a growing backlog it was not."""
    if not given.offered_per_s or use.rate_per_s is None:
        return None
    return use.rate_per_s >= OFFERED_MET * given.offered_per_s and not grows(use, given)


def grows(use: ResourceUse, given: TrialResources) -> bool:
    """Whether the backlog (due and unanswered) grew over the window by more than chance."""
    if use.backlog_per_s is None or not given.offered_per_s:
        return False
    return use.backlog_per_s >= BACKLOG_GROWS * given.offered_per_s


def unmet(offered: Sequence[OfferedOperation]) -> tuple[str, ...]:
    """A sentence for each operation whose own rate was not achieved. The window's edges cut one request of each
    connection in two; the number of requests at random times varies by the root of it."""
    return tuple(
        f"{one.name}: {format_rate(one.offered_per_s)} {one.unit}/s offered, {format_rate(one.achieved_per_s)} achieved"
        for one in offered
        if one.achieved_per_s < OFFERED_MET * one.offered_per_s - _by_chance(one)
    )


def _by_chance(one: OfferedOperation) -> float:
    """Units per second that a window may lack although every request was answered in time."""
    if one.seconds <= 0:
        return 0.0
    requests = one.offered_per_s * one.seconds / one.units_of_request
    missing = one.connections + (CHANCE_SIGMAS * math.sqrt(requests) if one.is_poisson else 0.0)
    return missing * one.units_of_request / one.seconds


def offered_rate(use: ResourceUse, given: TrialResources) -> Found | None:
    """The offered rate was met: no more was asked for."""
    if not is_met(use, given):
        return None
    return Found(
        kind=BottleneckKind.OFFERED_RATE,
        sentence=f"{format_rate(given.offered_per_s)} {given.unit} were offered, and no more",
        remedy="raise --rate, or leave it out",
    )
