"""More replicates where the interval is still too wide: the plan grows by a block, and the anchor stays last. Pure."""

from __future__ import annotations

import random
from collections.abc import Set
from dataclasses import replace

from runner.model import Plan, Trial
from runner.sweep.vary import slug

Point = tuple[float, str]


def point_of(trial: Trial) -> Point:
    """The level and the variant that a trial measures."""
    return trial.level, slug(trial.variant)


def next_block(plan: Plan, wide: Set[Point]) -> Plan | None:
    """The plan with one more replicate of each point in `wide`, in a seeded random order; None when none may be added.

    A point has at most `replicates_max` replicates. Bridges belong to their level and get the same number.
    """
    body = [t for t in plan.trials if t.role != "anchor"]
    anchors = [t for t in plan.trials if t.role == "anchor"]
    added: list[Trial] = []
    for last in _last_replicates(body):
        if point_of(last) in wide and last.replicate < plan.sweep.replicates_max:
            following = last.replicate + 1
            added.append(
                replace(last, trial_id=f"{last.point_id}-r{following}", replicate=following, block=following)
            )
    if not added:
        return None
    random.Random(f"{plan.sweep.seed}/{len(body)}").shuffle(added)
    trials = [*body, *added, *anchors]
    each_s = plan.seconds_estimated / len(plan.trials)
    return replace(
        plan,
        trials=tuple(replace(t, order=i) for i, t in enumerate(trials)),
        seconds_estimated=plan.seconds_estimated + each_s * len(added),
    )


def _last_replicates(trials: list[Trial]) -> list[Trial]:
    """Of each point, and of each bridge, the trial with the highest replicate."""
    last: dict[str, Trial] = {}
    for trial in trials:
        held = last.get(trial.point_id)
        if held is None or trial.replicate > held.replicate:
            last[trial.point_id] = trial
    return list(last.values())
