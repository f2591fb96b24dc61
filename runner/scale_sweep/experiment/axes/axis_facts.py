"""The facts of an axis, which it declares as data. Refuses to hold a rule: rules read these facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.model import BottleneckKind, Stand, Standing, VerdictKind


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
    # what to ask for if the runtime does not give the quantity and one level can still be measured; "" if no level can
    one_without: str = ""
    # the fitted rate counts to the end of flush and sync, and so do the figures of disks; else both count within the
    # window
    is_durable: bool = False
    is_constant_elsewhere: bool = False  # a sweep of another axis may give one level of this one
    # a trial without a steady rate is UNSTEADY, and seconds before it settled may be left out
    must_be_steady: bool = True
    published_level: str = ""  # the heading of the level in the former
    # published_columns, console_columns: the columns of the report's table in the form of the published article, and of
    # the console's table, by their names in scale_sweep/report/article.py
    published_columns: tuple[str, ...] = ("connections", "rows", "disk_io", "available_memory", "cpu")
    published_note: str = ""  # how our rates differ in kind from published ones
    console_columns: tuple[str, ...] = ("disk_write",)
    # settings of every sweep that the short help of this axis shows besides the usual ones, by key
    usual_keys: tuple[str, ...] = ()

    def count(self, level: str) -> str:
        """A level with its unit: "1 core", "4 cores"."""
        return f"{level} {self.unit if level == '1' else self.name}"


# Kinds that were considered for every axis. A new one has no standing until it is here, or an axis names it as swept or
# own; until then tests/unit/test_diagnosis.py fails.
_CONSIDERED = frozenset(
    "SERVER_CPU QUOTA THROTTLING GENERATOR_CEILING GENERATOR_CPU GENERATOR_LATE SHARED_CPU OTHER_PROCESSES HYPERVISOR "
    "CONNECTIONS HOT_THREAD DISK DISK_WAITS UNEVEN_DISKS MEMORY MEMORY_BANDWIDTH STALL LOCKS NETWORK OFFERED_RATE "
    "UNREAD UNKNOWN".split()
)


def standings(
    swept: tuple[BottleneckKind, ...],
    own: tuple[BottleneckKind, ...],
    remedies: Mapping[BottleneckKind, str] | None = None,
    reasons: Mapping[BottleneckKind, str] | None = None,
) -> dict[BottleneckKind, Stand]:
    """A standing for every kind; those that are not named are EXTERNAL. remedies, reasons: the axis' own texts."""

    def standing(kind: BottleneckKind) -> Standing:
        return Standing.SWEPT if kind in swept else Standing.OWN if kind in own else Standing.EXTERNAL

    def stand(kind: BottleneckKind) -> Stand:
        remedy, reason = (remedies or {}).get(kind, ""), (reasons or {}).get(kind, "")
        return Stand(standing=standing(kind), remedy=remedy, reason=reason)

    return {kind: stand(kind) for kind in BottleneckKind if kind in {*_CONSIDERED, *swept, *own}}
