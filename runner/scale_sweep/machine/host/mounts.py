"""The only reader of /proc/self/mountinfo (proc_pid_mountinfo(5)): what is mounted where, and from which device."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

_ESCAPED = re.compile(rb"\\([0-7]{3})")  # the kernel's form of blanks, line ends and backslashes


@dataclass(frozen=True, kw_only=True)
class Mount:
    """device: major:minor; of btrfs and overlay an anonymous number, which is no block device's."""

    device: str
    point: str
    file_system: str
    source: str


def read_mounts(root: Path = Path("/")) -> tuple[Mount, ...]:
    """All mounts that this process sees, in the kernel's order: a later one hides an earlier one. A root that is no
    mount point, as of a chroot, is not among them."""
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
    """The mount that holds a path without links. device: of the path; a file in a subvolume of btrfs has another one
    than its mount. None if the mount is not seen."""
    above = [one for one in read_mounts(root) if path.is_relative_to(one.point)]
    same = [one for one in above if one.device == device]
    return max(enumerate(same or above), key=lambda one: (len(one[1].point), one[0]), default=(0, None))[1]


def number_of(path: str) -> str | None:
    """major:minor of a block device's file; None for any other file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}" if stat.S_ISBLK(status.st_mode) else None


def source_number(mount: Mount) -> str | None:
    """major:minor of the block device that a mount names as its source; None if that is none."""
    return number_of(mount.source) if mount.source.startswith("/dev/") else None
