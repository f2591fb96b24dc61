"""The axis of disks: `scale sweep disk --disks 1..3`. A level is the number of disks that hold the server's data."""

from __future__ import annotations

from typing import Any, Literal

from scale_sweep.base.units import common_multiple, counted, format_number
from scale_sweep.experiment.axes.axis import Axis, AxisFacts, standings
from scale_sweep.experiment.setting import readers, setting, settings_of
from scale_sweep.experiment.work import logical_bytes
from scale_sweep.model.declared import Sweep
from scale_sweep.model.declared_parts import KnobRole
from scale_sweep.model.measured import BottleneckKind, VerdictKind
from scale_sweep.model.planned import Finding, Plan, Trial
from scale_sweep.model.samples import CEILING_S, DiskSource

_SETTINGS = """
disks.dir* --dir LIST paths
    Existing mounts, one for each disk: /mnt/a,/mnt/b.
disks.device* --device LIST paths
    Block devices, one for each disk; with --format.
disks.loop* --loop SIZE bytes_above_0
    Make loop devices of this size. Needs root.
disks.cap* --cap SIZE/S bytes_per_s
    Limit of each loop device's reads and writes, like 20MiB/s.
disks.cap_iops --cap-iops N count
    Limit of each loop device in operations per second.
disks.format* --format switch
    Make a file system on each --device, after a typed confirmation or with -y.
disks.file_system --file-system TYPE text = ext4
    File system to make on loop and block devices: ext4 or xfs.
disks.wipe --wipe switch
    With --format: also format a --device that holds a file system or partitions.
disks.allow_shared_device --allow-shared-device switch
    Accept two directories of --dir on one device.
disks.placement* --disk-placement KIND auto|tiers|spread|stripe = auto
    How the data is distributed over the disks. tiers: by the server, with several dataDir. spread: each vgroup or
    partition on one disk. stripe: RAID-0 of --loop or --device. auto: tiers if a test shows that the server supports
    it, else spread.
disks.wal* --wal-disk WHERE auto|data|first|off-axis = auto
    Place of the write-ahead log: data (with its data, TDengine's default), off-axis (in --data-dir, PostgreSQL's
    default) or first (on disk d1).
disks.free_min --disk-free-min SIZE bytes = 64MiB
    A trial ends as ABORTED if a disk has less free space than this.
"""
_MAKE_S, _VERIFY_S = 4.0, 5.0  # measured with 1 to 3 loop devices
_AMPLIFICATION, _BYTES_PER_S = 3.5, 1e8  # an estimate: TDengine with small buffers, on a disk without a cap
KINDS: tuple[Literal["dir", "device", "loop"], ...] = ("dir", "device", "loop")
_EXAMPLE = "write --dir /mnt/a,/mnt/b,/mnt/c for mounts that exist, or (root) --loop 4GiB for disks made for the sweep"
_ONLY_WITH = {
    "disks.cap": ("disks.loop", "--cap", "--loop"),
    "disks.cap_iops": ("disks.loop", "--cap-iops", "--loop"),
    "disks.format": ("disks.device", "--format", "--device"),
    "disks.wipe": ("disks.format", "--wipe", "--format"),
    "disks.allow_shared_device": ("disks.dir", "--allow-shared-device", "--dir"),
}
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
    account="busy",
    is_durable=True,
    standings=standings(
        swept=(BottleneckKind.DISK,),
        own=(BottleneckKind.LOCKS, BottleneckKind.HOT_THREAD, BottleneckKind.CONNECTIONS, BottleneckKind.UNKNOWN),
        reasons={BottleneckKind.SERVER_CPU: "the server's cores were the bottleneck and not its disks"},
    ),
    own_verdict=VerdictKind.RESOURCE_NOT_SATURATED,
    must_be_steady=False,
    published_columns=("commit_threads", "rows", "durable_rows", "cpu", "disk_io"),
    published_note="ours: to the end of flush and sync; the published rates are acknowledged rows",
    proves=("disk", "cpu"),
    swept_resource="disk",
    console_columns=("disk_total", "disk_shares", "disk_of_ceiling"),
    usual_keys=("knobs.connections", "knobs.commit_threads"),
)
_LEVELS = readers.whole_levels("disks")


class _Disks(Axis):
    facts = _FACTS
    settings = (
        setting(
            "axis.disks", "--disks", _LEVELS, "", "Disks of the server: 1..3 or 1,2,4. Selects a disk sweep.", "LEVELS"
        ),
        *settings_of(_SETTINGS),
    )

    def overruled(self, flags: Any) -> tuple[str, ...]:
        sources = tuple(f"disks.{kind}" for kind in KINDS)
        return (*sources, *_ONLY_WITH) if any(key in flags for key in sources) else ()

    def mistakes(self, texts: Any, values: Any) -> list[str]:
        sentences = []
        unread = {key for key, value in values.items() if texts.get(key) and value is None}  # already reported
        sources = [k for k in KINDS if values[f"disks.{k}"] or f"disks.{k}" in unread]
        if len(sources) != 1:
            some = " and ".join(f"--{k}" for k in sources) + " were given"
            named = some if sources else f"nothing was given; {_EXAMPLE}"
            sentences.append(
                f"--dir, --device or --loop (dir, device or loop of [disks]): give exactly one source of disks; {named}"
            )
        for key, (needed, flag, other) in _ONLY_WITH.items():
            if values[key] and not values[needed] and needed not in unread:
                sentences.append(f"{flag}: only with {other}")
        most = max(values["axis.disks"] or (0,))
        for kind in ("dir", "device"):
            there = values[f"disks.{kind}"]
            if there and len(there) < most:
                sentences.append(f"--{kind}: {len(there)} named, --disks needs {format_number(most)}")
        return sentences

    def fields(self, values: Any) -> dict[str, object]:
        kind = next((k for k in KINDS if values[f"disks.{k}"]), None)
        source = kind and DiskSource(
            kind=kind,
            dirs=values["disks.dir"] or (),
            devices=values["disks.device"] or (),
            loop_bytes=values["disks.loop"],
            cap_bytes_per_s=values["disks.cap"],
            cap_iops=values["disks.cap_iops"],
            format=bool(values["disks.format"]),
            wipe=bool(values["disks.wipe"]),
            file_system=values["disks.file_system"],
            allow_shared_device=bool(values["disks.allow_shared_device"]),
        )
        return {
            "disks": source,
            "disk_placement": values["disks.placement"],
            "wal_disk": values["disks.wal"],
            "disk_free_min_bytes": values["disks.free_min"],
        }

    def shown(self, sweep: Sweep) -> dict[str, str]:
        source = sweep.disks or DiskSource(kind="dir")
        switches = ("format", "wipe", "allow_shared_device")
        return {
            "disks.dir": ",".join(source.dirs),
            "disks.device": ",".join(source.devices),
            "disks.loop": f"{source.loop_bytes} B" if source.loop_bytes else "",
            "disks.cap": f"{source.cap_bytes_per_s} B/s" if source.cap_bytes_per_s else "",
            "disks.cap_iops": str(source.cap_iops or ""),
            **{f"disks.{name}": "true" if getattr(source, name) else "" for name in switches},
            "disks.file_system": source.file_system,
            "disks.placement": sweep.disk_placement,
            "disks.wal": sweep.wal_disk,
            "disks.free_min": f"{sweep.disk_free_min_bytes} B",
        }

    def findings(self, plan: Plan) -> list[Finding]:
        return [] if plan.sweep.disk_placement == "stripe" else uneven_parts(plan)

    def work_seconds(self, sweep: Sweep, trial: Trial) -> float:
        capped = sweep.disks.cap_bytes_per_s if sweep.disks else None
        written = (trial.load.rows or 0) * logical_bytes(sweep.work) * _AMPLIFICATION
        return written / (trial.disks * (capped or _BYTES_PER_S))

    def before(self, sweep: Sweep) -> tuple[float, str]:
        what = "to make and measure the disks"
        if sweep.disks is None:
            return 0.0, what
        made = 0.0 if sweep.disks.kind == "dir" else _MAKE_S
        verified = _VERIFY_S if sweep.disks.cap_bytes_per_s or sweep.disks.cap_iops else 0.0
        count = int(max(sweep.levels))
        return made + verified + 1.5 * CEILING_S * (count + (count > 1)), what


def uneven_parts(plan: Plan) -> list[Finding]:
    """One for each level whose disks do not get the same number."""
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
