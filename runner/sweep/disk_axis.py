"""What a disk sweep adds to a Sweep, and what cannot be asked together. Pure; the machine is not looked at."""

from __future__ import annotations

from collections.abc import Mapping

from runner.model import DiskSource, Finding, KnobRole, Plan, Sweep, Trial
from runner.sweep.rows import logical_bytes
from runner.units import common_multiple, format_levels, format_number

_KINDS = ("dir", "device", "loop")
CEILING_S = 4.0  # of sequential writes by fio, and half of it of small ones, on each disk and on all together
_MAKE_S, _VERIFY_S = 4.0, 5.0  # seen with 1 to 3 loop devices
_AMPLIFICATION, _BYTES_PER_S = 3.5, 1e8  # rough: TDengine with small buffers, and a disk without a cap
_ONLY_WITH = {
    "disks.cap": ("disks.loop", "--cap", "--loop"),
    "disks.cap_iops": ("disks.loop", "--cap-iops", "--loop"),
    "disks.format": ("disks.device", "--format", "--device"),
    "disks.wipe": ("disks.format", "--wipe", "--format"),
    "disks.allow_shared_device": ("disks.dir", "--allow-shared-device", "--dir"),
}


def overruled(flags: Mapping[str, object]) -> tuple[str, ...]:
    """Keys of a sweep file that do not count because a flag says that the disks come from elsewhere."""
    if not any(f"disks.{kind}" in flags for kind in _KINDS):
        return ()
    return (*(f"disks.{kind}" for kind in _KINDS), *_ONLY_WITH)


def fields(values: Mapping[str, object]) -> dict[str, object]:
    """The fields of Sweep that only a disk sweep fills; in a sweep of cores none."""
    if not values["axis.disks"]:
        return {}
    cores = values["axis.cores"]
    return {
        "cores": cores[0] if cores else None,  # type: ignore[index]
        "disks": source(values),
        "disk_placement": values["disks.placement"],
        "wal_disk": values["disks.wal"],
        "disk_free_min_bytes": values["disks.free_min"],
    }


def source(values: Mapping[str, object]) -> DiskSource | None:
    """Where the disks come from; None when that is not said."""
    kind = next((k for k in _KINDS if values[f"disks.{k}"]), None)
    if kind is None:
        return None
    return DiskSource(
        kind=kind,  # type: ignore[arg-type]
        dirs=values["disks.dir"] or (),  # type: ignore[arg-type]
        devices=values["disks.device"] or (),  # type: ignore[arg-type]
        loop_bytes=values["disks.loop"],  # type: ignore[arg-type]
        cap_bytes_per_s=values["disks.cap"],  # type: ignore[arg-type]
        cap_iops=values["disks.cap_iops"],  # type: ignore[arg-type]
        format=bool(values["disks.format"]),
        wipe=bool(values["disks.wipe"]),
        file_system=str(values["disks.file_system"]),
        allow_shared_device=bool(values["disks.allow_shared_device"]),
    )


def mistakes(what: str, texts: Mapping[str, object], values: Mapping[str, object]) -> list[str]:
    """Every mistake, each with its flag."""
    if what == "cpu" and texts["axis.disks"]:
        return ["--disks: a sweep of cores; write scale sweep disk --disks ..."]
    if not texts["axis.disks"]:
        return ["--disks: missing; say how many disks to sweep, like 1..3"] if what == "disk" else []
    found = []
    unread = {key for key, value in values.items() if texts.get(key) and value is None}  # a mistake of its own already
    given = [k for k in _KINDS if values[f"disks.{k}"] or f"disks.{k}" in unread]
    if len(given) != 1:
        said = " and ".join(f"--{k}" for k in given) or "nothing"
        found.append(f"--dir, --device or --loop: say once where the disks come from; {said} was given")
    for key, (needed, flag, other) in _ONLY_WITH.items():
        if values[key] and not values[needed] and needed not in unread:
            found.append(f"{flag}: only with {other}")
    most = max(values["axis.disks"] or (0,))  # type: ignore[call-overload]
    for kind in ("dir", "device"):
        there = values[f"disks.{kind}"]
        if there and len(there) < most:  # type: ignore[arg-type]
            found.append(f"--{kind}: {len(there)} named, --disks asks for {int(most)}")  # type: ignore[arg-type]
    if values["axis.cores"] and len(values["axis.cores"]) > 1:  # type: ignore[arg-type]
        found.append("--cores: in a disk sweep the cores are constant; give one number")
    return found


def uneven_parts(plan: Plan) -> list[Finding]:
    """A finding for every level whose disks do not get the same number of partitions."""
    found = {}
    for trial in plan.trials:
        for knob in (k.name for k in plan.knobs if k.role is KnobRole.PARTITIONS):
            parts = int(trial.knobs.get(knob, "0"))
            if parts and parts % trial.disks:
                most, least = -(-parts // trial.disks), parts // trial.disks
                found[trial.disks] = Finding(
                    blocking=least == 0,
                    subject=f"--{knob}",
                    sentence=f"{parts} {knob} on {trial.disks} disks: {most} on some, {least} on others, "
                    "and the fullest disk sets the pace",
                    remedy=f"a number that every level divides, like {common_multiple(plan.sweep.levels, parts)}",
                )
    return list(found.values())


def write_seconds(sweep: Sweep, trial: Trial) -> float:
    """A rough time that the disks need for fixed work, only to say how long the sweep takes."""
    capped = sweep.disks.cap_bytes_per_s if sweep.disks else None
    written = (sweep.load.rows or 0) * logical_bytes(sweep.work.data) * _AMPLIFICATION
    return written / (trial.disks * (capped or _BYTES_PER_S))


def preparation_seconds(sweep: Sweep) -> float:
    """A rough time before the first trial: disks made, their limits verified, their own ceilings measured."""
    if sweep.axis != "disks" or sweep.disks is None:
        return 0.0
    made = 0.0 if sweep.disks.kind == "dir" else _MAKE_S
    verified = _VERIFY_S if sweep.disks.cap_bytes_per_s or sweep.disks.cap_iops else 0.0
    count = int(max(sweep.levels))
    return made + verified + 1.5 * CEILING_S * (count + (count > 1))


def disk_values(sweep: Sweep) -> dict[str, str]:
    """The axis and the disks as the user would write them, by key."""
    if sweep.axis != "disks":
        return {"axis.cores": format_levels(sweep.levels)}
    source = sweep.disks or DiskSource(kind="dir")
    return {
        "axis.disks": format_levels(sweep.levels),
        "axis.cores": format_number(sweep.cores) if sweep.cores else "",
        "disks.dir": ",".join(source.dirs),
        "disks.device": ",".join(source.devices),
        "disks.loop": f"{source.loop_bytes} B" if source.loop_bytes else "",
        "disks.cap": f"{source.cap_bytes_per_s} B/s" if source.cap_bytes_per_s else "",
        "disks.cap_iops": str(source.cap_iops or ""),
        "disks.format": "true" if source.format else "",
        "disks.wipe": "true" if source.wipe else "",
        "disks.file_system": source.file_system,
        "disks.allow_shared_device": "true" if source.allow_shared_device else "",
        "disks.placement": sweep.disk_placement,
        "disks.wal": sweep.wal_disk,
        "disks.free_min": f"{sweep.disk_free_min_bytes} B",
    }
