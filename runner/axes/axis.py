"""What an axis can be asked: its facts, its settings, what a level grants a trial. A base whose defaults do nothing.

Pure, except that `Axis.check` compares with the facts of the machine that it is given. Refuses to start anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runner.axes.facts import AxisFacts
from runner.host import Host
from runner.model import Finding, Plan, Sweep, Trial
from runner.setting import Setting

Values = Mapping[str, Any]
Texts = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Grant:
    """What a trial gets from the levels of all axes together.

    cores None: all that the machine offers. disks: prepared ones, 0: none. connections None: as many as the target's
    default says. knobs: by the target's names, set by the level itself and by no rule.
    """

    cores: float | None = None
    disks: int = 0
    memory_bytes: int | None = None
    connections: int | None = None
    knobs: Mapping[str, str] = field(default_factory=dict)


class Axis:
    """One axis. settings: that of its levels first, then those that only it needs."""

    facts: AxisFacts
    settings: tuple[Setting, ...]

    @property
    def key(self) -> str:
        """Of its levels in a sweep file."""
        return f"axis.{self.facts.name}"

    def grant(self, before: Grant, level: float) -> Grant:
        """What a level adds to what the other axes grant."""
        raise NotImplementedError

    def default_constant(self, sweep: Sweep, host: Host) -> float | None:
        """The level that a sweep of another axis gets where none is asked for; None: nothing is granted."""
        return None

    def overruled(self, flags: Texts) -> tuple[str, ...]:
        """Keys of a sweep file that do not count because of these flags."""
        return ()

    def mistakes(self, texts: Texts, values: Values) -> list[str]:
        """What cannot be asked of this axis when it is swept, each with its flag."""
        return []

    def fields(self, values: Values) -> dict[str, Any]:
        """The fields of Sweep that its settings fill when it is swept."""
        return {}

    def shown(self, sweep: Sweep) -> dict[str, str]:
        """Its settings besides the levels as the user would write them, by key."""
        return {}

    def check(self, sweep: Sweep, host: Host, grants: Sequence[Grant]) -> None:
        """Raises UsageError for a grant that this machine cannot give; grants: one for each level."""

    def findings(self, plan: Plan) -> list[Finding]:
        """What to know of a plan, from the plan alone."""
        return []

    def work_seconds(self, sweep: Sweep, trial: Trial) -> float:
        """The least time that fixed work takes for a reason of this axis, roughly."""
        return 0.0

    def before(self, sweep: Sweep) -> tuple[float, str]:
        """Seconds before the first trial, roughly, and what for."""
        return 0.0, ""
