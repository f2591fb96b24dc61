"""Sweep → Plan: trials, their order, CPUs and knobs."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import all_axes, load_axis
from scale_sweep.experiment.setting.readers import rule_value
from scale_sweep.experiment.work import offered_per_s
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.model.declared import Subject, Sweep, Work
from scale_sweep.model.declared_parts import KnobColumn, Load
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.resources import Resources
from scale_sweep.plan.data_sets import makers
from scale_sweep.plan.extra_trials import ablation, at_ends, boundaries, drift_check_of, sentinels_of
from scale_sweep.plan.granted import (
    COUNT,
    AmountsByLevel,
    amounts_by_level,
    granted_knobs,
    knobs_of_level,
    resources_by_level,
    with_constants,
    with_knobs,
)
from scale_sweep.plan.notes import confounds, cpu_confounds, cpu_notes, notes
from scale_sweep.plan.planner import TRIALS_OF_A_VARIANT, abba, in_order
from scale_sweep.plan.proofs import proof_notes, proofs_of
from scale_sweep.plan.replicates import replicates_in_time, warmup_in_time, with_replicates, with_warmup
from scale_sweep.plan.summary import preload_seconds, seconds
from scale_sweep.server.targets import Facts, columns_of
from scale_sweep.sweep.axis import refuse_too_many
from scale_sweep.sweep.server_settings import knob_flag
from scale_sweep.sweep.vary import as_varied, is_knob, slug, variants


@dataclass(frozen=True, kw_only=True)
class PlannedArm:
    variant: Mapping[str, str]  # its values of --vary
    sweep: Sweep  # of this combination, completed by its target
    facts: Facts

    @property
    def subject(self) -> Subject:
        s = self.sweep
        return Subject(
            target=s.target,
            runtime=s.runtime,
            method=s.method,
            version=s.version,
            image=s.image,
            home=s.home,
            endpoint=s.endpoint,
            command=s.command,
            ready=s.ready,
            tls=s.tls,
            variant=self.variant,
        )

    @functools.cached_property
    def granted(self) -> AmountsByLevel:
        return amounts_by_level(self.sweep)

    @property
    def knobs(self) -> dict[str, str]:
        varied = {name: value for name, value in self.variant.items() if is_knob(name)}
        declared = {name: self.facts.knob_named(name) for name in varied}
        return {(knob.name if (knob := declared[name]) else name): value for name, value in varied.items()}


KnobsByLevel = Mapping[float, Mapping[str, str]]


def make_plan(sweep: Sweep, host: Host, facts: Facts) -> Plan:
    """Raises UsageError for more cores than the machine has, or for a rule with a gap."""
    arms = [PlannedArm(variant=v, sweep=as_varied(sweep, v), facts=facts) for v in variants(sweep)]
    return plan_arms(sweep, host, arms)


def plan_arms(sweep: Sweep, host: Host, arms: Sequence[PlannedArm]) -> Plan:
    """Each subject is in every block; with fewer blocks and shorter warm-ups where those of --quick take too long."""
    plan = _plan_arms(sweep, host, arms)
    count = replicates_in_time(plan)
    if count == plan.sweep.replicates:
        return plan
    sweep = with_replicates(sweep, count)
    arms = [replace(arm, sweep=with_replicates(arm.sweep, count)) for arm in arms]
    plan = _plan_arms(sweep, host, arms)
    bound_s = warmup_in_time(plan)
    if bound_s is None:
        return plan
    shorter = [replace(arm, sweep=with_warmup(arm.sweep, bound_s)) for arm in arms]
    return _plan_arms(with_warmup(sweep, bound_s), host, shorter)


def noted(plan: Plan, *sentences: str) -> Plan:
    """The plan with more notes; "" is none."""
    return replace(plan, notes=(*plan.notes, *filter(None, sentences)))


class _Arm(NamedTuple):
    planned: PlannedArm
    knobs: KnobsByLevel
    resources: Mapping[float, Resources]


def _plan_arms(sweep: Sweep, host: Host, planned: Sequence[PlannedArm]) -> Plan:
    sweep = with_constants(_named_after_all(sweep, planned), host)
    planned = [replace(arm, sweep=with_constants(arm.sweep, host)) for arm in planned]
    refuse_too_many(
        {
            "--replicates": ("replicates", sweep.replicates),
            "the levels": ("levels", len(sweep.levels)),
            "--vary": ("combinations", len(planned)),
            "--ablation": ("trials of each", 2 if sweep.ablation else 1),
        }
    )
    for axis in all_axes():
        axis.check(sweep, host, [amounts for arm in planned for amounts in arm.granted.values()])
    declared = columns_of(arm.facts for arm in planned)
    knobs = [{level: _knobs_at(arm, level, declared) for level in sweep.levels} for arm in planned]
    arms = [
        _Arm(arm, by_level, resources_by_level(arm.sweep, arm.granted, host))
        for arm, by_level in zip(planned, knobs, strict=True)
    ]
    trials = _trials(sweep, arms, declared)
    facts_of = {arm.subject.target: arm.facts for arm in planned}
    set_by_level = granted_knobs(sweep, planned[0].granted, declared)
    return Plan(
        sweep=sweep,
        trials=tuple(trials),
        confounds=(*confounds(sweep, list(map(_moving, arms)), set_by_level), *cpu_confounds(sweep, trials)),
        notes=(*notes(sweep, trials, facts_of), *cpu_notes(sweep, trials, host), *proof_notes(sweep, trials)),
        seconds_estimated=sum(seconds(sweep, trial, facts_of[trial.subject.target]) for trial in trials)
        + sum(preload_seconds(trial, facts_of[trial.subject.target]) for trial in makers(trials).values()),
        knobs=declared,
        is_simulated=any(arm.facts.is_simulated for arm in planned),
    )


def _moving(arm: _Arm) -> KnobsByLevel:
    if arm.planned.sweep.endpoint:
        return arm.knobs
    by_cores = arm.planned.facts.by_cores
    return {
        level: {**{name: value(arm.resources[level].cores) for name, value in by_cores.items()}, **knobs}
        for level, knobs in arm.knobs.items()
    }


def _named_after_all(sweep: Sweep, arms: Sequence[PlannedArm]) -> Sweep:
    subjects = [arm.subject for arm in arms]
    if len({subject.target for subject in subjects}) < 2:
        return sweep
    return replace(
        sweep,
        target=",".join(dict.fromkeys(s.target for s in subjects)),
        runtime=",".join(dict.fromkeys(s.runtime for s in subjects)),
        method=",".join(dict.fromkeys(s.method for s in subjects)),
    )


def _trials(sweep: Sweep, arms: Sequence[_Arm], declared: Sequence[KnobColumn]) -> list[Trial]:
    trials: list[Trial] = []
    if sweep.variants_ab:
        for p in abba(sweep.levels, sweep.replicates // TRIALS_OF_A_VARIANT, sweep.seed_of_order):
            trial = _trial(arms[p.variant], p.level, p.replicate, declared)
            trials.append(replace(trial, block=p.block, order=len(trials)))
        return trials
    chance = random.Random(sweep.seed_of_order)
    for replicate in range(1, sweep.replicates + 1):
        block = [_trial(arm, level, replicate, declared) for level in sweep.levels for arm in arms]
        if sweep.ablation:
            block += _ablations(sweep, block, arms, declared)
        chance.shuffle(block)
        trials += in_order(block, len(trials))
    trials += sentinels_of(trials) if sweep.sentinel and not load_axis(sweep.axis).is_durable else ()
    trials += at_ends(trials, "profile") if sweep.profile else ()
    trials += proofs_of(sweep, trials)
    return [*trials, *(drift_check_of(trials) if sweep.drift_check else ())]


def _knobs_at(arm: PlannedArm, level: float, declared: Sequence[KnobColumn]) -> dict[str, str]:
    values = {}
    for name, rule in arm.sweep.knobs.items():
        value = rule_value(rule, level)
        if value is None:
            raise UsageError(
                f"{knob_flag(name)}: the rule has no value for {format_number(level)} {arm.sweep.axis}",
                remedy="cover every level, like '1..4=4,5..=12'",
            )
        values[name] = value
    for name in (knob.name for knob in arm.facts.knobs if knob.kind == "count" and knob.name in values):
        if not COUNT.fullmatch(values[name]) or int(values[name]) < 1:
            raise UsageError(f"{knob_flag(name)}: {values[name]!r} is not a whole number above 0")
    own = [column for column in declared if arm.facts.knob_named(column.name)]
    return {**values, **knobs_of_level(arm.sweep, level, arm.granted[level], own)}


def _trial(arm: _Arm, level: float, replicate: int, declared: Sequence[KnobColumn]) -> Trial:
    sweep, variant, resources = arm.planned.sweep, arm.planned.variant, arm.resources[level]
    point_id = f"{sweep.axis}-{format_number(level)}{f'-{slug(variant)}' if variant else ''}"
    trial = Trial(
        trial_id=f"{point_id}-r{replicate}",
        point_id=point_id,
        order=0,
        level=level,
        replicate=replicate,
        block=replicate,
        resources=resources,
        work=sweep.work,
        load=_load(sweep.load, sweep.work, level, resources.cores),
        subject=arm.planned.subject,
        knobs={},
        seed=sweep.seed,
        settings=sweep.settings,
    )
    return with_knobs(trial, {**arm.knobs[level], **arm.planned.knobs}, declared)


def _load(load: Load, work: Work, level: float, cores: float) -> Load:
    """Below one core, a warm-up until the rate is level may take 1/cores times as long. Rows in proportion to the level
    become a total."""
    load = replace(load, rate=offered_per_s(work) or load.rate)
    if load.warmup_least_s is not None:
        load = replace(load, warmup_s=load.warmup_s / min(1.0, cores))
    if not load.rows_by_level or load.rows is None:
        return load
    return replace(load, rows=max(1, round(load.rows * level)), rows_by_level=False)


def _ablations(
    sweep: Sweep, block: Sequence[Trial], arms: Sequence[_Arm], declared: Sequence[KnobColumn]
) -> list[Trial]:
    return [
        ablation(trial, before, arm.knobs[before], arm.planned.knobs, declared)
        for arm in arms
        for before, after in boundaries(sweep.levels, arm.knobs)
        for trial in block
        if trial.level == after and trial.variant == arm.planned.variant
    ]
