"""Files of this user alone, made new, and read only if no other user can have made or changed them."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from scale_sweep.machine.state.trusted import named

BYTES_MAX = 2**20
PARTIAL = ".partial"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_own(path: Path, text: str) -> None:
    """Writes a new file that only this user may read. Raises OSError if one is there."""
    with os.fdopen(os.open(path, _NEW, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def read_own(path: Path, owner: int | None = None) -> str:
    """The text of a regular file that the owner, or else this user, made. Raises OSError for any other."""
    by = os.geteuid() if owner is None else owner
    with os.fdopen(os.open(path, _READ), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != by or status.st_mode & 0o022:
            raise OSError(errno.EPERM, "not a file of this user alone", str(path))
        return file.read(BYTES_MAX).decode("utf-8", "replace")


def replace_at(at: int, name: str, text: str) -> None:
    """Replaces a file in a directory. It is on the disk before it has its name: a power cut leaves the old one or this.
    Raises OSError."""
    unlink_at(at, name + PARTIAL)
    with os.fdopen(os.open(name + PARTIAL, _NEW, 0o600, dir_fd=at), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(name + PARTIAL, name, src_dir_fd=at, dst_dir_fd=at)


def unlink_at(at: int, name: str) -> None:
    """Removes a file of a directory, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=at)


def read_at(at: int, name: str) -> bytes:
    """The content of a file of a directory. Raises OSError if it cannot be opened, ValueError with the reason if it is
    not believed."""
    with os.fdopen(os.open(name, _READ, dir_fd=at), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("is not a regular file")
        if status.st_uid != os.geteuid():
            raise ValueError(f"belongs to {named(status.st_uid)}")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ValueError(f"can be written by other users (mode {stat.S_IMODE(status.st_mode):04o})")
        if status.st_nlink != 1:
            raise ValueError(f"has {status.st_nlink} names")
        if status.st_size > BYTES_MAX:
            raise ValueError(f"has {status.st_size} bytes")
        return file.read(BYTES_MAX)
