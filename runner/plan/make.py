"""Sweep → Plan: which trials, in which order, on which CPUs, with which knobs. Starts nothing.

Replicates are interleaved: each block holds every level once, in a seeded random order, so that drift of the machine
does not look like scaling. Trial ids are stable: `cores-4-r2` (or `disks-3-r1`) is the same trial in every run of the
sweep. In a disk sweep the cores are the same at every level.
Refuses to guess a knob: every knob has a value at every level, or the plan is a UsageError.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner.errors import UsageError
from runner.host import Host, place
from runner.model import Confound, KnobColumn, Plan, Resources, Subject, Sweep, Trial
from runner.plan.extra import anchor_of, boundaries, bridge
from runner.plan.knobs import with_knobs
from runner.sweep.disk_axis import preparation_seconds, write_seconds
from runner.setting.readers import rule_value
from runner.sweep.vary import as_varied, is_knob, slug, variants
from runner.targets import Facts, columns_of
from runner.units import format_cpus, format_levels, format_number, format_seconds


def make_plan(sweep: Sweep, host: Host, facts: Facts) -> Plan:
    """All trials of a completed sweep; the facts serve only to estimate the time.

    Raises UsageError for cores the machine has not, or a rule with a gap.
    """
    if sweep.axis == "disks":
        free = tuple(c for c in host.allowed if c not in sweep.client_cpus)
        sweep = replace(sweep, cores=sweep.cores or float(len(sweep.server_cpus or free or host.allowed)))
    _check_levels(sweep, host)
    declared = columns_of([facts])
    knobs = {level: _knobs_at(sweep, level, facts) for level in sweep.levels}
    points = [(level, variant) for level in sweep.levels for variant in variants(sweep)]
    chance = random.Random(sweep.seed)
    trials: list[Trial] = []
    for replicate in range(1, sweep.replicates + 1):
        block = [_trial(sweep, host, level, replicate, knobs[level], variant, declared) for level, variant in points]
        block += _bridges(sweep, block, knobs, declared)
        chance.shuffle(block)
        trials += [replace(trial, order=len(trials) + i) for i, trial in enumerate(block)]
    trials += anchor_of(trials) if sweep.anchors else ()
    return Plan(
        sweep=sweep,
        trials=tuple(trials),
        confounds=_confounds(sweep, knobs),
        notes=_notes(sweep, trials),
        seconds_estimated=sum(_seconds(sweep, trial, facts) for trial in trials),
        knobs=declared,
    )


def _check_levels(sweep: Sweep, host: Host) -> None:
    available = sweep.server_cpus or host.allowed
    absent = sorted(set(sweep.server_cpus + sweep.client_cpus) - set(host.allowed))
    if absent:
        raise UsageError(
            f"--server-cpus/--client-cpus: this machine has no usable CPU {format_cpus(tuple(absent))}",
            remedy=f"usable are {format_cpus(host.allowed)}",
        )
    most = sweep.cores or max(sweep.levels)
    if most > len(available):
        where = "--server-cpus names" if sweep.server_cpus else "this machine has"
        raise UsageError(
            f"--cores: {format_number(most)} cores asked for, {where} {len(available)}",
            remedy=f"--cores 1..{len(available)}" if len(available) > 1 else "--cores 1",
        )


def _knobs_at(sweep: Sweep, level: float, facts: Facts) -> dict[str, str]:
    found = {}
    for name, rule in sweep.knobs.items():
        value = rule_value(rule, level)
        if value is None:
            raise UsageError(
                f"--{name.replace('_', '-')}: the rule says nothing for {format_number(level)} {sweep.axis}",
                remedy="cover every level, like '1..4=4,5..=12'",
            )
        found[name] = value
    for name in (knob.name for knob in facts.knobs if knob.kind == "count" and knob.name in found):
        if not found[name].isdigit() or int(found[name]) < 1:
            raise UsageError(f"--{name.replace('_', '-')}: {found[name]!r} is not a whole number above 0")
    return found


def _trial(
    sweep: Sweep,
    host: Host,
    level: float,
    replicate: int,
    knobs: Mapping[str, str],
    variant: Mapping[str, str],
    declared: Sequence[KnobColumn],
) -> Trial:
    cores = sweep.cores or level
    placement = place(host, cores, sweep.server_cpus, sweep.client_cpus, sweep.cores or max(sweep.levels))
    varied = as_varied(sweep, variant)
    middle = f"-{slug(variant)}" if variant else ""
    point_id = f"{sweep.axis}-{format_number(level)}{middle}"
    return with_knobs(
        Trial(
            trial_id=f"{point_id}-r{replicate}",
            point_id=point_id,
            order=0,
            level=level,
            replicate=replicate,
            block=replicate,
            resources=Resources(
                cores=cores,
                placement=placement,
                disks=int(level) if sweep.axis == "disks" else 0,
                memory_bytes=sweep.memory_bytes,
            ),
            work=varied.work,
            load=varied.load,
            subject=_subject(varied, variant),
            knobs={},
            seed=sweep.seed,
        ),
        {**knobs, **{k: v for k, v in variant.items() if is_knob(k)}},
        declared,
    )


def _subject(sweep: Sweep, variant: Mapping[str, str]) -> Subject:
    return Subject(
        target=sweep.target,
        runtime=sweep.runtime,
        method=sweep.method,
        version=sweep.version,
        image=sweep.image,
        home=sweep.home,
        endpoint=sweep.endpoint,
        variant=variant,
    )


def _bridges(
    sweep: Sweep, block: list[Trial], knobs: Mapping[float, Mapping[str, str]], declared: Sequence[KnobColumn]
) -> list[Trial]:
    """Where a knob moves: the level after it once more, with the knobs of the level before it."""
    if not sweep.bridge:
        return []
    return [
        bridge(trial, before, knobs[before], {k: v for k, v in trial.variant.items() if is_knob(k)}, declared)
        for before, after in boundaries(sweep.levels, knobs)
        for trial in block
        if trial.level == after
    ]


def _confounds(sweep: Sweep, knobs: Mapping[float, Mapping[str, str]]) -> tuple[Confound, ...]:
    found = []
    for name in sweep.knobs:
        values = tuple(knobs[level][name] for level in sweep.levels)
        if len(set(values)) > 1:
            steps = ", ".join(f"{v} at {format_number(n)}" for n, v in zip(sweep.levels, values, strict=True))
            found.append(
                Confound(
                    knob=name,
                    values=values,
                    sentence=f"{name} moves with the {sweep.axis} ({steps}): "
                    f"the curve shows both, not the {sweep.axis} alone",
                )
            )
    return tuple(found)


def _notes(sweep: Sweep, trials: list[Trial]) -> tuple[str, ...]:
    notes = []
    for cpus in sorted({t.placement.shared for t in trials if t.placement.shared}):
        cores = tuple(sorted({t.cores for t in trials if t.placement.shared == cpus}))
        notes.append(
            f"at {format_levels(cores)} cores the generator shares CPU {format_cpus(cpus)} with the server: "
            "this machine has too few for both"
        )
    if sweep.bridge and not any(t.role == "bridge" for t in trials):
        notes.append("--bridge: no knob moves along the axis, so there is nothing to bridge")
    if sweep.replicates < 2 and sweep.until_ci_percent is None:
        notes.append("one replicate: the noise cannot be told from the scaling")
    return tuple(notes)


def _seconds(sweep: Sweep, trial: Trial, facts: Facts) -> float:
    fixed = sweep.load.duration_s
    work = fixed if fixed is not None else (sweep.load.rows or 0) / (facts.rows_per_core_s * trial.cores)
    if sweep.axis == "disks":
        work = max(work, write_seconds(sweep, trial))
    return facts.overhead_s + sweep.load.warmup_s + work


def plan_sentence(plan: Plan) -> str:
    """What will happen, in one line."""
    sweep = plan.sweep
    many = f" × {len(variants(sweep))} variants" if sweep.vary else ""
    bridges = sum(t.role == "bridge" for t in plan.trials)
    extra = f" + {bridges} bridges" if bridges else ""
    extra += " + 1 anchor" if any(t.role == "anchor" for t in plan.trials) else ""
    extra += f", more until ± {sweep.until_ci_percent:g} %" if sweep.until_ci_percent else ""
    before_s = preparation_seconds(sweep)
    before = f" after {format_seconds(before_s)} to make and measure the disks" if before_s else ""
    return (
        f"{len(plan.trials)} trials: {format_levels(sweep.levels)} {sweep.axis}{many} × {sweep.replicates} "
        f"replicate{'s' if sweep.replicates > 1 else ''}{extra} of {sweep.target} "
        f"({sweep.runtime}, {sweep.method}), "
        f"about {format_seconds(plan.seconds_estimated)}{before}"
    )
