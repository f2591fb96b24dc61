"""Planners that add replicates: as many of --quick as its time allows, and until the interval of a mean is narrow.
Pure.

Of --quick, three at least and five at most: a server that needs 15 s for a trial gets five of each level, one that
needs 30 s gets three, and the first answer of both comes within three minutes. Only the time decides, never a rate, so
that no run stops at a convenient result. The drift checks stay last. Refuses to change a number that was given.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scale_sweep.analysis.noise import intervals, rates_of
from scale_sweep.analysis.observations import observations
from scale_sweep.base.units import format_number, format_seconds
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.work import rate_of
from scale_sweep.model import LevelInterval, Origin, Plan, Sweep, Trial, TrialResult
from scale_sweep.plan.planner import LAST, Block, Bound, FixedPlan, following, following_of, last_replicates, left_of
from scale_sweep.sweep.quick import QUICK_DEFAULTS
from scale_sweep.sweep.vary import slug

QUICK_RUN_S = 135.0  # of the trials: a run of two and a half minutes, less the probes before its first trial
LEAST = 3  # with two, Student's t is so large that an interval says nothing
MOST = int(QUICK_DEFAULTS["method.replicates"])
BY_TIME: Origin = "time"  # the origin of such a number of replicates


def replicates_in_time(plan: Plan) -> int:
    """The replicates of the plan, or as many of --quick as its estimate leaves time for, LEAST at least.

    LEAST where the number of rows is fixed: how long they take depends on the machine.
    """
    sweep = plan.sweep
    is_quick = sweep.origin.get("load.quick", "default") != "default"
    was_given = sweep.origin.get("method.replicates", "default") != "default"
    has_other_rule = bool(sweep.variants_ab) or sweep.until_ci_percent is not None
    if not is_quick or was_given or has_other_rule or sweep.replicates != MOST:
        return sweep.replicates
    if sweep.load.rows is not None:
        return LEAST
    each_s = plan.seconds_estimated / sweep.replicates
    return max(LEAST, min(MOST, int(QUICK_RUN_S / each_s)))


def with_replicates(sweep: Sweep, count: int) -> Sweep:
    """The sweep with the replicates that its time allows."""
    return replace(sweep, replicates=count, origin={**sweep.origin, "method.replicates": BY_TIME})


def is_by_time(sweep: Sweep) -> bool:
    """True if the time decides the number of replicates."""
    return sweep.origin.get("method.replicates") == BY_TIME


class WithinTime:
    """The planned blocks; then one more of all points while the run stays within QUICK_RUN_S, MOST at most. The time is
    that of the trials that are done."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._planned = [t for t in plan.trials if t.replicate <= plan.sweep.replicates and t.role not in LAST]
        self._drift_checks = [t for t in plan.trials if t.role in LAST]

    def next(self, done: Sequence[TrialResult]) -> Block:
        """The blocks are made again from the first, each from the times of the blocks before it."""
        body, why = list(self._planned), ""
        while not left_of(body, done):
            blocks = max(t.replicate for t in body)
            spent_s = sum(r.wall_s for r in done if r.trial.trial_id in {t.trial_id for t in body})
            if blocks >= MOST or spent_s * (blocks + 1) / blocks > QUICK_RUN_S:
                last = [replace(t, order=len(body) + at) for at, t in enumerate(self._drift_checks)]
                return Block(trials=left_of(last, done), why=why)
            why = f"{format_seconds(spent_s)} so far: time for one more replicate of each level"
            added = following(body)
            random.Random(f"{self._plan.sweep.seed_of_order}/{len(body)}").shuffle(added)
            body += added
        first = replace(self._plan, trials=tuple(replace(t, order=at) for at, t in enumerate(body)))
        return replace(FixedPlan(first).next(done), why=why)

    def bound(self) -> Bound:
        """MOST replicates of every point, in the time that they may take."""
        points = {t.point_id for t in self._planned}
        trials = len(points) * MOST + len(self._drift_checks)
        return Bound(trials=trials, seconds=max(self._plan.seconds_estimated, QUICK_RUN_S))


@dataclass(frozen=True, kw_only=True)
class _Step:
    """A block to add, or the reason why none is."""

    trials: tuple[Trial, ...]
    why: str


class UntilInterval:
    """After the planned blocks: one more replicate of each point whose 95 % interval is wider than requested, in a
    seeded random order, up to `replicates_max` of a point. Ablation trials belong to their level and get as many."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._sweep = plan, plan.sweep
        self._rate = rate_of(plan.sweep.work, durable=load_axis(plan.sweep.axis).is_durable).field
        self._planned = [t for t in plan.trials if t.replicate <= plan.sweep.replicates and t.role not in LAST]
        self._drift_checks = [t for t in plan.trials if t.role in LAST]

    def next(self, done: Sequence[TrialResult]) -> Block:
        """The blocks are made again from the first, each from the results of the blocks before it, as they were
        then."""
        body = list(self._planned)
        why = ""
        while not left_of(body, done):
            step = self._more(body, done)
            why = step.why
            if not step.trials:
                return Block(trials=self._last(len(body), done), why=why)
            body += step.trials
        first = replace(self._plan, trials=tuple(replace(t, order=at) for at, t in enumerate(body)))
        return replace(FixedPlan(first).next(done), why=why)

    def bound(self) -> Bound:
        """The most replicates allowed, for every point."""
        points = {t.point_id for t in self._planned}
        trials = len(points) * self._sweep.replicates_max + len(self._drift_checks)
        each_s = self._plan.seconds_estimated / max(1, len(self._plan.trials))
        return Bound(trials=trials, seconds=each_s * trials)

    def _last(self, body: int, done: Sequence[TrialResult]) -> tuple[Trial, ...]:
        return left_of([replace(t, order=body + at) for at, t in enumerate(self._drift_checks)], done)

    def _more(self, body: Sequence[Trial], done: Sequence[TrialResult]) -> _Step:
        wanted = self._sweep.until_ci_percent
        assert wanted is not None
        ids = {trial.trial_id for trial in body}
        results = [_once_checked(r) for r in done if r.trial.trial_id in ids]
        level_intervals = intervals(rates_of(observations(results, self._rate)))
        wide = [i for i in level_intervals if i.half_percent is None or i.half_percent > wanted]
        if not wide:
            return _Step(trials=(), why=f"every interval is within ± {wanted:g} %: enough replicates")
        still = f"intervals still wider than ± {wanted:g} % ({', '.join(map(_words, wide))})"
        added = self._replicates(body, {(i.level, i.variant) for i in wide})
        if not added:
            most = self._sweep.replicates_max
            return _Step(trials=(), why=f"{still}, but {most} replicates are the limit (--replicates-max)")
        return _Step(trials=tuple(added), why=f"{still}: {len(added)} trials more")

    def _replicates(self, body: Sequence[Trial], wide: set[tuple[float, str]]) -> list[Trial]:
        added = []
        for last in last_replicates(body):
            if (last.level, slug(last.variant)) in wide and last.replicate < self._sweep.replicates_max:
                added.append(following_of(last))
        random.Random(f"{self._sweep.seed_of_order}/{len(body)}").shuffle(added)
        return added


def _once_checked(result: TrialResult) -> TrialResult:
    """The result with the verdict that the check at the end may give it: until then its level counts as measured."""
    later = result.verdict.once_checked
    return replace(result, verdict=replace(result.verdict, kind=later)) if later is not None else result


def _words(interval: LevelInterval) -> str:
    half = f"± {interval.half_percent:.1f} %" if interval.half_percent is not None else "unknown"
    name = f" {interval.variant}" if interval.variant else ""
    return f"{format_number(interval.level)}{name}: {half}"
