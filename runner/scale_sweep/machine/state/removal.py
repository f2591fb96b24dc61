"""Removes the directories that a record names, and nothing else."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Iterable

from scale_sweep.base.interrupts import deferred
from scale_sweep.machine.host.alive import boot_id
from scale_sweep.machine.state.places import open_folder
from scale_sweep.machine.state.records import Directory, Record, forget, read_record

REMOVALS, REMOVAL_PAUSE_S = 20, 0.05
_PARENT = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_recorded(name: str) -> bool:
    """Removes the directories of a record, then the record. Returns whether all are gone: the record stays while one is
    left, so that the next `scale clean` finds it. True if there is no such record."""
    with deferred():
        record = read_record(name)
        if record is None:
            return True
        is_gone = _remove_directories(record)
        if is_gone:
            forget(name)
        return is_gone


def _remove_directories(record: Record) -> bool:
    same_boot = record.boot == boot_id()
    return _all(_remove(directory, same_boot) for directory in record.directories)


def remove_folder(name: str) -> bool:
    """Empties one of this user's own folders. Returns whether it is empty."""
    at = open_folder(name)
    try:
        return _emptied(at)
    finally:
        os.close(at)


def _all(results: Iterable[bool]) -> bool:
    return not [result for result in results if not result]


def _remove(directory: Directory, same_boot: bool) -> bool:
    """Whether the directory is gone. A process that is just ending may still create a file there, so what remains is
    removed again, up to REMOVALS times."""
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
        at = os.open(name, _READ, dir_fd=parent)
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
