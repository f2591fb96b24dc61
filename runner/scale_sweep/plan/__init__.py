"""Sweep → Plan, and which trials come next: their order, CPUs and knobs. Pure and seeded.

`make` plans. `extra` adds trials that are not points of the curve (drift checks, ablation trials). `planner` defines
what a planner is, `fixed`, `until` and `quick` are the planners, and `check` adds trials to those of any planner.
"""

from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import Plan, VerdictKind
from scale_sweep.plan.arms import Arm as PlannedArm
from scale_sweep.plan.check import WithConnectionsCheck
from scale_sweep.plan.complete import complete, left_out
from scale_sweep.plan.fixed import FixedPlan
from scale_sweep.plan.make import make_plan, plan_arms
from scale_sweep.plan.planner import Block, Bound, Planner, with_block
from scale_sweep.plan.power import power_of, power_sentence
from scale_sweep.plan.quick import WithinTime, is_by_time
from scale_sweep.plan.resources import with_constants
from scale_sweep.plan.until import UntilInterval
from scale_sweep.plan.words import bound_sentence, plan_sentence

__all__ = [
    "Block",
    "Bound",
    "PlannedArm",
    "Planner",
    "bound_sentence",
    "complete",
    "left_out",
    "make_plan",
    "plan_arms",
    "plan_sentence",
    "planner_of",
    "power_of",
    "power_sentence",
    "with_block",
    "with_constants",
]


def planner_of(plan: Plan) -> Planner:
    """The planner that the plan's sweep asks for."""
    by_time = WithinTime if is_by_time(plan.sweep) else FixedPlan
    measured = UntilInterval if plan.sweep.until_ci_percent is not None else by_time
    may_be_checked = load_axis(plan.sweep.axis).own_verdict is VerdictKind.RESOURCE_NOT_SATURATED
    return WithConnectionsCheck(plan, measured) if plan.sweep.connections_check and may_be_checked else measured(plan)
