"""Records of what a run has made and not removed yet, so that `scale clean` finds it after a power cut."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scale_sweep.machine.host.alive import boot_id, may_live, pid_namespace, started_ticks
from scale_sweep.machine.state.files import PARTIAL, read_at, replace_at, unlink_at
from scale_sweep.machine.state.places import folder_held, folder_path, refusals_named

SERVER_VARIABLE = "SCALE_SERVER"  # in the environment of each server process: the name of its record
FOLDER = "records"
SUFFIX = ".json"


@dataclass(frozen=True, kw_only=True)
class Directory:
    """A directory that a run made."""

    path: str
    # device, inode: of the directory itself, 0 until it is made; no other directory that has its path meanwhile is
    # taken for it
    device: int = 0
    inode: int = 0


@dataclass(frozen=True, kw_only=True)
class Record:
    """The things that one part of a run leaves. runner_*: the process that owns it; while that lives, nothing is left
    over."""

    name: str
    kind: str = "server"
    boot: str  # of the machine, because start times count from it
    runner_pid: int
    runner_started: int
    # in which the numbers of processes count; 0 in records of older versions. server_*: the process of the server
    pid_namespace: int = 0
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
    """records: those that are believed. ignored: for each other file its path and why it is not believed."""

    records: tuple[Record, ...]
    ignored: tuple[str, ...] = ()


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
    """Replaces the record's file. Raises PreflightError for a folder that is not trusted or cannot be written."""
    with refusals_named(), folder_held(FOLDER) as at:
        replace_at(at, record.name + SUFFIX, json.dumps(asdict(record)))


def forget(name: str) -> None:
    """Deletes the record after everything was removed."""
    with contextlib.suppress(FileNotFoundError), folder_held(FOLDER, makes=False) as at:
        for suffix in (SUFFIX + PARTIAL, SUFFIX):
            unlink_at(at, name + suffix)


def read_record(name: str) -> Record | None:
    """The record of this name; None if there is none, or if it is not believed."""
    try:
        with folder_held(FOLDER, makes=False) as at:
            return _read(name + SUFFIX, at)
    except (OSError, ValueError):
        return None


def read_records() -> Records:
    """All records of this user. A file that is not believed is named with the reason."""
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
    record = _parsed(read_at(at, name))
    if record.name + SUFFIX != name:
        raise ValueError(f"is a record of the name {record.name!r}")
    return record


def _parsed(text: bytes) -> Record:
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
    return record
