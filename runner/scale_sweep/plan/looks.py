"""A run of `scale ab` that ends after the first look at which its test finds a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.analysis.compare import compare_variants
from scale_sweep.base.units import counted
from scale_sweep.model import Plan, StoredRun, Trial, TrialResult
from scale_sweep.plan.make import abba
from scale_sweep.plan.planner import Block, Bound, FixedPlan, left_of
from scale_sweep.sweep.vary import VARIANT


class WithLooks:
    """The planned blocks, which are those until the first look; then those until the next one."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._looks = plan, plan.sweep.looks_ab

    def next(self, done: Sequence[TrialResult]) -> Block:
        body, why = self._until(self._looks[0]), ""
        for before, after in zip(self._looks, self._looks[1:], strict=False):
            if left_of(body, done):
                break
            if self._differs(body, done):
                return Block(trials=(), why=f"a difference was found after {counted(before, 'block')}")
            body, why = self._until(after), f"no difference was found after {counted(before, 'block')}: {after} in all"
        return replace(FixedPlan(replace(self._plan, trials=body)).next(done), why=why)

    def bound(self) -> Bound:
        """All blocks until the last look."""
        times = self._looks[-1] / self._looks[0]
        first = self._until(self._looks[0])
        each_s = self._plan.seconds_estimated / len(self._plan.trials)
        return Bound(trials=round(times * len(first)), seconds=each_s * times * len(first))

    def _until(self, blocks: int) -> tuple[Trial, ...]:
        """The trials of so many blocks, in their order."""
        sweep = self._plan.sweep
        made = {(trial.level, trial.variant[VARIANT]): trial for trial in self._plan.trials}
        return tuple(
            replace(
                like := made[place.level, tuple(sweep.variants_ab)[place.variant]],
                trial_id=f"{like.point_id}-r{place.replicate}",
                replicate=place.replicate,
                block=place.block,
                order=at,
            )
            for at, place in enumerate(abba(sweep.levels, blocks, sweep.seed_of_order))
        )

    def _differs(self, body: Sequence[Trial], done: Sequence[TrialResult]) -> bool:
        ids = {trial.trial_id for trial in body}
        results = tuple(result for result in done if result.trial.trial_id in ids)
        plan = replace(self._plan, trials=tuple(body))
        comparison = compare_variants(StoredRun(path="", manifest={}, plan=plan, results=results, timeseries={}))
        return any(point is not None and point.differs for point in (*comparison.points, comparison.overall))
