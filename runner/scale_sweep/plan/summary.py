"""Estimated durations in seconds, and a plan in one sentence. Pure."""

from __future__ import annotations

from scale_sweep.base.units import counted, format_levels, format_rate, format_seconds
from scale_sweep.capacity.search import BETWEEN_S, OPENING_S, PROBES, WARMUP_S
from scale_sweep.experiment.axes import axis_of, load_axis
from scale_sweep.loadgen.split import seconds_to_begin
from scale_sweep.model.declared import Sweep
from scale_sweep.model.declared_parts import Load
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.plan.data_sets import data_key
from scale_sweep.plan.planner import TRIALS_OF_A_VARIANT, Bound
from scale_sweep.server.targets import Facts, load_facts
from scale_sweep.sweep.vary import variants

LEVEL_AFTER = 1.5  # times the least warm-up, for estimates of time


def warmup_words(load: Load) -> str:
    if load.warmup_least_s is None:
        return f"{load.warmup_s:g} s"
    return f"until level, {load.warmup_least_s:g} to {load.warmup_s:g} s"


def warmup_seconds(load: Load) -> float:
    """An estimate."""
    return load.warmup_s if load.warmup_least_s is None else min(load.warmup_s, LEVEL_AFTER * load.warmup_least_s)


def seconds(sweep: Sweep, trial: Trial, facts: Facts) -> float:
    fixed = trial.load.duration_s
    work = fixed if fixed is not None else (trial.load.rows or 0) / (facts.rows_per_core_s * trial.cores)
    before = 0.0 if data_key(trial) else preload_seconds(trial, facts)
    window = max(work, axis_of(sweep.axis).work_seconds(sweep, trial))
    if trial.load.searches:
        begin_s = seconds_to_begin(trial.load.connections, facts.threads_per_process)
        window = OPENING_S + PROBES * (begin_s + WARMUP_S + (trial.load.duration_s or 0.0) + BETWEEN_S)
    return facts.overhead_s + before + warmup_seconds(trial.load) + window


def preload_seconds(trial: Trial, facts: Facts) -> float:
    return trial.work.preload_rows / (facts.rows_per_core_s * trial.cores)


def plan_sentence(plan: Plan) -> str:
    """Trials, levels, target, duration."""
    sweep = plan.sweep
    many = f" × {counted(len(variants(sweep)), 'variant')}" if sweep.vary else ""
    ablations = sum(t.role == "ablation" for t in plan.trials)
    extra = f" + {counted(ablations, 'ablation trial')}" if ablations else ""
    extra += " + 1 drift check" if any(t.role == "drift_check" for t in plan.trials) else ""
    sentinels = sum(t.role == "sentinel" for t in plan.trials)
    extra += f" + {sentinels} longer" if sentinels else ""
    extra += " + 2 profiled" if sweep.profile else ""
    proofs = sum(t.role == "proof" for t in plan.trials)
    extra += f" + {counted(proofs, 'proof')}" if proofs else ""
    times = f"{counted(sweep.replicates, 'replicate')}{extra}"
    if sweep.variants_ab:
        many, times = "", f"{counted(sweep.replicates // TRIALS_OF_A_VARIANT, 'block')} of A B B A"
    before_s, what = axis_of(sweep.axis).before(sweep)
    before = f" after {format_seconds(before_s)} {what}" if before_s else ""
    percent = sweep.until_ci_percent
    more = f", more until each 95 % interval ends within {percent:g} % of its mean" if percent else ""
    objective = sweep.load.objective
    sought = f", each searches the highest rate that holds {objective.words}" if objective is not None else ""
    return (
        f"{counted(len(plan.trials), 'trial')}: {load_axis(sweep.axis).count(format_levels(sweep.levels))}{many} × "
        f"{times} of {sweep.target} ({sweep.runtime}, {sweep.method}), "
        f"about {format_seconds(plan.seconds_estimated)}{before}{more}{sought}"
    )


def rate_sentence(plan: Plan) -> str:
    """Which the estimate assumes, and whether it depends on them."""
    if plan.sweep.load.command is not None:
        return "" if plan.sweep.load.duration_s is not None else "how long the program of --load runs is not known"
    targets = dict.fromkeys(trial.subject.target for trial in plan.trials)
    rates = ", ".join(f"{format_rate(load_facts(name).rows_per_core_s).strip()} of {name}" for name in targets)
    by_rate = any(trial.load.duration_s is None or trial.work.preload_rows for trial in plan.trials)
    effect = "the duration follows from it" if by_rate else "the duration does not depend on it, each window is timed"
    return f"assumed rate in rows/s for each core, before a trial has measured one: {rates}; {effect}"


def bound_sentence(plan: Plan, bound: Bound) -> str:
    """ "" if the plan does not grow."""
    if bound.trials <= len(plan.trials):
        return ""
    grows = ["replicates until the intervals are narrow"] if plan.sweep.until_ci_percent is not None else []
    if plan.sweep.origin.get("method.replicates") == "time":
        grows.append("replicates while the time of --quick lasts")
    if plan.sweep.confirms:
        grows.append("the trials that confirm the capacity of each level")
    if plan.sweep.connections_check:
        grows.append("a connections check of each level that leaves resources idle")
    return (
        f"at most {counted(bound.trials, 'trial')}, about {format_seconds(bound.seconds)}, with {' and '.join(grows)}"
    )
