"""What sets of disks exist, on disk, so that they are found after a crash: one small file per set, written first.

The register belongs to root alone, because whoever reads it undoes mounts and devices that it names.
Refuses to believe a set's folder that is not named like one of ours.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from runner.errors import PreflightError, UsageError
from runner.host.alive import alive, started_ticks
from runner.model import DiskSource

REGISTER = Path("/var/lib/scale-disks")
REGISTER_OWNER = 0  # root
PREFIX = "scale-disks-"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, kw_only=True)
class DiskSet:
    """Disks made together. kept: wanted until removed by name; else the maker's end is the set's end.

    folder: mount points d1, d2, ... and image files. label: begin of the file systems' labels, and name of the array.
    ready: preparation was finished and verified. maker_*: the process that made it. stripe: how many of the disks, from
    the first on, form one RAID-0 array (mounted at d1); 0: each has a file system of its own.
    """

    name: str
    folder: str
    label: str
    count: int
    source: DiskSource
    owner: str
    kept: bool
    ready: bool
    maker_pid: int
    maker_started: int
    stripe: int = 0

    @property
    def paths(self) -> tuple[str, ...]:
        """The mount points, in order."""
        return tuple(f"{self.folder}/d{i + 1}" for i in range(1 if self.stripe else self.count))

    @property
    def in_use(self) -> bool:
        """Whether its maker still lives."""
        return alive(self.maker_pid, self.maker_started)


def new_set(name: str, source: DiskSource, count: int, base: Path, *, owner: str, kept: bool) -> DiskSet:
    """A set of this process, nothing made yet. Raises UsageError for a name or a folder that no command takes."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"a set of disks cannot be called {name!r}", remedy="letters, digits, dot, dash, underscore")
    folder = str(base.resolve() / (PREFIX + name))
    if not re.fullmatch(r"/[A-Za-z0-9._/-]+", folder):
        raise UsageError(f"disks cannot be mounted below {base}", remedy="a --data-dir of letters, digits, . _ - /")
    label = "sc" + hashlib.sha256(folder.encode()).hexdigest()[:6]
    pid = os.getpid()
    return DiskSet(
        name=name,
        folder=folder,
        label=label,
        count=count,
        source=source,
        owner=owner,
        kept=kept,
        ready=False,
        maker_pid=pid,
        maker_started=started_ticks(pid),
    )


def folder_of(name: str) -> Path:
    """A set's own folder in the register: its state, and what Ansible writes."""
    return REGISTER / name


def save(disk_set: DiskSet) -> None:
    """Replaces the set's file. Raises PreflightError where the register cannot be written."""
    folder = folder_of(disk_set.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / "state.partial"
        partial.write_text(json.dumps(asdict(disk_set), indent=1), encoding="utf-8")
        partial.replace(folder / "state.json")
    except OSError as error:
        raise PreflightError(f"the register of disks cannot be written: {error}", remedy="run as root") from None


def forget(name: str) -> None:
    """Everything of the set is undone."""
    shutil.rmtree(folder_of(name), ignore_errors=True)
    with contextlib.suppress(OSError):  # another set is in it, or another `scale` was quicker
        REGISTER.rmdir()


@contextlib.contextmanager
def held(name: str) -> Iterator[bool]:
    """Waits until no other process undoes the set; False when that one forgot it meanwhile, whatever has its name now.

    A set that the register never had is there: nobody else can know of it.
    """
    try:
        folder = os.open(folder_of(name), os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield True
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield os.fstat(folder).st_nlink > 0
    finally:
        os.close(folder)


def list_disks() -> tuple[DiskSet, ...]:
    """All sets that were begun and not removed; what is not a set of ours is passed over."""
    return tuple(found for path in sorted(REGISTER.glob("*/state.json")) if (found := _read(path)))


def find_set(name: str) -> DiskSet | None:
    """A set by its name."""
    return _read(folder_of(name) / "state.json") if _NAME.fullmatch(name) else None


def _read(path: Path) -> DiskSet | None:
    try:
        if path.stat().st_uid != REGISTER_OWNER:
            return None
        raw = json.loads(path.read_text(encoding="utf-8"))
        source: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in raw.pop("source").items()}
        found = DiskSet(**raw, source=DiskSource(**source))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return found if Path(found.folder).name == PREFIX + found.name else None


def state_of(disk_set: DiskSet) -> str:
    """In words: ready, in use by a sweep, half made, or gone (after a restart of the machine)."""
    if not disk_set.kept and disk_set.in_use:
        return "in use by a sweep"
    if not (disk_set.kept and disk_set.ready):
        return "being made" if disk_set.in_use else "left over; scale clean"
    return "ready" if all(os.path.ismount(p) for p in disk_set.paths) else "not mounted any more; remove it"


def names(sets: Sequence[DiskSet]) -> str:
    """For messages."""
    return ", ".join(s.name for s in sets) or "none"
