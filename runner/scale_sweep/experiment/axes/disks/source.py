"""The source of a sweep's disks: from setting values to a DiskSource and back, with its mistakes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from scale_sweep.base.units import format_number
from scale_sweep.model import DiskSource, Sweep

KINDS: tuple[Literal["dir", "device", "loop"], ...] = ("dir", "device", "loop")
_EXAMPLE = "write --dir /mnt/a,/mnt/b,/mnt/c for mounts that exist, or (root) --loop 4GiB for disks made for the sweep"
_ONLY_WITH = {
    "disks.cap": ("disks.loop", "--cap", "--loop"),
    "disks.cap_iops": ("disks.loop", "--cap-iops", "--loop"),
    "disks.format": ("disks.device", "--format", "--device"),
    "disks.wipe": ("disks.format", "--wipe", "--format"),
    "disks.allow_shared_device": ("disks.dir", "--allow-shared-device", "--dir"),
}


def overruled(flags: Mapping[str, object]) -> tuple[str, ...]:
    """Keys of a sweep file that do not count because a flag gives another source."""
    if not any(f"disks.{kind}" in flags for kind in KINDS):
        return ()
    return (*(f"disks.{kind}" for kind in KINDS), *_ONLY_WITH)


def source(values: Mapping[str, Any]) -> DiskSource | None:
    """The source of the disks; None if none is given."""
    kind = next((k for k in KINDS if values[f"disks.{k}"]), None)
    if kind is None:
        return None
    return DiskSource(
        kind=kind,
        dirs=values["disks.dir"] or (),
        devices=values["disks.device"] or (),
        loop_bytes=values["disks.loop"],
        cap_bytes_per_s=values["disks.cap"],
        cap_iops=values["disks.cap_iops"],
        format=bool(values["disks.format"]),
        wipe=bool(values["disks.wipe"]),
        file_system=str(values["disks.file_system"]),
        allow_shared_device=bool(values["disks.allow_shared_device"]),
    )


def mistakes(texts: Mapping[str, object], values: Mapping[str, Any]) -> list[str]:
    """Mistakes in the source of the disks. Each sentence names its flag."""
    mistakes_found = []
    unread = {key for key, value in values.items() if texts.get(key) and value is None}  # already reported
    sources = [k for k in KINDS if values[f"disks.{k}"] or f"disks.{k}" in unread]
    if len(sources) != 1:
        named = " and ".join(f"--{k}" for k in sources) + " were given" if sources else f"nothing was given; {_EXAMPLE}"
        mistakes_found.append(f"--dir, --device or --loop: give exactly one source of disks; {named}")
    for key, (needed, flag, other) in _ONLY_WITH.items():
        if values[key] and not values[needed] and needed not in unread:
            mistakes_found.append(f"{flag}: only with {other}")
    most = max(values["axis.disks"] or (0,))
    for kind in ("dir", "device"):
        there = values[f"disks.{kind}"]
        if there and len(there) < most:
            mistakes_found.append(f"--{kind}: {len(there)} named, --disks needs {format_number(most)}")
    return mistakes_found


def shown(sweep: Sweep) -> dict[str, str]:
    """The disks as the user would write them, by key."""
    source = sweep.disks or DiskSource(kind="dir")
    return {
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
