"""Sweep → Plan, and the plan's growth: which trials, in which order, on which CPUs, with which knobs. Pure and seeded.

`make` plans, `extra` adds trials that are no points of the curve (anchors, bridges), `growth` adds replicates later.
"""

from runner.plan.complete import complete
from runner.plan.grants import with_constants
from runner.plan.growth import next_block
from runner.plan.make import make_plan
from runner.plan.words import plan_sentence

__all__ = ["complete", "make_plan", "next_block", "plan_sentence", "with_constants"]
