"""Properties and users of a block device, from /sys, /proc and wipefs."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.spawning import run_within
from scale_sweep.machine.disks.playbook import search_path
from scale_sweep.machine.host.block_devices import number_of, read_mounts, source_number
from scale_sweep.machine.host.host_facts import text_of

SYS = Path("/sys/dev/block")
SIGNATURES_S = 30.0  # a few blocks of a disk that has been asleep
UNREADABLE = "something that cannot be read"
OPEN_S, PAUSE_S = 2.0, 0.1  # udev opens a device for a moment after each change


@dataclass(frozen=True, kw_only=True)
class Device:
    path: str
    number: str  # major:minor
    name: str
    whole: str  # the kernel's name of the whole disk
    size_bytes: int
    holds: tuple[str, ...]  # signatures ("ext4", "gpt")
    used_by: str  # who has it open or mounted, in words; "" for nobody


def whole_disk(number: str) -> str:
    """The kernel's name of a disk, or of a partition's disk; the number if /sys does not say."""
    folder = SYS / number
    if not folder.exists():
        return number
    there = folder.resolve()
    return there.parent.name if (there / "partition").exists() else there.name


def look_at(path: str) -> Device | None:
    """None if the path is not a block device."""
    number = number_of(path)
    if number is None:
        return None
    folder = (SYS / number).resolve()
    return Device(
        path=path,
        number=number,
        name=folder.name,
        whole=whole_disk(number),
        size_bytes=int(text_of(folder / "size") or 0) * 512,
        holds=signatures(path, folder),
        used_by=_used_by(path, number, folder),
    )


def signatures(path: str, folder: Path) -> tuple[str, ...]:
    """Types that wipefs finds, and partitions that the kernel knows."""
    try:
        environment = {**os.environ, "PATH": search_path()}
        done = run_within(SIGNATURES_S, ["wipefs", "--json", path], env=environment)
        types = parse_wipefs(done.stdout) if done.returncode == 0 else (UNREADABLE,)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        types = (UNREADABLE,)
    partitions = tuple(f"partition {p.name}" for p in sorted(folder.glob("*")) if (p / "partition").exists())
    return types + partitions


def parse_wipefs(text: str) -> tuple[str, ...]:
    """Each once. Raises ValueError for text that is no such JSON."""
    if not text.strip():
        return ()
    try:
        return tuple(dict.fromkeys(str(s["type"]) for s in json.loads(text)["signatures"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"not wipefs's JSON: {error}") from None


def _used_by(path: str, number: str, folder: Path) -> str:
    own = {number, *_partition_numbers(folder)}
    points = [mount.point for mount in read_mounts() if not own.isdisjoint({mount.device, source_number(mount)})]
    if points:
        return f"mounted at {', '.join(points)}"
    holders = sorted(p.name for p in folder.glob("holders/*"))
    if holders:
        return f"held by {', '.join(holders)}"
    try:
        claim = os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC)  # refused where a mount, swap or array uses it
    except OSError as error:
        return error.strerror.lower() if error.strerror else "in use"
    try:
        deadline = time.monotonic() + OPEN_S
        while (there := open_by({number, *_partition_numbers(folder)})) and time.monotonic() < deadline:
            time.sleep(PAUSE_S)
        return f"open by {', '.join(there)}" if there else ""
    finally:
        os.close(claim)


def open_by(numbers: set[str]) -> list[str]:
    """The other processes that have one of the block devices open, in words."""
    holders = []
    for pid in {name for name in os.listdir("/proc") if name.isdecimal()} - {str(os.getpid())}:
        with contextlib.suppress(OSError):  # the process has ended meanwhile
            links = [f"/proc/{pid}/fd/{number}" for number in os.listdir(f"/proc/{pid}/fd")]
            if any(_leads_to(link, numbers) for link in links):
                holders.append(f"process {pid} ({text_of(Path(f'/proc/{pid}/comm'))})")
    return sorted(holders)


def _leads_to(link: str, numbers: set[str]) -> bool:
    """Whether an open file is one of the devices. Others are not asked: a file system may never answer."""
    try:
        return "/dev/" in os.readlink(link) and number_of(link) in numbers
    except OSError:
        return False


def _partition_numbers(folder: Path) -> list[str]:
    return [text_of(p / "dev") for p in folder.glob("*") if (p / "partition").exists()]
