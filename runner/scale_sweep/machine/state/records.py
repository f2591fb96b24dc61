"""Records of what a run has made, so that `scale clean` finds it after a power cut; they alone say what is removed.

Refuses a file that another user owns, may write or may have linked there: as root, `scale clean` ends and deletes what
a record names.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scale_sweep.base.interrupts import deferred
from scale_sweep.machine.host.processes import boot_id, may_live, pid_namespace, started_ticks
from scale_sweep.machine.state.places import folder_held, folder_path, refusals_named
from scale_sweep.machine.state.trusted import PARTIAL, read_at, replace_at, unlink_at

SERVER_VARIABLE = "SCALE_SERVER"  # in the environment of each server process: the name of its record
FOLDER = "records"
SUFFIX = ".json"


@dataclass(frozen=True, kw_only=True)
class Directory:
    path: str
    device: int = 0  # until it is made
    inode: int = 0


@dataclass(frozen=True, kw_only=True)
class Record:
    """The things that one part of a run leaves."""

    name: str
    kind: str = "server"
    boot: str  # of the machine, because start times count from it
    runner_pid: int  # of the owner: while it lives, nothing is left over
    runner_started: int
    pid_namespace: int = 0  # in which numbers of processes count; 0 in records of older versions
    server_pid: int = 0
    server_started: int = 0
    cgroup_paths: tuple[str, ...] = ()
    directories: tuple[Directory, ...] = ()  # the first one is that of the data
    is_mounted: bool = False  # it is the mount point of a tmpfs

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(directory.path for directory in self.directories)


@dataclass(frozen=True, kw_only=True)
class Records:
    records: tuple[Record, ...]
    ignored: tuple[str, ...] = ()  # the path of each other file, and why it is not believed


def record_of(name: str, paths: Sequence[str], kind: str = "server") -> Record:
    """A record owned by this process, of directories that exist or will be made."""
    pid = os.getpid()
    return Record(
        name=name,
        kind=kind,
        boot=boot_id(),
        runner_pid=pid,
        runner_started=started_ticks(pid),
        pid_namespace=pid_namespace(),
        directories=tuple(directory_at(path) for path in paths),
    )


def directory_at(path: str, now_at: str = "") -> Directory:
    there = str(Path(path).absolute())  # `scale clean` is called from anywhere
    try:
        status = os.lstat(now_at or path)
    except OSError:
        return Directory(path=there)
    return Directory(path=there, device=status.st_dev, inode=status.st_ino)


def save(record: Record) -> None:
    """Raises PreflightError for a folder that is not trusted or cannot be written."""
    with refusals_named(), folder_held(FOLDER) as at:
        replace_at(at, record.name + SUFFIX, json.dumps(asdict(record)))


def forget(name: str) -> None:
    with contextlib.suppress(FileNotFoundError), folder_held(FOLDER, makes=False) as at:
        for suffix in (SUFFIX + PARTIAL, SUFFIX):
            unlink_at(at, name + suffix)


def read_record(name: str) -> Record | None:
    """None if there is none of this name, or if it is not believed."""
    try:
        with folder_held(FOLDER, makes=False) as at:
            return _read(name + SUFFIX, at)
    except (OSError, ValueError):
        return None


def read_records() -> Records:
    """A file that is not believed is named with the reason."""
    records, ignored = [], []
    with contextlib.suppress(FileNotFoundError), folder_held(FOLDER, makes=False) as at:
        for name in sorted(os.listdir(at)):
            try:
                if name.endswith(SUFFIX):
                    records.append(_read(name, at))
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                ignored.append(f"{folder_path(FOLDER) / name}: {error}")
    return Records(records=tuple(records), ignored=tuple(ignored))


def is_running(record: Record) -> bool:
    """Whether the process that owns it lives, or may."""
    return record.boot == boot_id() and may_live(record.runner_pid, record.runner_started, record.pid_namespace)


def _read(name: str, at: int) -> Record:
    """Raises OSError for a file that cannot be opened, ValueError for one that is not believed."""
    text = read_at(at, name)
    try:
        raw: dict[str, Any] = json.loads(text)
        directories = tuple(Directory(**one) for one in raw.pop("directories"))
        record = Record(**{**raw, "cgroup_paths": tuple(raw["cgroup_paths"]), "directories": directories})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError("is not a record of this version") from None
    numbers = (record.runner_pid, record.runner_started, record.pid_namespace, record.server_pid, record.server_started)
    texts = (record.name, record.kind, record.boot, *record.paths, *record.cgroup_paths)
    if not all(isinstance(n, int) for n in numbers) or not all(isinstance(t, str) for t in texts):
        raise ValueError("is not a record of this version")
    if record.name + SUFFIX != name:
        raise ValueError(f"is a record of the name {record.name!r}")
    return record


REMOVALS, REMOVAL_PAUSE_S = 20, 0.05
_PARENT = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_READ_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_recorded(name: str) -> bool:
    """Directories, then the record. False if something is left: the record then stays."""
    with deferred():
        record = read_record(name)
        if record is None:
            return True
        same_boot = record.boot == boot_id()
        left = [directory for directory in record.directories if not _remove(directory, same_boot)]
        if not left:
            forget(name)
        return not left


def remove_folder(name: str) -> bool:
    """Empties one of this user's own folders. Returns whether it is empty."""
    with folder_held(name) as at:
        return _emptied(at)


def _remove(directory: Directory, same_boot: bool) -> bool:
    """Whether the directory is gone. A process that is just ending may still write there, so it tries several times."""
    parent, name = os.path.split(directory.path)
    try:
        at = os.open(parent, _PARENT)
    except (FileNotFoundError, NotADirectoryError):
        return True
    try:
        for _ in range(REMOVALS):
            if _remove_once(directory, name, at, same_boot):
                return True
            time.sleep(REMOVAL_PAUSE_S)
    finally:
        os.close(at)
    return False


def _remove_once(directory: Directory, name: str, parent: int, same_boot: bool) -> bool:
    try:
        at = os.open(name, _READ_FOLDER, dir_fd=parent)
    except FileNotFoundError:
        return True
    except OSError:
        return not _is_it(os.stat(name, dir_fd=parent, follow_symlinks=False), directory, same_boot)
    try:
        if directory.inode and not _is_it(os.fstat(at), directory, same_boot):
            return True
        if directory.inode:
            _emptied(at)
        with contextlib.suppress(OSError):  # of a directory that the record does not know yet, only if it is empty
            os.rmdir(name, dir_fd=parent)
            return True
        return not directory.inode
    finally:
        os.close(at)


def _is_it(status: os.stat_result, directory: Directory, same_boot: bool) -> bool:
    same = stat.S_ISDIR(status.st_mode) and status.st_ino == directory.inode
    return same and (not same_boot or status.st_dev == directory.device)


def _emptied(at: int) -> bool:
    for name in os.listdir(at):
        with contextlib.suppress(OSError):
            if stat.S_ISDIR(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
                shutil.rmtree(name, ignore_errors=True, dir_fd=at)
            else:
                os.unlink(name, dir_fd=at)
    return not os.listdir(at)


SCRATCH = "scratch"


@contextmanager
def scratch(what: str) -> Iterator[Path]:
    """A new directory for one block, that only this user may enter; `scale clean` removes it after a kill. Raises
    PreflightError."""
    name = f"{what}-{secrets.token_hex(8)}"
    path = folder_path(SCRATCH) / name
    try:
        with deferred():
            save(record_of(name, (str(path),), kind=SCRATCH))
            with folder_held(SCRATCH) as at, refusals_named():
                os.mkdir(name, 0o700, dir_fd=at)
            save(record_of(name, (str(path),), kind=SCRATCH))
        yield path
    finally:
        remove_recorded(name)
