"""The subjects of a plan: each arm of --vary with its own sweep, completed by its own target. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner.model import Subject, Sweep
from runner.sweep.vary import as_varied, variants
from runner.targets import Target


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One subject. sweep: as it is for this arm, completed; variant: what --vary says of it, {} without --vary."""

    variant: Mapping[str, str]
    sweep: Sweep
    target: Target

    @property
    def subject(self) -> Subject:
        """What is measured."""
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


def arms_of(sweep: Sweep, target: Target) -> tuple[Arm, ...]:
    """The arms of a completed sweep of one target."""
    return tuple(Arm(variant=v, sweep=as_varied(sweep, v), target=target) for v in variants(sweep))
