"""The axis of a sweep and its constant axes, the most trials of a plan, and usual settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import counted, format_number
from scale_sweep.experiment.axes import Axis, all_axes
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.model.declared import Origin
from scale_sweep.sweep.settings import SETTINGS

Values = Mapping[str, object]


def commands() -> tuple[str, ...]:
    return tuple(axis.facts.command for axis in all_axes())


def axis_of_command(what: str) -> Axis | None:
    return next((axis for axis in all_axes() if what in (axis.facts.command, axis.facts.name)), None)


def name_of(what: str) -> str:
    """The axis' command, or the file's name without its end."""
    axis = axis_of_command(what)
    return axis.facts.command if axis else Path(what).stem


def swept_axis(what: str, texts: Mapping[str, object]) -> Axis:
    """In a file: the axis whose levels are given and that is not constant."""
    axes = all_axes()
    if named := axis_of_command(what):
        return named
    with_levels = [axis for axis in axes if texts.get(axis.key)]
    return next(
        (axis for axis in with_levels if not axis.facts.is_constant_elsewhere),
        with_levels[0] if with_levels else axes[0],
    )


def of_machine(texts: Mapping[str, str | list[str]], host: Host) -> dict[str, str | list[str]]:
    return {**texts, **{axis.key: axis.of_machine(texts, host) for axis in all_axes()}}


def mistakes(
    swept: Axis, what: str, texts: Mapping[str, object], values: Values, origin: Mapping[str, Origin]
) -> list[str]:
    others = [axis for axis in all_axes() if axis is not swept and texts.get(axis.key)]
    contradictions = [_beside(swept, other, values, is_key=origin[other.key] == "file") for other in others]
    if not texts.get(swept.key):
        is_file = axis_of_command(what) is None
        where = f"{swept.key} (or {swept.facts.flag})" if is_file else swept.facts.flag
        return [*filter(None, contradictions), f"{where}: missing; {swept.facts.missing}"]
    return [*filter(None, contradictions), *swept.mistakes(texts, values)]


def _beside(swept: Axis, other: Axis, values: Values, *, is_key: bool) -> str:
    where = other.key if is_key else other.facts.flag
    if not other.facts.is_constant_elsewhere:
        return f"{where} belongs to a {other.facts.unit} sweep: {other.facts.example}"
    levels = values[other.key]
    if isinstance(levels, Sequence) and len(levels) > 1:
        return f"{where}: in a {swept.facts.unit} sweep the {other.facts.name} are constant; give one number"
    return ""


def constants(swept: Axis, values: Values) -> dict[str, float]:
    levels_of = {}
    for axis in all_axes():
        levels = values[axis.key]
        if axis is not swept and isinstance(levels, Sequence) and levels:
            levels_of[axis.facts.name] = float(levels[0])
    return levels_of


def constant_texts(levels_of: Mapping[str, float]) -> dict[str, str]:
    return {f"axis.{name}": format_number(level) for name, level in levels_of.items()}


TRIALS_MAX = 10_000


def refuse_too_many(factors: Mapping[str, tuple[str, int]]) -> None:
    """Raises UsageError that names the flag of the largest factor."""
    trials = math.prod(count for _, count in factors.values())
    if trials <= TRIALS_MAX:
        return
    flag = max(factors, key=lambda name: factors[name][1])
    product = " × ".join(f"{count:,} {what}" for what, count in factors.values() if count > 1)
    raise UsageError(f"{flag}: {product} are {counted(trials, 'trial')}; a plan has {TRIALS_MAX:,} at most")


def usual_keys(swept: Axis | None) -> frozenset[str]:
    """None: of a sweep whose axis is not known yet."""
    axes = all_axes()
    of_axes = {setting.key for axis in axes for setting in axis.settings}
    usual = {setting.key for setting in SETTINGS if setting.usual and setting.key not in of_axes}
    if swept is None:
        return frozenset(usual | {axis.key for axis in axes})
    own = {setting.key for setting in swept.settings if setting.usual}
    constant = {axis.key for axis in axes if axis.facts.is_constant_elsewhere}
    return frozenset(usual | own | constant | {swept.key, *swept.facts.usual_keys})
