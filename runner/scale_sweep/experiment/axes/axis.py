"""The base class of an axis: its facts as data, its settings, and what a level grants a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from scale_sweep.experiment.setting import Setting
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.model.declared import Sweep
from scale_sweep.model.measured import BottleneckKind, Stand, Standing, VerdictKind
from scale_sweep.model.planned import Finding, Plan, Trial
from scale_sweep.model.resources import Amount, Amounts

Values = Mapping[str, Any]
Texts = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class AxisFacts:
    name: str  # in plans, results and metrics; plural, as the unit of several levels ("4 cores")
    unit: str  # the singular
    command: str  # the word after `scale sweep`
    flag: str  # of the levels; their key is "axis.<name>"
    title: str  # the heading of a column of levels
    label: str  # of a picture's axis
    question: str
    example: str
    missing: str  # what to do if no levels are given
    standings: Mapping[BottleneckKind, Stand]  # one for every kind of bottleneck
    own_verdict: VerdictKind  # the verdict of a trial whose bottleneck is inside the server
    one_without: str = ""  # what to ask for if the runtime does not give the quantity; "": no level can be measured
    account: str = ""  # its kind in scale_sweep/analysis/account/of_trial.py; "": there is none
    is_durable: bool = False  # the fitted rate and the figures of disks count to the end of flush and sync
    is_constant_elsewhere: bool = False  # a sweep of another axis may give one level of this one
    must_be_steady: bool = True  # else UNSTEADY; seconds before the rate settled may be left out
    published_level: str = ""  # the heading of the level in the report's table that has the form of the article
    # by their names in scale_sweep/report/article.py
    published_columns: tuple[str, ...] = ("connections", "rows", "disk_io", "available_memory", "cpu")
    published_note: str = ""  # how our rates differ in kind from published ones
    console_columns: tuple[str, ...] = ("disk_write",)
    proves: tuple[str, ...] = ("cpu", "load")  # that --prove disturbs unless it names others
    swept_resource: str = ""  # of these, which a level gives more of
    usual_keys: tuple[str, ...] = ()  # of every sweep, in the short help of this axis

    def count(self, level: str) -> str:
        return f"{level} {self.unit if level == '1' else self.name}"


# Kinds that were considered for every axis. A new one has no standing until it is here, or an axis names it.
_CONSIDERED = frozenset(
    "SERVER_CPU QUOTA THROTTLING GENERATOR_CEILING GENERATOR_CPU GENERATOR_LATE SHARED_CPU OTHER_PROCESSES HYPERVISOR "
    "CONNECTIONS HOT_THREAD DISK DISK_WAITS UNEVEN_DISKS MEMORY MEMORY_BANDWIDTH STALL LOCKS NETWORK OFFERED_RATE "
    "UNREAD UNKNOWN".split()
)


def standings(
    swept: Sequence[BottleneckKind],
    own: Sequence[BottleneckKind],
    remedies: Mapping[BottleneckKind, str] = MappingProxyType({}),
    reasons: Mapping[BottleneckKind, str] = MappingProxyType({}),
) -> dict[BottleneckKind, Stand]:
    """Kinds that are not named are EXTERNAL."""
    known = dict.fromkeys(map(BottleneckKind, _CONSIDERED), Standing.EXTERNAL)
    known |= dict.fromkeys(own, Standing.OWN) | dict.fromkeys(swept, Standing.SWEPT)
    return {
        kind: Stand(standing=known[kind], remedy=remedies.get(kind, ""), reason=reasons.get(kind, ""))
        for kind in BottleneckKind
        if kind in known
    }


class Axis:
    facts: AxisFacts
    settings: tuple[Setting, ...]  # the setting of its levels first, then the settings that only this axis needs

    @property
    def key(self) -> str:
        return f"axis.{self.facts.name}"

    def amounts(self, level: float) -> Amounts:
        """By quantity."""
        return {self.facts.name: Amount(value=level, unit=self.facts.unit)}

    def knobs(self, level: float) -> Mapping[str, str]:
        return {}

    def of_machine(self, texts: Texts, host: Host) -> str:
        """The levels, without words that mean a part of a machine. texts: by key."""
        return str(texts.get(self.key) or "")

    def levels_of(self, texts: Texts, host: Host) -> str:
        """Those that the machine has, in words; "" if it does not matter."""
        return ""

    def default_constant(self, sweep: Sweep, host: Host) -> float | None:
        """In a sweep of another axis. None: nothing is granted."""
        return None

    def overruled(self, flags: Texts) -> tuple[str, ...]:
        return ()

    def mistakes(self, texts: Texts, values: Values) -> list[str]:
        return []

    def fields(self, values: Values) -> dict[str, Any]:
        return {}

    def shown(self, sweep: Sweep) -> dict[str, str]:
        return {}

    def check(self, sweep: Sweep, host: Host, granted: Sequence[Amounts]) -> None:
        """Raises UsageError if this machine cannot give what is granted."""
        return

    def findings(self, plan: Plan) -> list[Finding]:
        return []

    def work_seconds(self, sweep: Sweep, trial: Trial) -> float:
        """The least that fixed work takes because of this axis."""
        return 0.0

    def before(self, sweep: Sweep) -> tuple[float, str]:
        """Seconds before the first trial, and what they are spent on."""
        return 0.0, ""
