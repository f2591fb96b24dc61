"""Finds the block device that holds a path. Reads /proc and /sys only, and the number of a mount's source in /dev."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.machine.host.mounts import mount_of, source_number
from scale_sweep.model import DataDisk


@dataclass(frozen=True, kw_only=True)
class Disk:
    """The block device of a path."""

    device: str  # major:minor
    name: str  # as in /proc/diskstats
    mount_point: str
    file_system: str
    rotational: bool | None  # None if not known
    free_bytes: int


def disk_of(path: Path, root: Path = Path("/")) -> Disk | None:
    """The device that holds `path` (or its nearest existing parent); None for tmpfs and the network, and where it is
    not seen, as below the overlay of a container."""
    there, device = _there(path)
    mount = mount_of(there, device, root)
    name = _name(root, device)
    if not name and mount is not None and (source := source_number(mount)):  # btrfs has an anonymous number
        device, name = source, _name(root, source)
    if not name or _is_one_of_several(root, name):
        return None
    return Disk(
        device=device,
        name=name,
        mount_point=mount.point if mount else str(_top(there)),
        file_system=mount.file_system if mount else "",
        rotational=_rotational(root, device),
        free_bytes=shutil.disk_usage(there).free,
    )


def _there(path: Path) -> tuple[Path, str]:
    there = next(p for p in (path.absolute(), *path.absolute().parents) if p.exists()).resolve()
    number = os.stat(there).st_dev
    return there, f"{os.major(number)}:{os.minor(number)}"


def _top(there: Path) -> Path:
    number = os.stat(there).st_dev
    return [p for p in (there, *there.parents) if os.stat(p).st_dev == number][-1]


def _is_one_of_several(root: Path, name: str) -> bool:
    folders = (device.parent for device in (root / "sys/fs/btrfs").glob(f"*/devices/{name}"))
    return any(len(list(folder.iterdir())) > 1 for folder in folders)


def data_disk(disk: Disk) -> DataDisk:
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
    """The tmpfs that holds `path` (or its nearest existing parent), as a disk of which only the free space is known;
    None if it is not on a tmpfs."""
    there, device = _there(path)
    mount = mount_of(there, device, root)
    if mount is None or mount.file_system != "tmpfs":
        return None
    space = shutil.disk_usage(there)
    return DataDisk(
        name="ram",
        kind="ram",
        path=mount.point,
        device="",
        block_name="",
        file_system=mount.file_system,
        size_bytes=space.total,
        free_bytes=space.free,
    )


def _name(root: Path, device: str) -> str:
    for line in (root / "proc/diskstats").read_text(encoding="utf-8").splitlines():
        major, minor, name = line.split()[:3]
        if f"{major}:{minor}" == device:
            return name
    return ""


def _rotational(root: Path, device: str) -> bool | None:
    folder = root / "sys/dev/block" / device
    for place in (folder / "queue/rotational", folder / "../queue/rotational"):
        try:
            return place.read_text(encoding="utf-8").strip() == "1"
        except OSError:
            continue
    return None
