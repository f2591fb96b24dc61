"""As many connections for each of several databases, where no number was asked for. Pure.

A database has a default of its own: twice the cores, or as many as its parts. Databases that are compared have the
greatest of these. Refuses to change a number that was given, and a sweep of one database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scale_sweep.experiment.setting.readers import rule_value
from scale_sweep.model import KnobRole, Piece, Rule, Sweep
from scale_sweep.server.targets import Facts, Knob

Asked = tuple[Sweep, Facts]


def with_equal_connections(completed: Mapping[str, Sweep], asked: Mapping[str, Asked]) -> dict[str, Sweep]:
    """The completed sweeps, by server, with the same number of connections. asked: the sweep before it was completed,
    and the facts of its target, by server."""
    free = {
        key: knob
        for key, (sweep, facts) in asked.items()
        if (knob := _knob_of(facts)) is not None and not _is_given(sweep, facts, knob)
    }
    if len({facts.name for _, facts in asked.values()}) < 2 or not free:
        return dict(completed)
    most = max(_number(completed[key], knob) for key, knob in free.items())
    rule = Rule(pieces=(Piece(first=None, last=None, value=str(most)),))
    return {
        key: replace(sweep, knobs={**sweep.knobs, free[key].name: rule}) if key in free else sweep
        for key, sweep in completed.items()
    }


def _knob_of(facts: Facts) -> Knob | None:
    """The knob that sets the number of connections."""
    return next((knob for knob in facts.knobs if knob.role is KnobRole.CONNECTIONS), None)


def _is_given(sweep: Sweep, facts: Facts, knob: Knob) -> bool:
    return any(facts.knob_named(name) is knob for name in (*sweep.knobs, *sweep.vary))


def _number(sweep: Sweep, knob: Knob) -> int:
    """Its default, which is constant along the axis."""
    return int(rule_value(sweep.knobs[knob.name], sweep.levels[0]) or 0)
