"""Adds a trial with twice the connections to each point that may be limited inside the server. Pure.

The checks come after all points and before the drift check. They follow from the results of the points alone, so a
resumed run asks for the same checks. Refuses a check if no knob sets the number of connections.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from scale_sweep.base.units import format_levels
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import KnobColumn, KnobRole, Plan, Trial, TrialResult, VerdictKind
from scale_sweep.plan.extra import LAST
from scale_sweep.plan.knobs import with_knobs
from scale_sweep.plan.planner import Block, Bound, Planner, left_of


class WithConnectionsCheck:
    """Runs another planner's trials, then the checks. measured: makes that planner."""

    def __init__(self, plan: Plan, measured: Callable[[Plan], Planner]) -> None:
        kept = [trial for trial in plan.trials if trial.role != "check"]
        self._plan = replace(plan, trials=tuple(replace(t, order=at) for at, t in enumerate(kept)))
        self._measured = measured(self._plan)

    def next(self, done: Sequence[TrialResult]) -> Block:
        """The checks, when only drift checks are left. A drift check is always the last trial."""
        block = self._measured.next(done)
        if any(trial.role not in LAST for trial in block.trials):
            return block
        made = _checks(done, self._plan.knobs)
        left = left_of(made, done)
        if left:
            axis = load_axis(self._plan.sweep.axis)
            levels = format_levels(tuple(sorted({trial.level for trial in left})))
            return Block(
                trials=left,
                why=f"at {axis.count(levels)} the server left idle what it was given, and nothing outside it explains "
                "that: one trial each with twice the connections shows whether it lacks load",
            )
        return replace(block, trials=tuple(replace(t, order=t.order + len(made)) for t in block.trials))

    def bound(self) -> Bound:
        """At most one check for each point."""
        most, points = self._measured.bound(), {t.point_id: t for t in self._plan.trials if t.role == "point"}
        checks = sum(check_of(trial, 0, self._plan.knobs) is not None for trial in points.values())
        each_s = self._plan.seconds_estimated / max(1, len(self._plan.trials))
        return Bound(trials=most.trials + checks, seconds=most.seconds + checks * each_s)


def _checks(done: Sequence[TrialResult], declared: Sequence[KnobColumn]) -> list[Trial]:
    found = sorted((r.trial for r in done if r.trial.role == "point" and _may_be_internal(r)), key=lambda t: -t.order)
    points = {trial.point_id: trial for trial in found}
    body = sum(r.trial.role not in (*LAST, "check") for r in done)
    made: list[Trial] = []
    for trial in sorted(points.values(), key=lambda t: (t.level, t.point_id)):
        check = check_of(trial, body + len(made), declared)
        made += [check] if check is not None else []
    return made


def _may_be_internal(result: TrialResult) -> bool:
    return result.verdict.once_checked is VerdictKind.SOFTWARE_BOTTLENECK


def check_of(trial: Trial, order: int, declared: Sequence[KnobColumn]) -> Trial | None:
    """The trial with twice the connections; None if no knob sets them, or there are fewer tables."""
    names = [knob.name for knob in declared if knob.role is KnobRole.CONNECTIONS and knob.name in trial.knobs]
    twice = 2 * trial.load.connections
    if not names or trial.load.rate or not 0 < twice <= trial.work.data.tables:
        return None
    name = f"{trial.point_id}-check"
    made = replace(trial, trial_id=name, point_id=name, replicate=1, role="check", order=order)
    return with_knobs(made, {**trial.knobs, names[0]: str(twice)}, declared)
