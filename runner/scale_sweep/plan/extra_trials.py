"""Trials that are not points of the curve: drift checks, sentinels, ablations, profiles, checks, confirmations."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace

from scale_sweep.analysis.confirmation import AT, CONNECTIONS, ROLE, LevelCapacity, capacities, windows_of
from scale_sweep.base.units import counted, format_levels, format_number
from scale_sweep.capacity.search import WINDOWS, next_window
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.declared_parts import CONFIRM_S, CONFIRM_STEPS, KnobColumn
from scale_sweep.model.measured import BottleneckKind, Standing, TrialResult, VerdictKind
from scale_sweep.model.observed import Role
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.plan.granted import with_knobs, with_twice_the_connections
from scale_sweep.plan.planner import LAST, Block, Bound, Planner, in_order, left_of
from scale_sweep.plan.summary import seconds
from scale_sweep.server.targets import load_facts

Knobs = Mapping[str, str]
SENTINEL_S = 20.0  # the window of a sentinel: four of --quick
BEFORE = 0.5  # probability that a check runs before its point's trial


def drift_check_of(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    if len(trials) < 2:
        return ()
    first = min(trials, key=lambda t: t.order)
    return (replace(first, trial_id=f"{first.point_id}-drift", role="drift_check", order=len(trials)),)


def sentinels_of(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """At the lowest and the highest level in a window of SENTINEL_S; none for one level, variants, fixed rows, offered
    rates, and long windows."""
    load, points = trials[0].load, [t for t in trials if t.role == "point"]
    if len({t.point_id for t in points}) > len({t.level for t in points}):
        return ()
    is_offered = load.objective is not None or load.rate > 0
    if is_offered or load.duration_s is None or load.duration_s >= SENTINEL_S or len({t.level for t in trials}) < 2:
        return ()
    long = replace(load, duration_s=SENTINEL_S, window_max_s=None)
    return tuple(
        replace(t, load=replace(long, connections=t.load.connections, partitions=t.load.partitions))
        for t in at_ends(trials, "sentinel")
    )


def at_ends(trials: Sequence[Trial], role: Role) -> tuple[Trial, ...]:
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
    trial_id = f"{point_id}-r{after.replicate}"
    made = replace(after, trial_id=trial_id, point_id=point_id, role="ablation", knobs_of_level=before)
    return with_knobs(made, {**knobs, **varied}, declared)


class WithConnectionsCheck:
    """Runs another planner's trials, and the checks between them. A check runs next to one of its point's trials, in
    the middle block or the first after it in which the point may be limited inside the server, so that a slow change of
    the machine weighs the same for both. Where earlier trials show that it is needed, a seeded draw puts it before or
    after the point's trial; else it comes after it."""

    def __init__(self, plan: Plan, measured: Callable[[Plan], Planner]) -> None:
        self._plan = replace(plan, trials=in_order([trial for trial in plan.trials if trial.role != "check"]))
        self._measured = measured(self._plan)
        points = [t for t in self._plan.trials if t.role == "point" and t.replicate <= plan.sweep.replicates]
        self._first_block = max((t.block for t in points), default=1) // 2 + 1

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
        most, points = self._measured.bound(), {t.point_id: t for t in self._plan.trials if t.role == "point"}
        checks = sum(check_of(trial, 0, self._plan.knobs) is not None for trial in points.values())
        each_s = self._plan.seconds_estimated / max(1, len(self._plan.trials))
        return Bound(trials=most.trials + checks, seconds=most.seconds + checks * each_s)

    def _checks(self, done: Sequence[TrialResult], coming: Sequence[Trial]) -> list[Trial]:
        """Made again from the first trial, each from the results before it."""
        made: list[Trial] = []
        limited: set[str] = set()
        body = sorted((r for r in done if r.trial.role not in (*LAST, "check")), key=lambda r: r.trial.order)
        for at, result in enumerate(body):
            made += self._check(result.trial, at, limited, made, is_before=True)
            if result.verdict.once_checked is VerdictKind.SOFTWARE_BOTTLENECK:
                limited.add(result.trial.point_id)
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


def check_of(trial: Trial, order: int, declared: Sequence[KnobColumn]) -> Trial | None:
    """None if no knob sets the connections, or there are fewer tables."""
    name = f"{trial.point_id}-check"
    made = replace(trial, trial_id=name, point_id=name, replicate=1, role="check", order=order)
    return None if trial.load.rate else with_twice_the_connections(made, declared)


class WithConfirmation:
    """Runs another planner's searches, then those at the capacity of a level, at it with twice the connections, and up
    or down by 5 % until one rate holds and the next does not; then the drift check."""

    def __init__(self, plan: Plan, measured: Callable[[Plan], Planner]) -> None:
        self._plan = replace(plan, trials=in_order([trial for trial in plan.trials if trial.role != ROLE]))
        self._measured = measured(self._plan)

    def next(self, done: Sequence[TrialResult]) -> Block:
        block = self._measured.next(done)
        if any(trial.role not in LAST for trial in block.trials):
            return block
        body = sum(result.trial.role not in (*LAST, ROLE) for result in done)
        made = in_order(self._confirming(done), body)
        if left := left_of(made, done):
            axis = load_axis(self._plan.sweep.axis)
            levels = format_levels(tuple(sorted({trial.level for trial in left})))
            why = f"confirming the capacity of {axis.count(levels)} on fresh servers: {counted(len(left), 'trial')}"
            return Block(trials=left, why=why)
        return replace(block, trials=tuple(replace(t, order=t.order + len(made)) for t in block.trials))

    def _confirming(self, done: Sequence[TrialResult]) -> list[Trial]:
        points, windows = capacities(done), windows_of(done)
        made = [trial for one in points for trial in self._first(_last(one), one.rate)]
        for number in range(1, WINDOWS):
            for one in points:
                seen = windows.get(one.point, ())[:number]
                rate = next_window(one.rate, seen) if len(seen) == number else None
                made += [_confirming(_last(one), f"{AT}-{number + 1}", number + 1, rate)] if rate is not None else []
        return made

    def bound(self) -> Bound:
        most = self._measured.bound()
        points = {t.point_id: t for t in self._plan.trials if t.role == "point"}
        first = [self._first(trial, 1.0) for trial in points.values()]
        confirming = [t for trials in first for t in (*trials, *[trials[0]] * (WINDOWS - 1))]
        extra_s = sum(seconds(self._plan.sweep, t, load_facts(t.subject.target)) for t in confirming)
        return Bound(trials=most.trials + len(confirming), seconds=most.seconds + extra_s)

    def _first(self, search: Trial, rate: float) -> list[Trial]:
        standing = load_axis(self._plan.sweep.axis).standings[BottleneckKind.CONNECTIONS].standing
        return first_of(search, rate, self._plan.knobs if standing is not Standing.SWEPT else ())


def _last(capacity: LevelCapacity) -> Trial:
    return max((result.trial for result in capacity.searches), key=lambda trial: trial.order)


def first_of(search: Trial, rate: float, declared: Sequence[KnobColumn]) -> list[Trial]:
    """search: the last one of the point. rate: its capacity."""
    more = with_twice_the_connections(_confirming(search, CONNECTIONS, WINDOWS + 1, rate), declared)
    return [_confirming(search, AT, 1, rate), *([more] if more else [])]


def _confirming(search: Trial, kind: str, number: int, rate: float) -> Trial:
    load = replace(
        search.load,
        rate=rate,
        duration_s=max(CONFIRM_S, CONFIRM_STEPS * (search.load.duration_s or 0.0)),
        window_max_s=None,
        may_discard=False,
        carries_claim=False,
        trace_every=0,
    )
    point = search.point_id
    return replace(
        search, trial_id=f"{point}-{kind}", point_id=f"{point}-confirm", replicate=number, role="confirm", load=load
    )
