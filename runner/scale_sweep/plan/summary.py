"""The duration of trials and plans in seconds, estimated, and a plan in one sentence. Pure."""

from __future__ import annotations

from scale_sweep.base.units import counted, format_levels, format_seconds
from scale_sweep.experiment.axes import axis_of, load_axis
from scale_sweep.model import Load, Plan, Sweep, Trial
from scale_sweep.plan.data_sets import data_key
from scale_sweep.plan.planner import TRIALS_OF_A_VARIANT, Bound
from scale_sweep.server.targets import Facts
from scale_sweep.sweep.vary import variants

LEVEL_AFTER = 1.5  # times the least warm-up, for estimates of time


def warmup_words(load: Load) -> str:
    """The length of the warm-up: "5 s", or "until level, 5 to 60 s"."""
    if load.warmup_least_s is None:
        return f"{load.warmup_s:g} s"
    return f"until level, {load.warmup_least_s:g} to {load.warmup_s:g} s"


def warmup_seconds(load: Load) -> float:
    """The duration of a warm-up in seconds; an estimate if it ends when the rate is level."""
    return load.warmup_s if load.warmup_least_s is None else min(load.warmup_s, LEVEL_AFTER * load.warmup_least_s)


def seconds(sweep: Sweep, trial: Trial, facts: Facts) -> float:
    """The duration of a trial in seconds, an estimate."""
    fixed = trial.load.duration_s
    work = fixed if fixed is not None else (trial.load.rows or 0) / (facts.rows_per_core_s * trial.cores)
    before = 0.0 if data_key(trial) else preload_seconds(trial, facts)
    window = max(work, axis_of(sweep.axis).work_seconds(sweep, trial))
    return facts.overhead_s + before + warmup_seconds(trial.load) + window


def preload_seconds(trial: Trial, facts: Facts) -> float:
    """The duration of loading the rows of --preload in seconds, an estimate."""
    return trial.work.preload_rows / (facts.rows_per_core_s * trial.cores)


def plan_sentence(plan: Plan) -> str:
    """The plan in one line: trials, levels, target, duration."""
    sweep = plan.sweep
    many = f" × {len(variants(sweep))} variants" if sweep.vary else ""
    ablations = sum(t.role == "ablation" for t in plan.trials)
    extra = f" + {ablations} ablation trials" if ablations else ""
    extra += " + 1 drift check" if any(t.role == "drift_check" for t in plan.trials) else ""
    extra += " + 2 profiled" if sweep.profile else ""
    extra += f", more until ± {sweep.until_ci_percent:g} %" if sweep.until_ci_percent else ""
    times = f"{sweep.replicates} replicate{'s' if sweep.replicates > 1 else ''}{extra}"
    if sweep.variants_ab:
        many, times = "", f"{sweep.replicates // TRIALS_OF_A_VARIANT} blocks of A B B A"
    before_s, what = axis_of(sweep.axis).before(sweep)
    before = f" after {format_seconds(before_s)} {what}" if before_s else ""
    return (
        f"{counted(len(plan.trials), 'trial')}: {load_axis(sweep.axis).count(format_levels(sweep.levels))}{many} × "
        f"{times} of {sweep.target} ({sweep.runtime}, {sweep.method}), "
        f"about {format_seconds(plan.seconds_estimated)}{before}"
    )


def bound_sentence(plan: Plan, bound: Bound) -> str:
    """The most trials that the plan may grow to, in one line; "" if it does not grow."""
    if bound.trials <= len(plan.trials):
        return ""
    grows = ["replicates until the intervals are narrow"] if plan.sweep.until_ci_percent is not None else []
    if plan.sweep.origin.get("method.replicates") == "time":
        grows.append("replicates while the time of --quick lasts")
    if plan.sweep.connections_check:
        grows.append("a connections check of each level that leaves idle what it is given")
    return (
        f"at most {counted(bound.trials, 'trial')}, about {format_seconds(bound.seconds)}, with {' and '.join(grows)}"
    )
