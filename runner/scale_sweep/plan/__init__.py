"""Sweep → Plan, and which trials come next: their order, CPUs and knobs."""

from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import Plan, VerdictKind
from scale_sweep.plan.complete import complete, left_out
from scale_sweep.plan.confirming import WithConfirmation
from scale_sweep.plan.extra_trials import WithConnectionsCheck
from scale_sweep.plan.looks import WithLooks
from scale_sweep.plan.make import PlannedArm, make_plan, plan_arms
from scale_sweep.plan.planner import Block, Bound, FixedPlan, Planner, with_block
from scale_sweep.plan.power import GatePower, gate_power_of, gate_sentence, power_details, power_of, power_sentence
from scale_sweep.plan.replicates import UntilInterval, WithinTime, is_by_time, may_grow
from scale_sweep.plan.resources import refuse_ungranted, with_constants
from scale_sweep.plan.summary import bound_sentence, plan_sentence, rate_sentence

__all__ = [
    "Block",
    "Bound",
    "GatePower",
    "PlannedArm",
    "Planner",
    "bound_sentence",
    "complete",
    "gate_power_of",
    "gate_sentence",
    "left_out",
    "make_plan",
    "may_grow",
    "plan_arms",
    "plan_sentence",
    "planner_of",
    "power_details",
    "power_of",
    "power_sentence",
    "rate_sentence",
    "refuse_ungranted",
    "with_block",
    "with_constants",
]


def planner_of(plan: Plan) -> Planner:
    if plan.sweep.looks_ab:
        return WithLooks(plan)
    by_time = WithinTime if is_by_time(plan.sweep) else FixedPlan
    measured = UntilInterval if plan.sweep.until_ci_percent is not None else by_time
    if plan.sweep.confirms:
        return WithConfirmation(plan, measured)
    may_be_checked = load_axis(plan.sweep.axis).own_verdict is VerdictKind.RESOURCE_NOT_SATURATED
    return WithConnectionsCheck(plan, measured) if plan.sweep.connections_check and may_be_checked else measured(plan)
