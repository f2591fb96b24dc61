"""Sweep → Plan: which trials, in which order, on which CPUs, with which knobs. Starts nothing.

Replicates are interleaved: each block holds every point (level and subject) once, in a seeded random order, so that
drift of the machine does not look like scaling. Trial ids are stable: `cores-4-r2` is the same trial in every run of
the sweep. Refuses to guess a knob: every knob has a value at every level, or the plan is a UsageError.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner.axes import all_axes, load_axis
from runner.errors import UsageError
from runner.host import Host
from runner.model import Plan, Sweep, Trial
from runner.plan.arms import Arm, arms_of
from runner.plan.extra import anchor_of, boundaries, bridge
from runner.plan.grants import grants, resources, with_constants
from runner.plan.knobs import with_connections, with_knobs
from runner.plan.words import confounds, notes, seconds
from runner.setting.readers import rule_value
from runner.sweep.vary import is_knob, slug
from runner.targets import Target
from runner.units import format_number

KnobsByLevel = Mapping[float, Mapping[str, str]]


def make_plan(sweep: Sweep, host: Host, target: Target) -> Plan:
    """All trials of a completed sweep of one target. Raises UsageError for cores the machine has not, or a rule with
    a gap."""
    return plan_arms(sweep, host, arms_of(sweep, target))


def plan_arms(sweep: Sweep, host: Host, arms: Sequence[Arm]) -> Plan:
    """All trials of several subjects, each of which is in every block. Raises UsageError likewise."""
    sweep = with_constants(sweep, host)
    arms = [replace(arm, sweep=with_constants(arm.sweep, host)) for arm in arms]
    for axis in all_axes():
        axis.check(sweep, host, list(grants(sweep).values()))
    for arm in arms:
        _check_endpoint(arm.sweep)
    knobs = [{level: _knobs_at(arm.sweep, level) for level in sweep.levels} for arm in arms]
    trials = _trials(sweep, host, arms, knobs)
    return Plan(
        sweep=sweep,
        trials=tuple(trials),
        confounds=confounds(sweep, knobs),
        notes=notes(sweep, trials),
        seconds_estimated=sum(
            seconds(sweep, trial, target_of) for trial, target_of in ((t, _target(t, arms)) for t in trials)
        ),
    )


def _trials(sweep: Sweep, host: Host, arms: Sequence[Arm], knobs: Sequence[KnobsByLevel]) -> list[Trial]:
    points = [(level, i) for level in sweep.levels for i in range(len(arms))]
    chance = random.Random(sweep.seed)
    trials: list[Trial] = []
    for replicate in range(1, sweep.replicates + 1):
        block = [_trial(host, arms[i], level, replicate, knobs[i][level]) for level, i in points]
        if sweep.bridge:
            block += _bridges(sweep, block, arms, knobs)
        chance.shuffle(block)
        trials += [replace(trial, order=len(trials) + i) for i, trial in enumerate(block)]
    return [*trials, *(anchor_of(trials) if sweep.anchors else ())]


def _check_endpoint(sweep: Sweep) -> None:
    many = len(sweep.levels) > 1
    for need in load_axis(sweep.axis).needs:
        if sweep.endpoint and (many or need.capability != "pins_cpus"):
            raise UsageError(f"--endpoint: {need.sentence}", remedy=need.remedy)


def _knobs_at(sweep: Sweep, level: float) -> dict[str, str]:
    found = {}
    for name, rule in sweep.knobs.items():
        value = rule_value(rule, level)
        if value is None:
            raise UsageError(
                f"--{name.replace('_', '-')}: the rule says nothing for {format_number(level)} {sweep.axis}",
                remedy="cover every level, like '1..4=4,5..=12'",
            )
        found[name] = value
    for name in ("vgroups", "partitions", "write_threads", "commit_threads"):
        if name in found and (not found[name].isdigit() or int(found[name]) < 1):
            raise UsageError(f"--{name.replace('_', '-')}: {found[name]!r} is not a whole number above 0")
    granted = grants(sweep)[level]
    return with_connections({**found, **granted.knobs}, granted.connections)


def _trial(host: Host, arm: Arm, level: float, replicate: int, knobs: Mapping[str, str]) -> Trial:
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
        resources=resources(sweep, host, level),
        work=sweep.work,
        load=sweep.load,
        subject=arm.subject,
        knobs={},
        seed=sweep.seed,
    )
    return with_knobs(trial, {**knobs, **_varied_knobs(variant)})


def _varied_knobs(variant: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variant.items() if is_knob(name)}


def _bridges(sweep: Sweep, block: Sequence[Trial], arms: Sequence[Arm], knobs: Sequence[KnobsByLevel]) -> list[Trial]:
    """Where a knob moves: the level after it once more, with the knobs of the level before it."""
    by_variant = [(arm.variant, by_level) for arm, by_level in zip(arms, knobs, strict=True)]
    return [
        bridge(trial, before, by_level[before], _varied_knobs(variant))
        for before, after in boundaries(sweep.levels, knobs[0])
        for trial in block
        for variant, by_level in by_variant
        if trial.level == after and trial.variant == variant
    ]


def _target(trial: Trial, arms: Sequence[Arm]) -> Target:
    return next(arm.target for arm in arms if arm.variant == trial.variant)
