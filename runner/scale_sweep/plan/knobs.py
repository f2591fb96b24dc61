"""A trial with the knobs of its point, and with the load that follows from them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from scale_sweep.experiment.axes import Grant
from scale_sweep.model import KnobColumn, KnobRole, Sweep, Trial
from scale_sweep.plan.grants import grants

COUNT = re.compile(r"[0-9]{1,9}")


def with_knobs(trial: Trial, knobs: Mapping[str, str], declared: Sequence[KnobColumn]) -> Trial:
    """The trial with these knobs (declared: of the plan). Its load gets their numbers of connections and partitions."""
    load = replace(
        trial.load,
        connections=_count(knobs, declared, KnobRole.WRITERS),
        partitions=_count(knobs, declared, KnobRole.PARTITIONS),
    )
    return replace(trial, knobs=knobs, load=load)


def with_granted(knobs: Mapping[str, str], grant: Grant, declared: Sequence[KnobColumn]) -> dict[str, str]:
    """The knobs of a level, with those that the level sets itself in place of a rule."""
    return {**knobs, **_granted(grant, declared)}


def granted_knobs(sweep: Sweep, declared: Sequence[KnobColumn]) -> frozenset[str]:
    """Names of the knobs that the levels of the axis set themselves."""
    return frozenset(name for grant in grants(sweep).values() for name in _granted(grant, declared))


def _granted(grant: Grant, declared: Sequence[KnobColumn]) -> dict[str, str]:
    writers = [knob.name for knob in declared if knob.role is KnobRole.WRITERS]
    connections = {} if grant.connections is None else {name: str(grant.connections) for name in writers}
    return {**grant.knobs, **connections}


def _count(knobs: Mapping[str, str], declared: Sequence[KnobColumn], role: KnobRole) -> int:
    """The number of a role's knob. 1 if no knob has the role; 0 if it is not a number, which the plan refuses by its
    flag."""
    text = next((knobs[knob.name] for knob in declared if knob.role is role and knob.name in knobs), "1")
    return int(text) if COUNT.fullmatch(text) else 0
