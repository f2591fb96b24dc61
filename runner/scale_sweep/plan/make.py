"""Sweep → Plan: trials, their order, CPUs and knobs."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import all_axes, load_axis
from scale_sweep.experiment.setting.readers import rule_value
from scale_sweep.experiment.work import offered_per_s
from scale_sweep.machine.host import Host
from scale_sweep.model import KnobColumn, Load, Plan, Resources, Subject, Sweep, Trial, Work
from scale_sweep.plan.cpu_notes import cpu_confounds, cpu_notes
from scale_sweep.plan.data_sets import makers
from scale_sweep.plan.extra_trials import ablation, boundaries, drift_check_of, profiled, sentinels_of
from scale_sweep.plan.knobs import COUNT, granted_knobs, knobs_of_level, with_knobs
from scale_sweep.plan.notes import confounds, notes
from scale_sweep.plan.planner import TRIALS_OF_A_VARIANT
from scale_sweep.plan.replicates import replicates_in_time, warmup_in_time, with_replicates, with_warmup
from scale_sweep.plan.resources import AmountsByLevel, amounts_by_level, resources_by_level, with_constants
from scale_sweep.plan.summary import preload_seconds, seconds
from scale_sweep.server.targets import Facts, columns_of
from scale_sweep.sweep.axis import refuse_too_many
from scale_sweep.sweep.vary import as_varied, is_knob, slug, variants


@dataclass(frozen=True, kw_only=True)
class PlannedArm:
    """One subject."""

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
            variant=self.variant,
        )

    @functools.cached_property
    def granted(self) -> AmountsByLevel:
        return amounts_by_level(self.sweep)

    @property
    def knobs(self) -> dict[str, str]:
        """The knobs that the variant sets, by the target's names."""
        varied = {name: value for name, value in self.variant.items() if is_knob(name)}
        declared = {name: self.facts.knob_named(name) for name in varied}
        return {(knob.name if (knob := declared[name]) else name): value for name, value in varied.items()}


def planned_arms(sweep: Sweep, facts: Facts) -> tuple[PlannedArm, ...]:
    return tuple(PlannedArm(variant=v, sweep=as_varied(sweep, v), facts=facts) for v in variants(sweep))


KnobsByLevel = Mapping[float, Mapping[str, str]]
ResourcesByLevel = Mapping[float, Resources]


def make_plan(sweep: Sweep, host: Host, facts: Facts) -> Plan:
    """All trials of a completed sweep of one target. Raises UsageError for more cores than the machine has, or for a
    rule with a gap."""
    return plan_arms(sweep, host, planned_arms(sweep, facts))


def plan_arms(sweep: Sweep, host: Host, arms: Sequence[PlannedArm]) -> Plan:
    """All trials of several subjects, each of which is in every block; with fewer blocks and shorter warm-ups where
    those of --quick would take too long. Raises UsageError likewise."""
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


def _plan_arms(sweep: Sweep, host: Host, arms: Sequence[PlannedArm]) -> Plan:
    sweep = with_constants(_named_after_all(sweep, arms), host)
    arms = [replace(arm, sweep=with_constants(arm.sweep, host)) for arm in arms]
    refuse_too_many(
        {
            "--replicates": ("replicates", sweep.replicates),
            "the levels": ("levels", len(sweep.levels)),
            "--vary": ("combinations", len(arms)),
            "--ablation": ("trials of each", 2 if sweep.ablation else 1),
        }
    )
    for axis in all_axes():
        axis.check(sweep, host, [amounts for arm in arms for amounts in arm.granted.values()])
    declared = columns_of(arm.facts for arm in arms)
    knobs = [{level: _knobs_at(arm, level, declared) for level in sweep.levels} for arm in arms]
    resources = [resources_by_level(arm.sweep, arm.granted, host) for arm in arms]
    trials = _trials(sweep, resources, arms, knobs, declared)
    facts_of = {arm.subject.target: arm.facts for arm in arms}
    set_by_level = granted_knobs(sweep, arms[0].granted, declared)
    return Plan(
        sweep=sweep,
        trials=tuple(trials),
        confounds=(*confounds(sweep, _moving(arms, knobs, resources), set_by_level), *cpu_confounds(sweep, trials)),
        notes=(*notes(sweep, trials, facts_of), *cpu_notes(sweep, trials, host)),
        seconds_estimated=sum(seconds(sweep, trial, facts_of[trial.subject.target]) for trial in trials)
        + sum(preload_seconds(trial, facts_of[trial.subject.target]) for trial in makers(trials).values()),
        knobs=declared,
    )


def _moving(
    arms: Sequence[PlannedArm], knobs: Sequence[KnobsByLevel], resources: Sequence[ResourcesByLevel]
) -> list[KnobsByLevel]:
    return [
        {
            level: {**{name: value(granted[level].cores) for name, value in arm.facts.by_cores.items()}, **at_level}
            if not arm.sweep.endpoint
            else at_level
            for level, at_level in by_level.items()
        }
        for arm, by_level, granted in zip(arms, knobs, resources, strict=True)
    ]


def _named_after_all(sweep: Sweep, arms: Sequence[PlannedArm]) -> Sweep:
    if len({arm.subject.target for arm in arms}) < 2:
        return sweep
    subjects = [arm.subject for arm in arms]
    return replace(
        sweep,
        target=",".join(dict.fromkeys(s.target for s in subjects)),
        runtime=",".join(dict.fromkeys(s.runtime for s in subjects)),
        method=",".join(dict.fromkeys(s.method for s in subjects)),
    )


def _trials(
    sweep: Sweep,
    resources: Sequence[ResourcesByLevel],
    arms: Sequence[PlannedArm],
    knobs: Sequence[KnobsByLevel],
    declared: Sequence[KnobColumn],
) -> list[Trial]:
    if sweep.variants_ab:
        return _in_blocks(sweep, resources, arms, knobs, declared)
    points = [(level, i) for level in sweep.levels for i in range(len(arms))]
    chance = random.Random(sweep.seed_of_order)
    trials: list[Trial] = []
    for replicate in range(1, sweep.replicates + 1):
        block = [_trial(arms[i], resources[i][at], at, replicate, knobs[i][at], declared) for at, i in points]
        if sweep.ablation:
            block += _ablations(sweep, block, arms, knobs, declared)
        chance.shuffle(block)
        trials += [replace(trial, order=len(trials) + i) for i, trial in enumerate(block)]
    trials += sentinels_of(trials) if sweep.sentinel and not load_axis(sweep.axis).is_durable else ()
    trials += profiled(trials) if sweep.profile else ()
    return [*trials, *(drift_check_of(trials) if sweep.drift_check else ())]


def _in_blocks(
    sweep: Sweep,
    resources: Sequence[ResourcesByLevel],
    arms: Sequence[PlannedArm],
    knobs: Sequence[KnobsByLevel],
    declared: Sequence[KnobColumn],
) -> list[Trial]:
    """Two variants in ABBA blocks."""
    places = abba(sweep.levels, sweep.replicates // TRIALS_OF_A_VARIANT, sweep.seed_of_order)
    trials: list[Trial] = []
    for p in places:
        at_level, own_knobs = resources[p.variant][p.level], knobs[p.variant][p.level]
        trial = _trial(arms[p.variant], at_level, p.level, p.replicate, own_knobs, declared)
        trials.append(replace(trial, block=p.block, order=len(trials)))
    return trials


def _knobs_at(arm: PlannedArm, level: float, declared: Sequence[KnobColumn]) -> dict[str, str]:
    values = {}
    for name, rule in arm.sweep.knobs.items():
        value = rule_value(rule, level)
        if value is None:
            raise UsageError(
                f"--{name.replace('_', '-')}: the rule has no value for {format_number(level)} {arm.sweep.axis}",
                remedy="cover every level, like '1..4=4,5..=12'",
            )
        values[name] = value
    for name in (knob.name for knob in arm.facts.knobs if knob.kind == "count" and knob.name in values):
        if not COUNT.fullmatch(values[name]) or int(values[name]) < 1:
            raise UsageError(f"--{name.replace('_', '-')}: {values[name]!r} is not a whole number above 0")
    own = [column for column in declared if arm.facts.knob_named(column.name)]
    return {**values, **knobs_of_level(arm.sweep, level, arm.granted[level], own)}


def _trial(
    arm: PlannedArm,
    resources: Resources,
    level: float,
    replicate: int,
    knobs: Mapping[str, str],
    declared: Sequence[KnobColumn],
) -> Trial:
    sweep, variant = arm.sweep, arm.variant
    middle = f"-{slug(variant)}" if variant else ""
    point_id = f"{sweep.axis}-{format_number(level)}{middle}"
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
        subject=arm.subject,
        knobs={},
        seed=sweep.seed,
        settings=sweep.settings,
    )
    return with_knobs(trial, {**knobs, **arm.knobs}, declared)


def _load(load: Load, work: Work, level: float, cores: float) -> Load:
    """The load of one trial. Below one core, a warm-up until the rate is level may take 1/cores times as long. Rows in
    proportion to the level become a total. The rates of all operations together depend on the rows of a request, which
    may vary."""
    load = replace(load, rate=offered_per_s(work) or load.rate)
    if load.warmup_least_s is not None:
        load = replace(load, warmup_s=load.warmup_s / min(1.0, cores))
    if not load.rows_by_level or load.rows is None:
        return load
    return replace(load, rows=max(1, round(load.rows * level)), rows_by_level=False)


def _ablations(
    sweep: Sweep,
    block: Sequence[Trial],
    arms: Sequence[PlannedArm],
    knobs: Sequence[KnobsByLevel],
    declared: Sequence[KnobColumn],
) -> list[Trial]:
    """A trial for each move of a knob: the level after it, with the knobs of the level before it."""
    return [
        ablation(trial, before, by_level[before], arm.knobs, declared)
        for arm, by_level in zip(arms, knobs, strict=True)
        for before, after in boundaries(sweep.levels, by_level)
        for trial in block
        if trial.level == after and trial.variant == arm.variant
    ]


@dataclass(frozen=True, kw_only=True)
class TrialPlace:
    """One trial: its level, which variant (0: A, 1: B), its replicate and block, both counted from 1."""

    level: float
    variant: int
    replicate: int
    block: int


def abba(levels: Sequence[float], blocks: int, seed: int) -> Iterator[TrialPlace]:
    chance = random.Random(seed)
    for block in range(1, blocks + 1):
        shuffled = list(levels)
        chance.shuffle(shuffled)
        for level in shuffled:
            first = chance.randrange(2)
            for at, variant in enumerate((first, 1 - first, 1 - first, first)):
                yield TrialPlace(
                    level=level, variant=variant, replicate=TRIALS_OF_A_VARIANT * block - (at < 2), block=block
                )
