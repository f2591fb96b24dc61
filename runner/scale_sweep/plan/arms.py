"""The subjects of a plan: each combination of --vary has its own sweep, completed by its own target. Pure."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.model import Subject, Sweep
from scale_sweep.plan.resources import AmountsByLevel, amounts_by_level
from scale_sweep.server.targets import Facts
from scale_sweep.sweep.vary import as_varied, is_knob, variants


@dataclass(frozen=True, kw_only=True)
class PlannedArm:
    """One subject. sweep: of this combination, completed by its target. variant: its values of --vary."""

    variant: Mapping[str, str]
    sweep: Sweep
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
        """The amounts that each level grants its trials."""
        return amounts_by_level(self.sweep)

    @property
    def knobs(self) -> dict[str, str]:
        """The knobs that the variant sets, by the target's names."""
        varied = {name: value for name, value in self.variant.items() if is_knob(name)}
        declared = {name: self.facts.knob_named(name) for name in varied}
        return {(knob.name if (knob := declared[name]) else name): value for name, value in varied.items()}


def planned_arms(sweep: Sweep, facts: Facts) -> tuple[PlannedArm, ...]:
    """The combinations of a completed sweep of one target."""
    return tuple(PlannedArm(variant=v, sweep=as_varied(sweep, v), facts=facts) for v in variants(sweep))
