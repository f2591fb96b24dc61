"""Finds the block device that holds a path. Reads /proc/self/mountinfo and /sys only."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.model import DataDisk


@dataclass(frozen=True, kw_only=True)
class Disk:
    """The block device of a path. device: major:minor. name: as in /proc/diskstats. rotational: None if not known."""

    device: str
    name: str
    mount_point: str
    file_system: str
    rotational: bool | None
    free_bytes: int


def disk_of(path: Path, root: Path = Path("/")) -> Disk | None:
    """The device that holds `path` (or its nearest existing parent); None for tmpfs, overlay and the like."""
    there = next(p for p in (path.absolute(), *path.absolute().parents) if p.exists())
    number = os.stat(there).st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    name = _name(root, device)
    if not name:
        return None
    mount_point, file_system = _mount(root, device, str(there.resolve()))
    return Disk(
        device=device,
        name=name,
        mount_point=mount_point,
        file_system=file_system,
        rotational=_rotational(root, device),
        free_bytes=shutil.disk_usage(there).free,
    )


def data_disk(disk: Disk) -> DataDisk:
    """The disk of a server's data directory, as the first disk of a sweep."""
    return DataDisk(
        name="d1",
        kind="dir",
        path=disk.mount_point,
        device=disk.device,
        block_name=disk.name,
        file_system=disk.file_system,
        size_bytes=shutil.disk_usage(disk.mount_point).total,
        free_bytes=disk.free_bytes,
    )


def memory_disk(path: Path, root: Path = Path("/")) -> DataDisk | None:
    """The tmpfs that holds `path`, as a disk of which only the free space is known; None if it is not on a tmpfs."""
    number = os.stat(path).st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    mount_point, file_system = _mount(root, device, str(path.resolve()))
    if file_system != "tmpfs":
        return None
    space = shutil.disk_usage(path)
    return DataDisk(
        name="ram",
        kind="ram",
        path=mount_point,
        device="",
        block_name="",
        file_system=file_system,
        size_bytes=space.total,
        free_bytes=space.free,
    )


def _name(root: Path, device: str) -> str:
    for line in (root / "proc/diskstats").read_text().splitlines():
        major, minor, name = line.split()[:3]
        if f"{major}:{minor}" == device:
            return name
    return ""


def _mount(root: Path, device: str, path: str) -> tuple[str, str]:
    best = ("", "")
    for line in (root / "proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split()
        if (
            fields[2] == device
            and f"{path}/".startswith(fields[4].rstrip("/") + "/")
            and len(fields[4]) >= len(best[0])
        ):
            best = (fields[4], right.split()[0])
    return best


def _rotational(root: Path, device: str) -> bool | None:
    folder = root / "sys/dev/block" / device
    for place in (folder / "queue/rotational", folder / "../queue/rotational"):
        try:
            return place.read_text().strip() == "1"
        except OSError:
            continue
    return None
