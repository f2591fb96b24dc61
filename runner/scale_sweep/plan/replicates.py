"""Planners that add replicates: while the time of --quick lasts, and until the interval of a mean is narrow."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scale_sweep.analysis.noise.spread import intervals, rates_of
from scale_sweep.analysis.observations import observations
from scale_sweep.base.units import counted, format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.work import rate_of
from scale_sweep.model.declared import Origin, Sweep
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.observed import LevelInterval
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.plan.planner import LAST, Block, Bound, FixedPlan, following_of, in_order, last_replicates, left_of
from scale_sweep.plan.summary import warmup_seconds
from scale_sweep.sweep.vary import slug
from scale_sweep.sweep.window import QUICK_DEFAULTS

QUICK_RUN_S = 110.0  # of the points' trials: a run of three minutes, less its probes and sentinels
SLOW_RUN_S = 135.0  # of LEAST blocks of a server that needs a long warm-up
WARMUP_BOUND_S = 10.0  # a lower bound would end the warm-up of most servers too early
LEAST = 3  # with two, Student's t is so large that an interval says nothing
MOST = int(QUICK_DEFAULTS["method.replicates"])
BY_TIME: Origin = "time"  # the origin of such a number of replicates
# Replicates after the first narrow interval of a point, by the most degrees of freedom of its spread: of a run with one
# point, and of several (bench/method_until.py).
EXTRA_ALONE = ((4, 4), (8, 3), (30, 2))
EXTRA = ((5, 2), (12, 1))
Point = tuple[float, str]


def replicates_in_time(plan: Plan) -> int:
    """As many of --quick as the estimate leaves time for; LEAST for fixed rows, whose time depends on the machine."""
    sweep = plan.sweep
    was_given = sweep.origin.get("method.replicates", "default") != "default"
    has_other_rule = bool(sweep.variants_ab) or sweep.until_ci_percent is not None
    if not sweep.is_quick or was_given or has_other_rule or sweep.replicates != MOST:
        return sweep.replicates
    if sweep.load.rows is not None:
        return LEAST
    each_s = _points_s(plan) / sweep.replicates
    return max(LEAST, min(MOST, int(QUICK_RUN_S / each_s)))


def _points_s(plan: Plan) -> float:
    windows = [trial.load.duration_s or 0.0 for trial in plan.trials]
    beside_s = (plan.seconds_estimated - sum(windows)) / len(windows)
    return sum(beside_s + w for trial, w in zip(plan.trials, windows, strict=True) if trial.role not in LAST)


def with_replicates(sweep: Sweep, count: int) -> Sweep:
    return replace(sweep, replicates=count, origin={**sweep.origin, "method.replicates": BY_TIME})


def warmup_in_time(plan: Plan) -> float | None:
    """The bound in seconds of a warm-up until the rate is level, with which LEAST blocks take SLOW_RUN_S; None: the
    target's stays. One for all trials, so that blocks do not differ."""
    load = plan.sweep.load
    was_given = plan.sweep.origin.get("load.warmup", "default") != "default"
    if not is_by_time(plan.sweep) or was_given or load.warmup_least_s is None or load.rows is not None:
        return None
    trials = [trial for trial in plan.trials if trial.role not in LAST]
    others_s = (_points_s(plan) - sum(warmup_seconds(trial.load) for trial in trials)) / len(trials)
    left_s = float(int(SLOW_RUN_S / LEAST / len({trial.point_id for trial in trials}) - others_s))
    bound_s = max(left_s, WARMUP_BOUND_S)
    return bound_s if load.warmup_least_s <= left_s and bound_s < load.warmup_s else None


def with_warmup(sweep: Sweep, bound_s: float) -> Sweep:
    return replace(sweep, load=replace(sweep.load, warmup_s=bound_s))


def is_by_time(sweep: Sweep) -> bool:
    return sweep.origin.get("method.replicates") == BY_TIME


def may_grow(plan: Plan) -> bool:
    return is_by_time(plan.sweep) and max(trial.replicate for trial in plan.trials) < MOST


class _Growing:
    """`next` makes the blocks again from the first, each from the results before it."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._sweep = plan, plan.sweep
        self._planned = [t for t in plan.trials if t.replicate <= plan.sweep.replicates and t.role not in LAST]
        self._end = [t for t in plan.trials if t.role in LAST]
        self._points = {t.point_id for t in self._planned}

    def _next(self, body: Sequence[Trial], done: Sequence[TrialResult], why: str = "") -> Block:
        return replace(FixedPlan(replace(self._plan, trials=in_order(body))).next(done), why=why)

    def _last(self, body: Sequence[Trial], done: Sequence[TrialResult], why: str = "") -> Block:
        return Block(trials=left_of(in_order(self._end, len(body)), done), why=why)

    def _shuffled(self, added: list[Trial], body: Sequence[Trial]) -> list[Trial]:
        random.Random(f"{self._sweep.seed_of_order}/{len(body)}").shuffle(added)
        return added


class WithinTime(_Growing):
    """One more of all points while the done trials stay within QUICK_RUN_S."""

    def next(self, done: Sequence[TrialResult]) -> Block:
        body = list(self._planned)
        while not left_of(body, done):
            blocks = max(t.replicate for t in body)
            spent_s = sum(r.wall_s for r in done if r.trial.trial_id in {t.trial_id for t in body})
            if blocks >= MOST or spent_s * (blocks + 1) / blocks > QUICK_RUN_S:
                return self._last(body, done)
            body += self._shuffled([following_of(last) for last in last_replicates(body)], body)
        return self._next(body, done)

    def bound(self) -> Bound:
        trials = len(self._points) * MOST + len(self._end)
        return Bound(trials=trials, seconds=max(self._plan.seconds_estimated, QUICK_RUN_S))


@dataclass(frozen=True, kw_only=True)
class _Step:
    trials: Sequence[Trial] = ()
    why: str
    owed: Mapping[Point, int]  # the replicates that points with a narrow interval still get


class UntilInterval(_Growing):
    """One more replicate of each point whose 95 % interval is wider than requested, in a seeded random order. A run
    that ends at the first narrow interval ends where the spread is small by chance, so such a point gets some more,
    unless the spread is known from many trials (Simons 1968, On the cost of not knowing the variance when making a
    fixed-width confidence interval for the mean)."""

    def next(self, done: Sequence[TrialResult]) -> Block:
        body, owed, why = list(self._planned), dict[Point, int](), ""
        while not left_of(body, done):
            step = self._more(body, done, owed)
            why, owed = step.why, dict(step.owed)
            if not step.trials:
                return self._last(body, done, why)
            body += step.trials
        return self._next(body, done, why)

    def bound(self) -> Bound:
        trials = len(self._points) * self._sweep.replicates_max + len(self._end)
        each_s = self._plan.seconds_estimated / max(1, len(self._plan.trials))
        return Bound(trials=trials, seconds=each_s * trials)

    def _more(self, body: Sequence[Trial], done: Sequence[TrialResult], owed: Mapping[Point, int]) -> _Step:
        """owed: that each point still gets although its interval is, or was, narrow."""
        wanted, most = self._sweep.until_ci_percent, self._sweep.replicates_max
        assert wanted is not None
        ids, durable = {trial.trial_id for trial in body}, load_axis(self._sweep.axis).is_durable
        rate = rate_of(self._sweep.work, durable=durable, objective=self._sweep.load.objective)
        rates = rates_of(observations([_once_checked(r) for r in done if r.trial.trial_id in ids], rate.field))
        all_intervals = intervals(rates)
        wide = [i for i in all_intervals if i.half_percent is None or i.half_percent > wanted]
        narrow = {(i.level, i.variant) for i in all_intervals if i not in wide}
        owed = dict.fromkeys(narrow, extra_replicates(rates.degrees, len(all_intervals))) | dict(owed)
        waited_for = {point for point in narrow if owed[point]}
        points = {(i.level, i.variant) for i in wide} | waited_for
        added = [
            following_of(last)
            for last in last_replicates(body)
            if (last.level, slug(last.variant)) in points and last.replicate < most
        ]
        left = {point: many - (point in waited_for) for point, many in owed.items()}
        still = f"95 % intervals still end more than {wanted:g} % from their mean ({', '.join(map(_words, wide))})"
        every = f"every 95 % interval ends within {wanted:g} % of its mean"
        if added:
            why = f"{still if wide else f'{every}, which may be chance'}: {counted(len(added), 'trial')} more"
            return _Step(trials=self._shuffled(added, body), why=why, owed=left)
        if not wide:
            return _Step(why=f"{every}: enough replicates", owed=left)
        return _Step(why=f"{still}, but the limit is {counted(most, 'replicate')} (--replicates-max)", owed=left)


def extra_replicates(degrees: int, points: int) -> int:
    """degrees: of freedom, of the spread."""
    return next((many for most, many in (EXTRA if points > 1 else EXTRA_ALONE) if degrees <= most), 0)


def _once_checked(result: TrialResult) -> TrialResult:
    later = result.verdict.once_checked
    return replace(result, verdict=replace(result.verdict, kind=later)) if later is not None else result


def _words(interval: LevelInterval) -> str:
    half = f"{interval.half_percent:.1f} %" if interval.half_percent is not None else "unknown"
    name = f" {interval.variant}" if interval.variant else ""
    return f"{format_number(interval.level)}{name}: {half}"
