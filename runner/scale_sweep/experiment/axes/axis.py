"""The base class of an axis: its facts, its settings, and what a level grants a trial. The defaults do nothing.

Pure, except that `Axis.check` compares with the facts of the machine that it is given. Refuses to start anything.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scale_sweep.experiment.axes.facts import AxisFacts
from scale_sweep.experiment.setting import Setting
from scale_sweep.machine.host import Host
from scale_sweep.model import Finding, Plan, Sweep, Trial

Values = Mapping[str, Any]
Texts = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Grant:
    """What a trial gets from the levels of all axes together.

    cores: None means all that the machine offers. disks: the number of prepared disks; 0 means none. connections: None
    means the target's default. knobs: knobs that the level itself sets, without a rule, by the target's names.
    """

    cores: float | None = None
    disks: int = 0
    memory_bytes: int | None = None
    connections: int | None = None
    knobs: Mapping[str, str] = field(default_factory=dict)


class Axis(ABC):
    """One axis. settings: the setting of its levels first, then the settings that only this axis needs."""

    facts: AxisFacts
    settings: tuple[Setting, ...]

    @property
    def key(self) -> str:
        """The key of the levels in a sweep file."""
        return f"axis.{self.facts.name}"

    @abstractmethod
    def grant(self, before: Grant, level: float) -> Grant:
        """Returns `before`, what the other axes grant, with what this level adds."""

    def default_constant(self, sweep: Sweep, host: Host) -> float | None:
        """The level that a sweep of another axis uses if the user gives none. None: the axis grants nothing there."""
        return None

    def overruled(self, flags: Texts) -> tuple[str, ...]:
        """Keys of a sweep file that these flags replace."""
        return ()

    def mistakes(self, texts: Texts, values: Values) -> list[str]:
        """What is wrong with the settings when this axis is swept. Each sentence names its flag."""
        return []

    def fields(self, values: Values) -> dict[str, Any]:
        """The fields of Sweep that the axis' settings fill when it is swept."""
        return {}

    def shown(self, sweep: Sweep) -> dict[str, str]:
        """The axis' settings besides the levels, as the user would write them, by key."""
        return {}

    def check(self, sweep: Sweep, host: Host, grants: Sequence[Grant]) -> None:
        """Raises UsageError if this machine cannot give a grant. grants: one for each level."""
        return

    def findings(self, plan: Plan) -> list[Finding]:
        """Findings about a plan, from the plan alone."""
        return []

    def work_seconds(self, sweep: Sweep, trial: Trial) -> float:
        """The least time in seconds that fixed work takes because of this axis. An estimate."""
        return 0.0

    def before(self, sweep: Sweep) -> tuple[float, str]:
        """The time before the first trial, in seconds (an estimate), and what it is spent on."""
        return 0.0, ""
