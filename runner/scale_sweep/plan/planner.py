"""A planner gives the next block of trials from the results so far."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from scale_sweep.analysis.compare import compare_variants
from scale_sweep.base.units import counted
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.sweep.vary import VARIANT

LAST = ("sentinel", "drift_check", "profile", "proof")  # roles that come after everything else
TRIALS_OF_A_VARIANT = 2  # in a block


@dataclass(frozen=True, kw_only=True)
class Block:
    """Trials that run one after the other, in this order; no trials: the run is complete."""

    trials: tuple[Trial, ...]
    why: str = ""  # what a user should know of it


@dataclass(frozen=True, kw_only=True)
class Bound:
    """By the plan's estimate."""

    trials: int
    seconds: float


class Planner(Protocol):
    def next(self, done: Sequence[TrialResult]) -> Block:
        """The trials of the first unfinished block that are not done; no trials when the run is complete."""

    def bound(self) -> Bound: ...


def with_block(plan: Plan, block: Block) -> Plan:
    """The plan with the new trials of a block, each in the place that its order says."""
    known = {trial.trial_id for trial in plan.trials}
    added = [trial for trial in block.trials if trial.trial_id not in known]
    if not added:
        return plan
    trials = [t for t in plan.trials if t.role not in LAST]
    for trial in sorted(added, key=lambda t: t.order):
        trials.insert(trial.order, trial)
    trials += [t for t in plan.trials if t.role in LAST]
    seconds = plan.seconds_estimated * len(trials) / len(plan.trials)
    return replace(plan, trials=in_order(trials), seconds_estimated=seconds)


def in_order(trials: Sequence[Trial], first: int = 0) -> tuple[Trial, ...]:
    """With the order in which they stand. first: that of the first one."""
    return tuple(replace(trial, order=at) for at, trial in enumerate(trials, first))


def left_of(trials: Sequence[Trial], done: Sequence[TrialResult]) -> tuple[Trial, ...]:
    finished = {result.trial.trial_id for result in done}
    return tuple(trial for trial in trials if trial.trial_id not in finished)


def last_replicates(trials: Sequence[Trial]) -> list[Trial]:
    last: dict[str, Trial] = {}
    for trial in trials:
        known = last.get(trial.point_id)
        if known is None or trial.replicate > known.replicate:
            last[trial.point_id] = trial
    return list(last.values())


def following_of(last: Trial) -> Trial:
    number = last.replicate + 1
    return replace(last, trial_id=f"{last.point_id}-r{number}", replicate=number, block=number)


class FixedPlan:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def next(self, done: Sequence[TrialResult]) -> Block:
        def block(trial: Trial) -> tuple[bool, int]:
            return trial.role == "drift_check", trial.block

        left = left_of(self._plan.trials, done)
        return Block(trials=tuple(trial for trial in left if block(trial) == block(left[0])))

    def bound(self) -> Bound:
        return Bound(trials=len(self._plan.trials), seconds=self._plan.seconds_estimated)


@dataclass(frozen=True, kw_only=True)
class TrialPlace:
    """A trial of `scale ab`. variant: 0 is A, 1 is B. replicate, block: from 1."""

    level: float
    variant: int
    replicate: int
    block: int


def abba(levels: Sequence[float], blocks: int, seed: int) -> Iterator[TrialPlace]:
    chance = random.Random(seed)
    for block in range(1, blocks + 1):
        shuffled = list(levels)
        chance.shuffle(shuffled)
        for level in shuffled:
            first = chance.randrange(2)
            for at, variant in enumerate((first, 1 - first, 1 - first, first)):
                number = TRIALS_OF_A_VARIANT * block - (at < 2)
                yield TrialPlace(level=level, variant=variant, replicate=number, block=block)


class WithLooks:
    """A run of `scale ab` that ends after the first look at which its test finds a difference."""

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
        trials = self._looks[-1] / self._looks[0] * len(self._until(self._looks[0]))
        each_s = self._plan.seconds_estimated / len(self._plan.trials)
        return Bound(trials=round(trials), seconds=each_s * trials)

    def _until(self, blocks: int) -> tuple[Trial, ...]:
        sweep = self._plan.sweep
        made = {(trial.level, trial.variant[VARIANT]): trial for trial in self._plan.trials}
        trials = []
        for place in abba(sweep.levels, blocks, sweep.seed_of_order):
            like = made[place.level, tuple(sweep.variants_ab)[place.variant]]
            name = f"{like.point_id}-r{place.replicate}"
            trials.append(replace(like, trial_id=name, replicate=place.replicate, block=place.block))
        return in_order(trials)

    def _differs(self, body: Sequence[Trial], done: Sequence[TrialResult]) -> bool:
        ids = {trial.trial_id for trial in body}
        results = tuple(result for result in done if result.trial.trial_id in ids)
        plan = replace(self._plan, trials=tuple(body))
        comparison = compare_variants(StoredRun(path="", manifest={}, plan=plan, results=results, timeseries={}))
        return any(point is not None and point.differs for point in (*comparison.points, comparison.overall))
