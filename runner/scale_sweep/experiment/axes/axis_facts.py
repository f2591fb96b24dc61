"""The facts of an axis, which it declares as data. Refuses to hold a rule: rules read these facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.model import BottleneckKind, Stand, Standing, VerdictKind


@dataclass(frozen=True, kw_only=True)
class AxisFacts:
    """The facts of one axis.

    name: in plans, results and metrics; plural, as the unit of several levels ("4 cores"). unit: the singular. command:
    the word after `scale sweep`. flag: of the levels; their key is "axis.<name>". title: the heading of a column of
    levels. label: of a picture's axis. missing: what to do if no levels are given.

    one_without: what to ask for if the runtime does not give the quantity and one level can still be measured; "" if no
    level can.

    is_durable: the fitted rate counts to the end of flush and sync, and so do the figures of disks; else both count
    within the window. is_constant_elsewhere: a sweep of another axis may give one level of this one. must_be_steady: a
    trial without a steady rate is UNSTEADY, and seconds before it settled may be left out.

    standings: one for every kind of bottleneck. own_verdict: the verdict of a trial whose bottleneck is inside the
    server.

    published_columns, console_columns: the columns of the report's table in the form of the published article, and of
    the console's table, by their names in scale_sweep/report/columns.py. published_level: the heading of the level in
    the former. published_note: how our rates differ in kind from published ones.

    usual_keys: settings of every sweep that the short help of this axis shows besides the usual ones, by key.
    """

    name: str
    unit: str
    command: str
    flag: str
    title: str
    label: str
    question: str
    example: str
    missing: str
    standings: Mapping[BottleneckKind, Stand]
    own_verdict: VerdictKind
    one_without: str = ""
    is_durable: bool = False
    is_constant_elsewhere: bool = False
    must_be_steady: bool = True
    published_level: str = ""
    published_columns: tuple[str, ...] = ("connections", "rows", "disk_io", "available_memory", "cpu")
    published_note: str = ""
    console_columns: tuple[str, ...] = ("disk_write",)
    usual_keys: tuple[str, ...] = ()

    def count(self, level: str) -> str:
        """A level with its unit: "1 core", "4 cores"."""
        return f"{level} {self.unit if level == '1' else self.name}"


def standings(
    swept: tuple[BottleneckKind, ...],
    own: tuple[BottleneckKind, ...],
    remedies: Mapping[BottleneckKind, str] | None = None,
    reasons: Mapping[BottleneckKind, str] | None = None,
) -> dict[BottleneckKind, Stand]:
    """One standing for every kind. Kinds that are not named are EXTERNAL. remedies, reasons: the axis' own texts, by
    kind."""

    def standing(kind: BottleneckKind) -> Standing:
        return Standing.SWEPT if kind in swept else Standing.OWN if kind in own else Standing.EXTERNAL

    def stand(kind: BottleneckKind) -> Stand:
        remedy, reason = (remedies or {}).get(kind, ""), (reasons or {}).get(kind, "")
        return Stand(standing=standing(kind), remedy=remedy, reason=reason)

    return {kind: stand(kind) for kind in BottleneckKind}
