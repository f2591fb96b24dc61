"""Data directories of a run, on a disk or in memory, removed with it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import deferred
from scale_sweep.base.spawning import run_within
from scale_sweep.machine.host.block_devices import RamDirectory, mount_source
from scale_sweep.machine.state.places import ready
from scale_sweep.machine.state.records import Directory, directory_at, record_of, remove_recorded, save


@contextlib.contextmanager
def made_directory(folder: Path) -> Iterator[None]:
    """Removes at the end what it created, if it is empty. Raises ProvisionError."""
    made = [path for path in (folder.absolute(), *folder.absolute().parents) if not path.exists()]  # the deepest first
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ProvisionError(f"no data directory {folder}: {error.strerror}", remedy="--data-dir DIR") from None
        yield
    finally:
        with deferred(), contextlib.suppress(OSError):  # it has somebody else's file, or is gone
            for path in made:
                path.rmdir()


_MOUNT_S = 10.0
_TRIES = 5
_PAUSE_S = 0.2


@contextlib.contextmanager
def mounted(directory: RamDirectory) -> Iterator[None]:
    """Raises ProvisionError, and PreflightError if another user can change its place."""
    path = directory.path
    try:
        with deferred():
            _make(directory)
            if directory.is_mounted:
                _mount(path, directory.size_bytes)
        yield
    finally:
        with deferred():
            if directory.is_mounted:
                unmount(path)
            remove_recorded(path.name)


def _make(directory: RamDirectory) -> None:
    path = directory.path
    record = replace(record_of(path.name, (), kind="memory"), is_mounted=directory.is_mounted)
    try:
        save(replace(record, directories=(Directory(path=str(path)),)))
        make_below_own(path, 0o755 if directory.is_mounted else 0o711)
    except OSError as error:
        reason = f"no data directory in memory, {path}: {error.strerror}"
        raise ProvisionError(reason, remedy="--data-dir DIR") from None
    save(replace(record, directories=(directory_at(str(path)),)))


def make_below_own(path: Path, mode: int) -> None:
    """Makes a directory in one that no other user can change. Raises OSError, PreflightError."""
    at = ready(path.parent)
    try:
        os.mkdir(path.name, mode, dir_fd=at)
    finally:
        os.close(at)


def _mount(path: Path, size_bytes: int) -> None:
    options = f"size={size_bytes},mode=0755,nosuid,nodev"
    done = tried(_MOUNT_S, "mount", "-t", "tmpfs", "-o", options, mount_source(), str(path))
    if done.returncode:
        raise ProvisionError(
            f"no tmpfs at {path}: {done.stderr.strip()}", remedy="--data-dir DIR, a directory on a disk"
        )


def unmount(path: Path) -> None:
    """A busy mount is detached."""
    for _ in range(_TRIES):
        if not path.is_mount():
            return
        if tried(_MOUNT_S, "umount", str(path)).returncode:
            time.sleep(_PAUSE_S)
    tried(_MOUNT_S, "umount", "--lazy", str(path))


def tried(limit_s: float, *command: str) -> subprocess.CompletedProcess[str]:
    """A command that is missing or too slow ends with code 1."""
    try:
        return run_within(limit_s, command)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))
