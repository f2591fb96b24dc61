"""Knobs of a plan: under the target's own names, granted by a level, and as the load that follows from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from scale_sweep.experiment.axes import axis_of
from scale_sweep.model import CLIENTS, Amounts, KnobColumn, KnobRole, Origin, Sweep, Trial
from scale_sweep.plan.resources import AmountsByLevel
from scale_sweep.server.targets import Facts
from scale_sweep.sweep.server_settings import KNOB_NAMES
from scale_sweep.sweep.vary import is_knob

_RANK = ("default", "host", "file", "flag")
COUNT = re.compile(r"[0-9]{1,9}")


def knob_mistakes(sweep: Sweep, facts: Facts) -> list[str]:
    """Knobs that the target does not have, or that are given under two names, each by its flag."""
    mistakes = []
    for name in (*sweep.knobs, *_varied(sweep)):
        if facts.knob_named(name) is None and (name in KNOB_NAMES or not facts.any_knob):
            has = ", ".join(_dashed(knob.name) for knob in facts.role_knobs)
            mistakes.append(f"--{_dashed(name)}: {facts.name} has no knob {name}; it has {has}")
    for names in (list(sweep.knobs), _varied(sweep)):
        for own, aliases in _by_own_name(names, facts).items():
            ranks = [_RANK.index(_origin(sweep, name)) for name in aliases]
            if ranks.count(max(ranks)) > 1:
                flags = " and ".join(f"--{_dashed(name)}" for name in aliases)
                mistakes.append(f"{flags}: both are {own} of {facts.name}; give one")
    return mistakes


def with_own_names(sweep: Sweep, facts: Facts) -> Sweep:
    """The sweep with every knob under the target's own name. A flag replaces a value of a file."""
    origin: dict[str, Origin] = dict(sweep.origin)
    knobs = {}
    for own, aliases in _by_own_name(sweep.knobs, facts).items():
        name = max(aliases, key=lambda one: _RANK.index(_origin(sweep, one)))
        knobs[own] = sweep.knobs[name]
        if own != name:
            origin[f"knobs.{own}"] = _origin(sweep, name)
    own_names = {name: own for own, aliases in _by_own_name(_varied(sweep), facts).items() for name in aliases}
    vary = {own_names.get(name, name): values for name, values in sweep.vary.items()}
    return replace(sweep, knobs=knobs, vary=vary, origin=origin)


def _by_own_name(names: Iterable[str], facts: Facts) -> dict[str, list[str]]:
    aliases: dict[str, list[str]] = {}
    for name in names:
        knob = facts.knob_named(name)
        aliases.setdefault(knob.name if knob else name, []).append(name)
    return aliases


def _origin(sweep: Sweep, name: str) -> Origin:
    """The origin of a knob: of its own setting, else of --knob."""
    own = sweep.origin.get(f"knobs.{name}", "default")
    return own if own != "default" else sweep.origin.get("knobs.other", "default")


def _varied(sweep: Sweep) -> list[str]:
    return [name for name in sweep.vary if is_knob(name)]


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def with_knobs(trial: Trial, knobs: Mapping[str, str], declared: Sequence[KnobColumn]) -> Trial:
    load = replace(
        trial.load,
        connections=_count(knobs, declared, KnobRole.CONNECTIONS),
        partitions=_count(knobs, declared, KnobRole.PARTITIONS),
    )
    return replace(trial, knobs=knobs, load=load)


def knobs_of_level(sweep: Sweep, level: float, amounts: Amounts, declared: Sequence[KnobColumn]) -> dict[str, str]:
    levels = {**sweep.constants, sweep.axis: level}
    own = {knob: text for axis, at in levels.items() for knob, text in axis_of(axis).knobs(at).items()}
    if CLIENTS not in amounts:
        return own
    connections = f"{amounts[CLIENTS].value:.0f}"
    return {**own, **{knob.name: connections for knob in declared if knob.role is KnobRole.CONNECTIONS}}


def granted_knobs(sweep: Sweep, granted: AmountsByLevel, declared: Sequence[KnobColumn]) -> frozenset[str]:
    levels = [knobs_of_level(sweep, level, amounts, declared) for level, amounts in granted.items()]
    return frozenset(name for knobs in levels for name in knobs)


def _count(knobs: Mapping[str, str], declared: Sequence[KnobColumn], role: KnobRole) -> int:
    """The number of a role's knob. 1 if no knob has the role; 0 if it is not a number, which the plan refuses by its
    flag."""
    text = next((knobs[knob.name] for knob in declared if knob.role is role and knob.name in knobs), "1")
    return int(text) if COUNT.fullmatch(text) else 0
