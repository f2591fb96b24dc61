"""Where data lies: mounts, the block device of a path, and directories in memory (`--data-dir ram`)."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.units import format_bytes, parse_bytes
from scale_sweep.machine.host.host_facts import memory_left_bytes, text_of
from scale_sweep.machine.host.processes import started_ticks
from scale_sweep.model.samples import DataDisk


@dataclass(frozen=True, kw_only=True)
class Disk:
    device: str  # major:minor
    name: str  # as in /proc/diskstats
    mount_point: str
    file_system: str
    rotational: bool | None  # None if not known
    free_bytes: int


def disk_of(path: Path, root: Path = Path("/")) -> Disk | None:
    """The device of `path` or its nearest existing parent; None for tmpfs, the network, and what a container's overlay
    hides."""
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
    """The tmpfs of `path` or its nearest existing parent, as a disk of which only the free space is known."""
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
    text = text_of(folder / "queue/rotational") or text_of(folder / "../queue/rotational")
    return text == "1" if text else None


_ESCAPED = re.compile(rb"\\([0-7]{3})")  # the kernel's form of blanks, line ends and backslashes


@dataclass(frozen=True, kw_only=True)
class Mount:
    device: str  # major:minor; of btrfs and overlay an anonymous number, which is no block device's
    point: str
    file_system: str
    source: str


def read_mounts(root: Path = Path("/")) -> tuple[Mount, ...]:
    """All mounts, in the kernel's order: a later one hides an earlier one. The root of a chroot is not among them."""
    lines = (root / "proc/self/mountinfo").read_bytes().split(b"\n")
    return tuple(_mount(line) for line in lines if line)


def _mount(line: bytes) -> Mount:
    left, _, right = line.partition(b" - ")
    _, _, device, _, point, *_ = left.split(b" ")
    file_system, source, *_ = right.split(b" ")
    return Mount(device=_text(device), point=_text(point), file_system=_text(file_system), source=_text(source))


def _text(field: bytes) -> str:
    return os.fsdecode(_ESCAPED.sub(lambda code: bytes([int(code[1], 8)]), field))


def mount_of(path: Path, device: str, root: Path = Path("/")) -> Mount | None:
    """The mount that holds a path without links. device: of the path; btrfs has another one for files in a
    subvolume."""
    above = [one for one in read_mounts(root) if path.is_relative_to(one.point)]
    same = [one for one in above if one.device == device]
    return max(enumerate(same or above), key=lambda one: (len(one[1].point), one[0]), default=(0, None))[1]


def number_of(path: str) -> str | None:
    """major:minor; None if it is not that of a block device."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}" if stat.S_ISBLK(status.st_mode) else None


def source_number(mount: Mount) -> str | None:
    """major:minor of the block device that is a mount's source; None if that is none."""
    return number_of(mount.source) if mount.source.startswith("/dev/") else None


RAM = "ram"
AUTO = "auto"  # in memory if the data has room there, else on a disk
_SHARED = Path("/dev/shm")
_SYS_ADMIN = 21  # CAP_SYS_ADMIN, which mounting needs


@dataclass(frozen=True, kw_only=True)
class RamDirectory:
    path: Path
    size_bytes: int  # the most that may be written there
    is_mounted: bool  # scale mounts it for the run; else it is a directory on an existing tmpfs

    @property
    def sentence(self) -> str:
        if self.is_mounted:
            return f"a tmpfs of {format_bytes(self.size_bytes)} is mounted at {self.path} and removed after the run"
        return f"a directory on the existing tmpfs {self.path.parent} is used; this user may not limit its size"


@dataclass(frozen=True, kw_only=True)
class Room:
    """Memory that data can take, and where."""

    where: str
    free_bytes: int

    @property
    def words(self) -> str:
        return f"{self.where} has {format_bytes(self.free_bytes)} free"


def is_ram(data_dir: str) -> bool:
    return data_dir == RAM or data_dir.startswith(f"{RAM}:")


def ram_directory(data_dir: str, base: Path) -> RamDirectory:
    size = parse_bytes(data_dir.partition(":")[2])
    if may_mount():
        return RamDirectory(path=base / f"{RAM}-{os.getpid()}", size_bytes=size, is_mounted=True)
    return RamDirectory(path=_SHARED / f"scale-{secrets.token_hex(16)}", size_bytes=size, is_mounted=False)


def is_shared(path: Path) -> bool:
    return path.absolute().is_relative_to(_SHARED)


def shortage(directory: RamDirectory) -> str:
    """ "" if there is enough."""
    there = room(mounts=directory.is_mounted)
    if directory.size_bytes <= there.free_bytes:
        return ""
    return f"ram: {format_bytes(directory.size_bytes)} asked for, {there.words}"


def room(*, mounts: bool | None = None) -> Room:
    """The memory for data. mounts: a tmpfs of its own; None: if this process may mount."""
    left = memory_left_bytes()
    if may_mount() if mounts is None else mounts:
        return Room(where="the machine's memory", free_bytes=left)
    free = shutil.disk_usage(_SHARED).free if _SHARED.is_dir() else 0
    return Room(where=str(_SHARED), free_bytes=min(free, left))


def may_mount(status: Path = Path("/proc/self/status")) -> bool:
    match = re.search(r"^CapEff:\s+([0-9a-f]+)", status.read_text(encoding="utf-8"), re.MULTILINE)
    return bool(match and int(match.group(1), 16) >> _SYS_ADMIN & 1)


def mount_source() -> str:
    return f"scale-ram-{os.getpid()}-{started_ticks(os.getpid())}"
