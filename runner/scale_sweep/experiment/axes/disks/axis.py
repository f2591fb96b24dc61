"""The disk axis: its facts, its settings, and the levels that use their disks unevenly."""

from __future__ import annotations

from typing import Any

from scale_sweep.base.units import common_multiple, counted
from scale_sweep.experiment.axes.axis import Axis
from scale_sweep.experiment.axes.axis_facts import AxisFacts, standings
from scale_sweep.experiment.axes.disks import estimate, source
from scale_sweep.experiment.axes.disks.settings import SETTINGS
from scale_sweep.model import BottleneckKind, Finding, KnobRole, Plan, Sweep, Trial, VerdictKind

_OWN = (
    BottleneckKind.LOCKS,
    BottleneckKind.HOT_THREAD,
    BottleneckKind.CONNECTIONS,
    BottleneckKind.UNKNOWN,
)
_NOT_THE_DISKS = "the server's cores were the bottleneck and not its disks"
_FACTS = AxisFacts(
    name="disks",
    unit="disk",
    command="disk",
    flag="--disks",
    title="Disks",
    label="disks given to the server",
    question="How does the write rate grow with disks?",
    example="scale sweep disk --disks 1..3 --dir /mnt/a,/mnt/b,/mnt/c",
    missing="say how many disks to sweep, like 1..3",
    is_durable=True,
    standings=standings(
        swept=(BottleneckKind.DISK,),
        own=_OWN,
        reasons={BottleneckKind.SERVER_CPU: _NOT_THE_DISKS},
    ),
    own_verdict=VerdictKind.RESOURCE_NOT_SATURATED,
    must_be_steady=False,
    published_columns=("commit_threads", "rows", "durable_rows", "cpu", "disk_io"),
    published_note="ours: to the end of flush and sync; the published rates are acknowledged rows",
    console_columns=("disk_total", "disk_shares", "disk_of_ceiling"),
    usual_keys=("knobs.connections", "knobs.commit_threads"),
)


class _Disks(Axis):
    facts = _FACTS
    settings = SETTINGS

    def overruled(self, flags: Any) -> tuple[str, ...]:
        """The keys of the disks' source. Flags replace the file's source as a whole."""
        return source.overruled(flags)

    def mistakes(self, texts: Any, values: Any) -> list[str]:
        return source.mistakes(texts, values)

    def fields(self, values: Any) -> dict[str, object]:
        """The disks' source and the disk placement."""
        return {
            "disks": source.source(values),
            "disk_placement": values["disks.placement"],
            "wal_disk": values["disks.wal"],
            "disk_free_min_bytes": values["disks.free_min"],
        }

    def shown(self, sweep: Sweep) -> dict[str, str]:
        return source.shown(sweep)

    def findings(self, plan: Plan) -> list[Finding]:
        """A finding for each level whose disks do not get the same number of partitions. A striped array holds all
        parts."""
        return [] if plan.sweep.disk_placement == "stripe" else uneven_parts(plan)

    def work_seconds(self, sweep: Sweep, trial: Trial) -> float:
        """The time that the disks need to write the data, in seconds."""
        return estimate.write_seconds(sweep, trial)

    def before(self, sweep: Sweep) -> tuple[float, str]:
        """The time to make and to measure the disks."""
        return estimate.preparation_seconds(sweep), "to make and measure the disks"


def uneven_parts(plan: Plan) -> list[Finding]:
    """A finding for each level whose disks do not get the same number of partitions."""
    findings = {}
    for trial in plan.trials:
        for knob in (k.name for k in plan.knobs if k.role is KnobRole.PARTITIONS):
            parts = int(trial.knobs.get(knob, "0"))
            if parts and parts % trial.disks:
                most, least = -(-parts // trial.disks), parts // trial.disks
                findings[trial.disks] = Finding(
                    blocking=least == 0,
                    subject=f"--{knob}",
                    sentence=f"{parts} {knob} on {counted(trial.disks, 'disk')}: {most} on some, {least} on others, "
                    "and the fullest disk limits the rate",
                    remedy=f"a number that every level divides, like {common_multiple(plan.sweep.levels, parts)}",
                )
    return list(findings.values())


AXIS = _Disks()
