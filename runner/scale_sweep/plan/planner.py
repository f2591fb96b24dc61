"""A planner gives the next block of trials from the results so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from scale_sweep.model import Plan, Trial, TrialResult

LAST = ("sentinel", "drift_check", "profile")  # roles that come after everything else
TRIALS_OF_A_VARIANT = 2  # in a block


@dataclass(frozen=True, kw_only=True)
class Block:
    """Trials that run one after the other, in this order; no trials: the run is complete."""

    trials: tuple[Trial, ...]
    why: str = ""  # what a user should know of it


@dataclass(frozen=True, kw_only=True)
class Bound:
    """The most that a planner can ask for: trials, and seconds by the plan's estimate."""

    trials: int
    seconds: float


class Planner(Protocol):
    """Decides which trials come next."""

    def next(self, done: Sequence[TrialResult]) -> Block:
        """The trials of the first unfinished block that are not done; no trials when the run is complete."""

    def bound(self) -> Bound:
        """The most that it can ask for."""


def with_block(plan: Plan, block: Block) -> Plan:
    """The plan with the trials of a block that it does not contain yet, each in the place that its order says."""
    known = {trial.trial_id for trial in plan.trials}
    added = [trial for trial in block.trials if trial.trial_id not in known]
    if not added:
        return plan
    trials = [t for t in plan.trials if t.role not in LAST]
    for trial in sorted(added, key=lambda t: t.order):
        trials.insert(trial.order, trial)
    trials += [t for t in plan.trials if t.role in LAST]
    return replace(
        plan,
        trials=tuple(replace(t, order=at) for at, t in enumerate(trials)),
        seconds_estimated=plan.seconds_estimated * len(trials) / len(plan.trials),
    )


def left_of(trials: Sequence[Trial], done: Sequence[TrialResult]) -> tuple[Trial, ...]:
    """The trials that are not done, in their order."""
    finished = {result.trial.trial_id for result in done}
    return tuple(trial for trial in trials if trial.trial_id not in finished)


def last_replicates(trials: Sequence[Trial]) -> list[Trial]:
    """The trial with the highest replicate of each point, and of each ablation."""
    last: dict[str, Trial] = {}
    for trial in trials:
        held = last.get(trial.point_id)
        if held is None or trial.replicate > held.replicate:
            last[trial.point_id] = trial
    return list(last.values())


def following(trials: Sequence[Trial]) -> list[Trial]:
    """The next replicate of each point, not in order."""
    return [following_of(last) for last in last_replicates(trials)]


def following_of(last: Trial) -> Trial:
    """The replicate after a point's last one."""
    number = last.replicate + 1
    return replace(last, trial_id=f"{last.point_id}-r{number}", replicate=number, block=number)


class FixedPlan:
    """A planner that adds nothing."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def next(self, done: Sequence[TrialResult]) -> Block:
        """The trials of the first unfinished block that are not done."""
        left = left_of(self._plan.trials, done)
        return Block(trials=tuple(t for t in left if _block(t) == _block(left[0]))) if left else Block(trials=())

    def bound(self) -> Bound:
        """All planned trials."""
        return Bound(trials=len(self._plan.trials), seconds=self._plan.seconds_estimated)


def _block(trial: Trial) -> tuple[bool, int]:
    return trial.role == "drift_check", trial.block
