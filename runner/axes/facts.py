"""What every axis says about itself, as data. Refuses to hold a rule: rules read these facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner.model import BottleneckKind, Stand, Standing, VerdictKind


@dataclass(frozen=True, kw_only=True)
class AxisFacts:
    """One axis.

    name: in plans, results and metrics; plural, as the unit of several levels ("4 cores"). unit: of one. command: the
    word after `scale sweep`. flag: of its levels; their key is "axis.<name>". title: heading of a column of levels.
    given: what the level is, for the axis of a picture. missing: what to do where no levels are given.
    needs: the capability of a runtime (runner/runtimes/capabilities.py) without which it cannot be swept; "": none.
    one_without: what to ask for where that is lacking and one level can be measured all the same; "": none can.
    is_durable: what is fitted is counted to the end of flush and sync, and the figures of disks are too; else in the
    window alone.
    is_constant_elsewhere: one level of it may be given in a sweep of another axis.
    must_be_steady: a trial whose rate is not steady is UNSTEADY, and seconds before it settled may be left out.
    standings: of every kind of bottleneck. own_verdict: of a trial whose bottleneck is the server's own.
    published_columns, console_columns: of the report's table in the form of the published article, and of the table on
    the console, by their names in runner/report/columns.py. published_level: heading of the level in the former.
    published_note: how our rates differ in kind from published ones.
    """

    name: str
    unit: str
    command: str
    flag: str
    title: str
    given: str
    question: str
    example: str
    missing: str
    standings: Mapping[BottleneckKind, Stand]
    own_verdict: VerdictKind
    needs: str = ""
    one_without: str = ""
    is_durable: bool = False
    is_constant_elsewhere: bool = False
    must_be_steady: bool = True
    published_level: str = ""
    published_columns: tuple[str, ...] = ("write_threads", "rows", "disk_io", "available_memory", "cpu")
    published_note: str = ""
    console_columns: tuple[str, ...] = ("disk_write",)

    def count(self, level: str) -> str:
        """A level with its unit: "1 core", "4 cores"."""
        return f"{level} {self.unit if level == '1' else self.name}"


def standings(
    swept: tuple[BottleneckKind, ...],
    own: tuple[BottleneckKind, ...],
    remedies: Mapping[BottleneckKind, str] | None = None,
    reasons: Mapping[BottleneckKind, str] | None = None,
) -> dict[BottleneckKind, Stand]:
    """A standing for every kind: those named, and EXTERNAL for all others. remedies, reasons: the axis' own words."""

    def standing(kind: BottleneckKind) -> Standing:
        return Standing.SWEPT if kind in swept else Standing.OWN if kind in own else Standing.EXTERNAL

    def stand(kind: BottleneckKind) -> Stand:
        remedy, reason = (remedies or {}).get(kind, ""), (reasons or {}).get(kind, "")
        return Stand(standing=standing(kind), remedy=remedy, reason=reason)

    return {kind: stand(kind) for kind in BottleneckKind}
