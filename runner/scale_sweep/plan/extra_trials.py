"""Trials that are not points of the curve: drift checks, ablation trials, profiled trials and connections checks. Pure.

A drift check repeats the run's first trial at its very end. An ablation trial measures the first level after a knob has
moved, with the knobs of the level before it, and so splits a confounded gain. A connections check repeats a point that
may be limited inside the server, with twice the connections; it comes after all points and before the drift check, and
follows from the results of the points alone, so a resumed run asks for the same checks. None of them is fitted; all are
kept, judged and reported. Refuses a check if no knob sets the number of connections.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from scale_sweep.base.units import format_levels, format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import KnobColumn, KnobRole, Plan, Trial, TrialResult, VerdictKind
from scale_sweep.plan.knobs import with_knobs
from scale_sweep.plan.planner import LAST, Block, Bound, Planner, left_of

Knobs = Mapping[str, str]


def drift_check_of(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The first trial, repeated as the last; nothing for a run of one trial."""
    if len(trials) < 2:
        return ()
    first = min(trials, key=lambda t: t.order)
    return (replace(first, trial_id=f"{first.point_id}-drift", role="drift_check", order=len(trials)),)


def profiled(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """A trial of the lowest level and one of the highest, repeated with a profile. Of several variants only the
    first."""
    points = sorted((t for t in trials if t.role == "point"), key=lambda t: (t.level, t.order))
    ends = {t.level: t for t in (points[0], next(t for t in points if t.level == points[-1].level))}
    return tuple(
        replace(t, trial_id=name, point_id=name, role="profile", replicate=1, block=0, order=len(trials) + at)
        for at, t in enumerate(ends.values())
        for name in (f"{t.point_id}-profile",)
    )


def boundaries(levels: Sequence[float], knobs: Mapping[float, Knobs]) -> tuple[tuple[float, float], ...]:
    """Pairs of neighbouring levels between which a knob moves."""
    ordered = sorted(levels)
    return tuple((a, b) for a, b in zip(ordered, ordered[1:], strict=False) if knobs[a] != knobs[b])


def ablation(after: Trial, before: float, knobs: Knobs, varied: Knobs, declared: Sequence[KnobColumn]) -> Trial:
    """The trial `after` with the knobs of the level `before`. varied: the knobs of its variant, which stay."""
    point_id = f"{after.point_id}-ablation-{format_number(before)}"
    made = replace(
        after, trial_id=f"{point_id}-r{after.replicate}", point_id=point_id, role="ablation", knobs_of_level=before
    )
    return with_knobs(made, {**knobs, **varied}, declared)


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
    limited = sorted((r.trial for r in done if r.trial.role == "point" and _may_be_internal(r)), key=lambda t: -t.order)
    points = {trial.point_id: trial for trial in limited}
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
