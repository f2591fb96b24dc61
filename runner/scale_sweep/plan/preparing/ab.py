"""Two sweeps as one plan: the variants A and B of `scale ab`, each completed by its own target."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from scale_sweep.machine.host import read_host
from scale_sweep.machine.host.ram import with_size
from scale_sweep.model import Sweep
from scale_sweep.plan import PlannedArm, complete, plan_arms, with_constants
from scale_sweep.plan.power import blocks_for
from scale_sweep.plan.preparing.able import refuse_unable
from scale_sweep.plan.preparing.arms import arms_of
from scale_sweep.plan.preparing.noise import assumed_noise
from scale_sweep.plan.preparing.prepared import Prepared, looked_at, pages_of, with_held_memory, with_order_seed
from scale_sweep.plan.preparing.requested import subject_key
from scale_sweep.plan.preparing.same_server import refuse_same_server
from scale_sweep.plan.preparing.specs import refuse_wrong_specs
from scale_sweep.sweep.ab import as_one, variants_of, words
from scale_sweep.sweep.vary import VARIANT


def prepare_ab(a: Sweep, b: Sweep, blocks: int, results: Path) -> Prepared:
    """Chooses servers, plans and checks; starts nothing. Raises UsageError or PreflightError."""
    host = read_host()
    noise = assumed_noise(results, host, arms_of(a)[0].choice.facts.name)
    if a.detect_percent is not None:
        blocks = blocks_for(a.detect_percent, len(a.levels), noise)
    sides = tuple(replace(one, data_dir=with_size(one.data_dir)) for one in variants_of(a, b, blocks))
    seeded = with_order_seed(sides[0])
    planned, choices = [], {}
    for name, sweep in zip(seeded.variants_ab, sides, strict=True):
        arm = arms_of(replace(sweep, order_seed=seeded.order_seed))[0]
        refuse_unable(arm.sweep, arm.choice)
        choices[subject_key(arm.sweep)] = arm.choice
        own = complete(with_constants(arm.sweep, host), arm.choice.facts, host.memory_bytes)
        planned.append(PlannedArm(variant={VARIANT: name}, sweep=own, facts=arm.choice.facts))
    about = words(planned[0].sweep, planned[1].sweep)  # with their targets' defaults
    plan = plan_arms(as_one(replace(planned[0].sweep, variants_ab=about)), host, planned)
    if _plain(a) != _plain(b):
        refuse_same_server(plan, choices)
    refuse_wrong_specs(plan, choices)
    pages = pages_of(plan)
    return replace(looked_at(with_held_memory(plan, pages), choices, host, results, pages), noise=noise)


def _plain(sweep: Sweep) -> Sweep:
    """The sweep without where its settings come from."""
    return replace(sweep, origin={})
