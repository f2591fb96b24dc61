"""A data directory in memory (`--data-dir ram`): which tmpfs, its size, and its owner."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.units import format_bytes, parse_bytes
from scale_sweep.machine.host.alive import started_ticks
from scale_sweep.machine.host.usable import memory_left_bytes

WORD = "ram"
AUTO = "auto"  # in memory if the data has room there, else on a disk
_SHARED = Path("/dev/shm")
_SYS_ADMIN = 21  # CAP_SYS_ADMIN, which mounting needs


@dataclass(frozen=True, kw_only=True)
class RamDirectory:
    """path: of the data directory. size_bytes: the most that may be written there. is_mounted: scale mounts it for the
    run; else it is a directory on an existing tmpfs."""

    path: Path
    size_bytes: int
    is_mounted: bool

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
        """ "/dev/shm has 64MiB free"."""
        return f"{self.where} has {format_bytes(self.free_bytes)} free"


def is_ram(data_dir: str) -> bool:
    return data_dir == WORD or data_dir.startswith(f"{WORD}:")


def ram_directory(data_dir: str, base: Path) -> RamDirectory:
    size = parse_bytes(data_dir.partition(":")[2])
    if may_mount():
        return RamDirectory(path=base / f"{WORD}-{os.getpid()}", size_bytes=size, is_mounted=True)
    return RamDirectory(path=_SHARED / f"scale-{secrets.token_hex(16)}", size_bytes=size, is_mounted=False)


def is_shared(path: Path) -> bool:
    """Whether a path is on the machine's /dev/shm."""
    return path.absolute().is_relative_to(_SHARED)


def shortage(directory: RamDirectory) -> str:
    """A sentence if the directory has less space than requested; else ""."""
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
