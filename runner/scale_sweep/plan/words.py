"""What to know of a plan: confounds, notes, its duration, in sentences. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from scale_sweep.base.units import counted, format_cpus, format_levels, format_number, format_seconds
from scale_sweep.experiment.axes import axis_of, load_axis
from scale_sweep.model import Confound, Load, Plan, Sweep, Trial
from scale_sweep.plan.abba import TRIALS_OF_A_VARIANT
from scale_sweep.plan.data_sets import data_key, makers
from scale_sweep.plan.planner import Bound
from scale_sweep.plan.terms import durability, unanswered
from scale_sweep.server.targets import Facts
from scale_sweep.sweep.vary import variants

LEVEL_AFTER = 1.5  # times the least warm-up, for estimates of time


def confounds(
    sweep: Sweep, knobs: Sequence[Mapping[float, Mapping[str, str]]], granted: Set[str]
) -> tuple[Confound, ...]:
    """Every knob that moves along the axis by a rule. knobs: by level, of each subject. granted: knobs that the level
    itself sets, which are what is swept."""
    found: dict[str, Confound] = {}
    for by_level in knobs:
        names = dict.fromkeys(name for at_level in by_level.values() for name in at_level)
        for name in (n for n in names if n not in granted):
            values = tuple(by_level[level].get(name, "") for level in sweep.levels)
            if len(set(values)) > 1:
                found.setdefault(name, _confound(sweep, name, values))
    return tuple(found.values())


def _confound(sweep: Sweep, name: str, values: tuple[str, ...]) -> Confound:
    steps = ", ".join(f"{v} at {format_number(n)}" for n, v in zip(sweep.levels, values, strict=True))
    return Confound(
        knob=name,
        values=values,
        sentence=f"{name} moves with the {sweep.axis} ({steps}): the curve shows both, not the {sweep.axis} alone",
    )


def notes(sweep: Sweep, trials: Sequence[Trial], facts_of: Mapping[str, Facts]) -> tuple[str, ...]:
    """What the plan could not avoid, as sentences. facts_of: each target's, by its name."""
    found = unanswered(trials, facts_of) + durability(sweep, trials, facts_of)
    for cpus in sorted({t.placement.shared for t in trials if t.placement.shared}):
        cores = tuple(sorted({t.cores for t in trials if t.placement.shared == cpus}))
        found.append(
            f"at {format_levels(cores)} cores the load generator shares CPU {format_cpus(cpus)} with the server: "
            "this machine has too few for both"
        )
    in_a_row = sorted({t.work.data.requests_per_table for t in trials} - {1})
    if in_a_row:
        numbers = " or ".join(f"{number:,}" for number in in_a_row)
        found.append(f"{numbers} requests of a table come before the next table's: tables are not written in turn")
    if sweep.ablation and not any(t.role == "ablation" for t in trials):
        found.append("--ablation: no knob moves along the axis, so there is nothing to split")
    if sweep.data_dir.startswith("ram:"):
        size = sweep.data_dir.partition(":")[2]
        found.append(
            f"the data is in memory (--data-dir ram, {size} at most): the rates do not contain the cost of a disk, "
            "and the data uses the server's memory"
        )
    found += _rows_before(trials)
    if sweep.replicates < 2 and sweep.until_ci_percent is None:
        found.append("one replicate: the noise cannot be distinguished from the scaling")
    return tuple(found)


def _rows_before(trials: Sequence[Trial]) -> list[str]:
    """How the rows of --preload are loaded, and what of them is in memory; empty without them."""
    works = {t.work.preload_rows: t.work for t in trials if t.work.preload_rows}
    if not works:
        return []
    rows = " or ".join(f"{count:,}" for count in sorted(works))
    sets, alone = len(makers(trials)), any(not data_key(t) for t in trials)
    each = "every trial loads them" if alone else "every trial gets a copy of the files"
    once = (
        f"they are loaded {'once' if sets == 1 else f'{sets} times, once for each kind of files'}, and " if sets else ""
    )
    cache = {"warm": ", and reads all of them before its load", "cold": ", none of which is in memory"}
    caches = sorted({t.work.cache for t in trials})
    after = "".join(cache.get(one, "") for one in caches) if len(caches) == 1 else ""
    return [f"--preload: {rows} rows are there before each load; {once}{each}{after}"]


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
    """What will happen, in one line."""
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
    """How much the plan may grow; "" if it does not grow."""
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
