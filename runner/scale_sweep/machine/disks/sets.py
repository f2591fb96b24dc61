"""The register of disk sets: a file for each, written before its disks are made, found again after a crash.

The register belongs to root alone, because its readers remove the mounts and devices that it names.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import PreflightError, ProvisionError, UsageError
from scale_sweep.machine.host.processes import alive, started_ticks
from scale_sweep.machine.state.places import own_directory
from scale_sweep.machine.state.trusted import open_trusted, read_own
from scale_sweep.model.samples import DiskSource

REGISTER = Path("/var/lib/scale-disks")
REGISTER_OWNER = 0  # root's
PREFIX = "scale-disks-"
REMOVAL_S = 600.0  # another process, with many disks
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, kw_only=True)
class DiskSet:
    name: str
    folder: str  # holds mount points d1, d2, ... and image files
    label: str  # the start of the file systems' labels, and the array's name
    count: int
    source: DiskSource
    owner: str
    kept: bool  # they stay until removed by name; else they are removed when their maker ends
    ready: bool  # made and verified
    maker_pid: int
    maker_started: int
    stripe: int = 0  # how many of the first disks form one array, mounted at d1

    @property
    def paths(self) -> tuple[str, ...]:
        """In order."""
        return tuple(f"{self.folder}/d{i + 1}" for i in range(1 if self.stripe else self.count))

    @property
    def in_use(self) -> bool:
        return alive(self.maker_pid, self.maker_started)


def new_set(name: str, source: DiskSource, count: int, base: Path, *, owner: str, kept: bool) -> DiskSet:
    """A set of this process; nothing is made yet. Raises UsageError for a name or folder that commands cannot take."""
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


def name_of_run(run_id: str) -> str:
    """The run's last part: servers accept only short paths."""
    return run_id.rpartition("-")[2]


def folder_of(name: str) -> Path:
    """A set's own folder in the register: its record, and Ansible's files."""
    return REGISTER / name


def save(disk_set: DiskSet) -> None:
    """Raises PreflightError if the register cannot be written, or is not root's alone."""
    folder = folder_of(disk_set.name)
    try:
        own_directory(REGISTER, makes=True)
        own_directory(folder, makes=True)
        partial = folder / "state.partial"
        partial.write_text(json.dumps(asdict(disk_set), indent=1), encoding="utf-8")
        partial.replace(folder / "state.json")
    except OSError as error:
        raise PreflightError(
            f"the register of disks {REGISTER} cannot be written: {error}",
            remedy=f"as root, make {REGISTER.parent} writable",
        ) from None


def claim_folder(disk_set: DiskSet, *, makes: bool) -> None:
    """Makes or checks the set's folder, so that no other user's link decides what is formatted. Raises
    PreflightError."""
    try:
        own_directory(Path(disk_set.folder), makes=makes, in_shared=True)
    except OSError as error:
        raise PreflightError(f"{disk_set.folder} cannot be used: {error.strerror}", remedy="--base DIR") from None


def forget(name: str) -> None:
    shutil.rmtree(folder_of(name), ignore_errors=True)
    with contextlib.suppress(OSError):  # the folder holds another set, or another `scale` was faster
        REGISTER.rmdir()


@contextlib.contextmanager
def held(name: str) -> Iterator[bool]:
    """Waits until no other process removes the set. False if that deleted it. Raises ProvisionError if that does not
    end."""
    try:
        folder = os.open(folder_of(name), os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield True
        return
    try:
        _lock(folder, name)
        yield os.fstat(folder).st_nlink > 0
    finally:
        os.close(folder)


def _lock(folder: int, name: str) -> None:
    deadline = time.monotonic() + REMOVAL_S
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                sentence = f"disks {name}: another process has been removing them for {REMOVAL_S:.0f} s"
                raise ProvisionError(sentence, remedy=f"find it with: fuser {folder_of(name)}; and end it") from None
        time.sleep(0.05)


def list_disks() -> tuple[DiskSet, ...]:
    """All that were begun and not removed. Other files are ignored."""
    return tuple(disk_set for path in sorted(REGISTER.glob("*/state.json")) if (disk_set := _read(path)))


def find_set(name: str) -> DiskSet | None:
    return _read(folder_of(name) / "state.json") if _NAME.fullmatch(name) else None


def _read(path: Path) -> DiskSet | None:
    try:
        os.close(open_trusted(path.parent))
        raw = json.loads(read_own(path, REGISTER_OWNER))
        source: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in raw.pop("source").items()}
        disk_set = DiskSet(**raw, source=DiskSource(**source))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, PreflightError):
        return None
    return disk_set if Path(disk_set.folder).name == PREFIX + disk_set.name else None


def state_of(disk_set: DiskSet) -> str:
    if not disk_set.kept and disk_set.in_use:
        return "in use by a sweep"
    if not (disk_set.kept and disk_set.ready):
        return "being made" if disk_set.in_use else "left over; scale clean"
    return "ready" if all(os.path.ismount(p) for p in disk_set.paths) else "not mounted any more; remove it"


def names(sets: Sequence[DiskSet]) -> str:
    return ", ".join(s.name for s in sets) or "none"
