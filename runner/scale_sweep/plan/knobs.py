"""A trial with the knobs of its point, and with the load that follows from them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from scale_sweep.experiment.axes import axis_of
from scale_sweep.model import CLIENTS, Amounts, KnobColumn, KnobRole, Sweep, Trial
from scale_sweep.plan.resources import AmountsByLevel

COUNT = re.compile(r"[0-9]{1,9}")


def with_knobs(trial: Trial, knobs: Mapping[str, str], declared: Sequence[KnobColumn]) -> Trial:
    """The trial with these knobs (declared: of the plan). Its load gets their numbers of connections and partitions."""
    load = replace(
        trial.load,
        connections=_count(knobs, declared, KnobRole.CONNECTIONS),
        partitions=_count(knobs, declared, KnobRole.PARTITIONS),
    )
    return replace(trial, knobs=knobs, load=load)


def knobs_of_level(sweep: Sweep, level: float, amounts: Amounts, declared: Sequence[KnobColumn]) -> dict[str, str]:
    """The knobs that a level sets itself, in place of a rule. amounts: that the level grants."""
    levels = {**sweep.constants, sweep.axis: level}
    own = {knob: text for axis, at in levels.items() for knob, text in axis_of(axis).knobs(at).items()}
    if CLIENTS not in amounts:
        return own
    connections = f"{amounts[CLIENTS].value:.0f}"
    return {**own, **{knob.name: connections for knob in declared if knob.role is KnobRole.CONNECTIONS}}


def granted_knobs(sweep: Sweep, granted: AmountsByLevel, declared: Sequence[KnobColumn]) -> frozenset[str]:
    """Names of the knobs that the levels of the axis set themselves. granted: by `amounts_by_level` of this sweep."""
    levels = [knobs_of_level(sweep, level, amounts, declared) for level, amounts in granted.items()]
    return frozenset(name for knobs in levels for name in knobs)


def _count(knobs: Mapping[str, str], declared: Sequence[KnobColumn], role: KnobRole) -> int:
    """The number of a role's knob. 1 if no knob has the role; 0 if it is not a number, which the plan refuses by its
    flag."""
    text = next((knobs[knob.name] for knob in declared if knob.role is role and knob.name in knobs), "1")
    return int(text) if COUNT.fullmatch(text) else 0
