"""The fixed plan: block after block as planned, the drift checks last. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.model import Plan, Trial, TrialResult
from scale_sweep.plan.planner import Block, Bound, left_of


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
