"""Open loop: was the offered rate achieved?"""

from __future__ import annotations

from runner.model import BottleneckKind
from runner.units import format_rate
from runner.verdict.evidence import ResourceUse, TrialResources
from runner.verdict.rules.rule import Found
from runner.verdict.thresholds import BACKLOG_GROWS, OFFERED_MET


def is_met(use: ResourceUse, given: TrialResources) -> bool | None:
    """Whether it was. None in a closed loop, and if the rate is not known. With a growing backlog it was not."""
    if not given.offered_rows_per_s or use.rows_per_s is None:
        return None
    return use.rows_per_s >= OFFERED_MET * given.offered_rows_per_s and not grows(use, given)


def grows(use: ResourceUse, given: TrialResources) -> bool:
    """Whether the backlog (due and unanswered) grew over the window by more than chance."""
    if use.backlog_rows_per_s is None or not given.offered_rows_per_s:
        return False
    return use.backlog_rows_per_s >= BACKLOG_GROWS * given.offered_rows_per_s


def offered_rate(use: ResourceUse, given: TrialResources) -> Found | None:
    """The offered rate was met: no more was asked for."""
    if not is_met(use, given):
        return None
    return Found(
        kind=BottleneckKind.OFFERED_RATE,
        sentence=f"{format_rate(given.offered_rows_per_s)} {given.unit} were offered, and no more",
        remedy="raise --rate, or leave it out",
    )
