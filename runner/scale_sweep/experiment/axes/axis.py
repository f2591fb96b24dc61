"""The base class of an axis: its facts, its settings, and the amounts that a level grants a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.experiment.axes.axis_facts import AxisFacts
from scale_sweep.experiment.setting import Setting
from scale_sweep.machine.host import Host
from scale_sweep.model import Amount, Amounts, Finding, Plan, Sweep, Trial

Values = Mapping[str, Any]
Texts = Mapping[str, object]


class Axis:
    facts: AxisFacts
    settings: tuple[Setting, ...]  # the setting of its levels first, then the settings that only this axis needs

    @property
    def key(self) -> str:
        return f"axis.{self.facts.name}"

    def amounts(self, level: float) -> Amounts:
        """The amounts that a level grants, by quantity. The default: the level itself, in the axis' unit, of the
        quantity that has the axis' name."""
        return {self.facts.name: Amount(value=level, unit=self.facts.unit)}

    def knobs(self, level: float) -> Mapping[str, str]:
        return {}

    def of_machine(self, texts: Texts, host: Host) -> str:
        """The text of the levels, with numbers in place of the words that mean a part of a machine. texts: all of the
        sweep, by key."""
        return str(texts.get(self.key) or "")

    def default_constant(self, sweep: Sweep, host: Host) -> float | None:
        """The level that a sweep of another axis uses if the user gives none. None: the axis grants nothing there."""
        return None

    def overruled(self, flags: Texts) -> tuple[str, ...]:
        """Keys of a sweep file that these flags replace."""
        return ()

    def mistakes(self, texts: Texts, values: Values) -> list[str]:
        """Mistakes in the settings when this axis is swept. Each sentence names its flag."""
        return []

    def fields(self, values: Values) -> dict[str, Any]:
        """The fields of Sweep that the axis' settings fill when it is swept."""
        return {}

    def shown(self, sweep: Sweep) -> dict[str, str]:
        """The axis' settings besides the levels, as the user would write them, by key."""
        return {}

    def check(self, sweep: Sweep, host: Host, granted: Sequence[Amounts]) -> None:
        """Raises UsageError if this machine cannot give what is granted. granted: by each level."""
        return

    def findings(self, plan: Plan) -> list[Finding]:
        return []

    def work_seconds(self, sweep: Sweep, trial: Trial) -> float:
        """The least time in seconds that fixed work takes because of this axis. An estimate."""
        return 0.0

    def before(self, sweep: Sweep) -> tuple[float, str]:
        """The time before the first trial, in seconds (an estimate), and what it is spent on."""
        return 0.0, ""
