"""What comes next: a planner gives the next block of trials from what is done. Pure and seeded.

Given the same results a planner gives the same block, so a run is resumed by asking it again from the beginning.
Refuses to keep anything between two questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from runner.model import Plan, Trial, TrialResult
from runner.plan.extra import LAST


@dataclass(frozen=True, kw_only=True)
class Block:
    """Trials that are run one after the other, in this order; none: it is over. why: what a user should know of it."""

    trials: tuple[Trial, ...]
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Bound:
    """The most that a planner can come to: trials, and seconds by the plan's rough estimate."""

    trials: int
    seconds: float


class Planner(Protocol):
    """Which trials come next."""

    def next(self, done: Sequence[TrialResult]) -> Block:
        """What is left of the first block that is not done; no trials when enough is."""

    def bound(self) -> Bound:
        """The most that it can come to."""


def with_block(plan: Plan, block: Block) -> Plan:
    """The plan with the trials of a block that it does not hold yet, before its drift checks."""
    known = {trial.trial_id for trial in plan.trials}
    added = [trial for trial in block.trials if trial.trial_id not in known]
    if not added:
        return plan
    body = [t for t in plan.trials if t.role not in LAST]
    drift_checks = [t for t in plan.trials if t.role in LAST]
    trials = (*body, *added, *drift_checks)
    return replace(
        plan,
        trials=tuple(replace(t, order=at) for at, t in enumerate(trials)),
        seconds_estimated=plan.seconds_estimated * len(trials) / len(plan.trials),
    )


def left_of(trials: Sequence[Trial], done: Sequence[TrialResult]) -> tuple[Trial, ...]:
    """Those that are not done, in their order."""
    finished = {result.trial.trial_id for result in done}
    return tuple(trial for trial in trials if trial.trial_id not in finished)
