"""The trials that confirm the capacity of a level, after its searches: at the capacity, at it with twice the
connections, and then up or down by 5 %, until one rate held and the next higher one did not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from scale_sweep.analysis.confirmation import AT, CONNECTIONS, ROLE, LevelCapacity, capacities, windows_of
from scale_sweep.base.units import counted, format_levels
from scale_sweep.capacity.search import WINDOWS, next_window
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import (
    CONFIRM_S,
    CONFIRM_STEPS,
    BottleneckKind,
    KnobColumn,
    KnobRole,
    Load,
    Plan,
    Standing,
    Trial,
    TrialResult,
)
from scale_sweep.plan.knobs import with_knobs
from scale_sweep.plan.planner import LAST, Block, Bound, Planner, left_of
from scale_sweep.plan.summary import seconds
from scale_sweep.server.targets import load_facts


class WithConfirmation:
    """Runs another planner's trials, and the confirming ones before the drift check. measured: makes that planner."""

    def __init__(self, plan: Plan, measured: Callable[[Plan], Planner]) -> None:
        kept = [trial for trial in plan.trials if trial.role != ROLE]
        self._plan = replace(plan, trials=tuple(replace(t, order=at) for at, t in enumerate(kept)))
        self._measured = measured(self._plan)

    def next(self, done: Sequence[TrialResult]) -> Block:
        """The searches; when they are over, the confirming trials; then the drift check."""
        block = self._measured.next(done)
        if any(trial.role not in LAST for trial in block.trials):
            return block
        body = sum(result.trial.role not in (*LAST, ROLE) for result in done)
        made = [replace(trial, order=body + at) for at, trial in enumerate(self._confirming(done))]
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
        """Every confirming trial of every point."""
        most = self._measured.bound()
        points = {t.point_id: t for t in self._plan.trials if t.role == "point"}
        first = [self._first(trial, 1.0) for trial in points.values()]
        confirming = [t for trials in first for t in (*trials, *[trials[0]] * (WINDOWS - 1))]
        extra_s = sum(seconds(self._plan.sweep, t, load_facts(t.subject.target)) for t in confirming)
        return Bound(trials=most.trials + len(confirming), seconds=most.seconds + extra_s)

    def _first(self, search: Trial, rate: float) -> list[Trial]:
        """Without twice the connections where the axis itself sets them."""
        standing = load_axis(self._plan.sweep.axis).standings[BottleneckKind.CONNECTIONS].standing
        declared = self._plan.knobs if standing is not Standing.SWEPT else ()
        return first_of(search, rate, declared)


def _last(capacity: LevelCapacity) -> Trial:
    return max((result.trial for result in capacity.searches), key=lambda trial: trial.order)


def first_of(search: Trial, rate: float, declared: Sequence[KnobColumn]) -> list[Trial]:
    """The first confirming trials of a point, without their order in the run. search: its last search. rate: its
    capacity."""
    at, twice = _confirming(search, AT, 1, rate), 2 * search.load.connections
    names = [knob.name for knob in declared if knob.role is KnobRole.CONNECTIONS and knob.name in search.knobs]
    if not names or not 0 < twice <= search.work.data.tables:
        return [at]
    more = _confirming(search, CONNECTIONS, WINDOWS + 1, rate)
    return [at, with_knobs(more, {**search.knobs, names[0]: str(twice)}, declared)]


def _confirming(search: Trial, kind: str, number: int, rate: float) -> Trial:
    return replace(
        search,
        trial_id=f"{search.point_id}-{kind}",
        point_id=f"{search.point_id}-confirm",
        replicate=number,
        role="confirm",
        load=_load(search.load, rate),
    )


def _load(load: Load, rate: float) -> Load:
    return replace(
        load,
        rate=rate,
        duration_s=max(CONFIRM_S, CONFIRM_STEPS * (load.duration_s or 0.0)),
        window_max_s=None,
        may_discard=False,
        carries_claim=False,
        trace_every=0,
    )
