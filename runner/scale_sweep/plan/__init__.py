"""Sweep → Plan, and which trials come next: their order, CPUs and knobs."""

from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.planned import Plan
from scale_sweep.plan.extra_trials import WithConfirmation, WithConnectionsCheck
from scale_sweep.plan.planner import FixedPlan, Planner, WithLooks
from scale_sweep.plan.replicates import UntilInterval, WithinTime, is_by_time


def planner_of(plan: Plan) -> Planner:
    if plan.sweep.looks_ab:
        return WithLooks(plan)
    by_time = WithinTime if is_by_time(plan.sweep) else FixedPlan
    measured = UntilInterval if plan.sweep.until_ci_percent is not None else by_time
    if plan.sweep.confirms:
        return WithConfirmation(plan, measured)
    may_be_checked = load_axis(plan.sweep.axis).own_verdict is VerdictKind.RESOURCE_NOT_SATURATED
    return WithConnectionsCheck(plan, measured) if plan.sweep.connections_check and may_be_checked else measured(plan)
