"""Trials that are not points of the curve: drift checks, sentinels, ablation trials, profiled trials and connections
checks."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace

from scale_sweep.base.units import format_number
from scale_sweep.model import KnobColumn, KnobRole, Plan, Role, Trial, TrialResult, VerdictKind
from scale_sweep.plan.knobs import with_knobs
from scale_sweep.plan.planner import LAST, Block, Bound, Planner, left_of

Knobs = Mapping[str, str]
SENTINEL_S = 20.0  # the window of a sentinel: four of --quick
BEFORE = 0.5  # probability that a check runs before its point's trial


def drift_check_of(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    if len(trials) < 2:
        return ()
    first = min(trials, key=lambda t: t.order)
    return (replace(first, trial_id=f"{first.point_id}-drift", role="drift_check", order=len(trials)),)


def profiled(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """A trial of the lowest level and one of the highest, repeated with a profile."""
    return _at_ends(trials, "profile")


def sentinels_of(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """A trial of the lowest level and one of the highest in a window of SENTINEL_S; none for one level, for several
    variants, for a fixed number of rows, for offered rates, and where windows are as long."""
    load, points = trials[0].load, [t for t in trials if t.role == "point"]
    if len({t.point_id for t in points}) > len({t.level for t in points}):
        return ()
    is_offered = load.objective is not None or load.rate > 0
    if is_offered or load.duration_s is None or load.duration_s >= SENTINEL_S or len({t.level for t in trials}) < 2:
        return ()
    long = replace(load, duration_s=SENTINEL_S, window_max_s=None)
    return tuple(
        replace(t, load=replace(long, connections=t.load.connections, partitions=t.load.partitions))
        for t in _at_ends(trials, "sentinel")
    )


def _at_ends(trials: Sequence[Trial], role: Role) -> tuple[Trial, ...]:
    points = sorted((t for t in trials if t.role == "point"), key=lambda t: (t.level, t.order))
    ends = {t.level: t for t in (points[0], next(t for t in points if t.level == points[-1].level))}
    return tuple(
        replace(t, trial_id=name, point_id=name, role=role, replicate=1, block=0, order=len(trials) + at)
        for at, t in enumerate(ends.values())
        for name in (f"{t.point_id}-{role}",)
    )


def boundaries(levels: Sequence[float], knobs: Mapping[float, Knobs]) -> tuple[tuple[float, float], ...]:
    ordered = sorted(levels)
    return tuple((a, b) for a, b in zip(ordered, ordered[1:], strict=False) if knobs[a] != knobs[b])


def ablation(after: Trial, before: float, knobs: Knobs, varied: Knobs, declared: Sequence[KnobColumn]) -> Trial:
    point_id = f"{after.point_id}-ablation-{format_number(before)}"
    made = replace(
        after, trial_id=f"{point_id}-r{after.replicate}", point_id=point_id, role="ablation", knobs_of_level=before
    )
    return with_knobs(made, {**knobs, **varied}, declared)


class WithConnectionsCheck:
    """Runs another planner's trials, and the checks between them. measured: makes that planner.

    The check of a point runs next to one of the point's own trials, in the middle block or the first one after it in
    which the point may be limited inside the server. A slow change of the machine then has the same weight for the
    check as for the trials that it is compared with. Where the trials before it show that the point needs a check, a
    seeded draw decides whether the check comes before or after the point's trial; else it comes after it.
    """

    def __init__(self, plan: Plan, measured: Callable[[Plan], Planner]) -> None:
        kept = [trial for trial in plan.trials if trial.role != "check"]
        self._plan = replace(plan, trials=tuple(replace(t, order=at) for at, t in enumerate(kept)))
        self._measured = measured(self._plan)
        self._first_block = _middle_block(self._plan)

    def next(self, done: Sequence[TrialResult]) -> Block:
        """The checks that are due; else the next trials, up to one after which a check may be due."""
        block = self._measured.next(done)
        made = self._checks(done, block.trials)
        if left := left_of(made, done):
            return Block(trials=left)
        checked = {check.point_id for check in made}
        certain = next((at for at, t in enumerate(block.trials) if self._may_need(t, checked)), len(block.trials))
        trials = block.trials[: max(1, certain)]
        return replace(block, trials=tuple(replace(t, order=t.order + len(made)) for t in trials))

    def bound(self) -> Bound:
        """At most one check for each point."""
        most, points = self._measured.bound(), {t.point_id: t for t in self._plan.trials if t.role == "point"}
        checks = sum(check_of(trial, 0, self._plan.knobs) is not None for trial in points.values())
        each_s = self._plan.seconds_estimated / max(1, len(self._plan.trials))
        return Bound(trials=most.trials + checks, seconds=most.seconds + checks * each_s)

    def _checks(self, done: Sequence[TrialResult], coming: Sequence[Trial]) -> list[Trial]:
        """All checks so far, in their order: of the trials that are done, and before the one that comes next.

        They are made again from the first trial, each from the results before it, as they were then.
        """
        made: list[Trial] = []
        limited: set[str] = set()
        body = sorted((r for r in done if r.trial.role not in (*LAST, "check")), key=lambda r: r.trial.order)
        for at, result in enumerate(body):
            made += self._check(result.trial, at, limited, made, is_before=True)
            limited |= {result.trial.point_id} if _may_be_internal(result) else set()
            made += self._check(result.trial, at + 1, limited, made, is_before=False)
        for trial in coming[:1]:
            made += self._check(trial, len(body), limited, made, is_before=True)
        return made

    def _check(
        self, trial: Trial, at: int, limited: Set[str], made: Sequence[Trial], *, is_before: bool
    ) -> list[Trial]:
        check = check_of(trial, at + len(made), self._plan.knobs)
        is_due = trial.point_id in limited and self._may_need(trial, {one.point_id for one in made})
        if check is None or not is_due:
            return []
        chance = random.Random(f"{self._plan.sweep.seed_of_order}/{check.trial_id}")
        return [check] if not is_before or chance.random() < BEFORE else []

    def _may_need(self, trial: Trial, checked: Set[str]) -> bool:
        check = check_of(trial, 0, self._plan.knobs) if trial.role == "point" else None
        return check is not None and trial.block >= self._first_block and check.point_id not in checked


def _middle_block(plan: Plan) -> int:
    planned = [t.block for t in plan.trials if t.role == "point" and t.replicate <= plan.sweep.replicates]
    return max(planned, default=1) // 2 + 1


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
