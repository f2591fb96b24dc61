"""How many replicates --quick runs: as many as its time allows, three at least and five at most. Pure.

A server that needs 15 s for a trial gets five of each level, one that needs 30 s gets three, and the first answer of
both comes within three minutes. Only the time decides, never a rate, so that no run stops at a convenient result.
Refuses to change a number that was given.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.base.units import format_seconds
from scale_sweep.model import Origin, Plan, Sweep, TrialResult
from scale_sweep.plan.extra import LAST
from scale_sweep.plan.fixed import FixedPlan
from scale_sweep.plan.planner import Block, Bound, following, left_of
from scale_sweep.sweep.quick import QUICK_DEFAULTS

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
    """Whether the time decides how many replicates there are."""
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
