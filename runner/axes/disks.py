"""The axis of disks: `scale sweep disk --disks 1..3`. A level is the disks that the server's data lie on."""

from __future__ import annotations

from runner.axes.facts import AxisFacts
from runner.model import LimitKind, Stand, Standing, VerdictKind

_OWN = (LimitKind.HOT_THREAD, LimitKind.CONNECTIONS, LimitKind.UNKNOWN)
_MORE_DISKS = (
    "more disks; where they are not full: vgroups or partitions that every number of disks divides, more commit "
    "threads, a longer load"
)

AXIS = AxisFacts(
    name="disks",
    unit="disk",
    command="disk",
    flag="--disks",
    title="Disks",
    given="disks given to the server",
    question="How does the write rate grow with disks?",
    example="scale sweep disk --disks 1..3 --dir /mnt/a,/mnt/b,/mnt/c",
    rate="durable_rows_per_s",
    standings={
        **{kind: Stand(standing=Standing.OWN if kind in _OWN else Standing.EXTERNAL) for kind in LimitKind},
        LimitKind.DISK: Stand(standing=Standing.SWEPT, remedy=_MORE_DISKS),
    },
    own_verdict=VerdictKind.RESOURCE_NOT_SATURATED,
    must_be_steady=False,
    sections=("disks",),
    needs="places_disks",
)
