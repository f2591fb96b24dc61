"""Directories that no other user can have made, changed or replaced, and files of this user alone.

It opens each directory of the path from the root down by its descriptor, so that nothing can be exchanged between the
check and the use. Refuses a directory, and a link on the way, of another user than root and this one, and a directory
in which another user may remove names.
"""

from __future__ import annotations

import contextlib
import errno
import grp
import os
import pwd
import stat
from pathlib import Path

from scale_sweep.base.errors import PreflightError

LINKS_MAX = 40
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_trusted(path: Path, *, makes: bool = False, of_sudo: bool = False) -> int:
    """A descriptor of a directory, for the caller to close. makes: what is missing. of_sudo: root trusts directories of
    the user who called sudo. Raises PreflightError for what is not trusted, OSError."""
    todo, links = list(reversed(path.absolute().parts[1:])), 0
    at, seen, also = os.open("/", _LOOK), Path("/"), _sudo_user() if of_sudo else None
    try:
        _refuse(os.fstat(at), seen, also)
        while todo:
            name = todo.pop()
            there = _looked_up(name, at, makes)
            try:
                if target := _link(there, seen / name):
                    links += 1
                    if links > LINKS_MAX:
                        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(seen / name))
                    todo += reversed([part for part in target.parts if part != "/"])
                    if target.is_absolute():
                        _replace(at, os.open("/", _LOOK))
                        seen = Path("/")
                    continue
                seen /= name
                _refuse(os.fstat(there), seen, also)
                _replace(at, there)
            finally:
                os.close(there)
        return os.open(".", _READ, dir_fd=at)
    finally:
        os.close(at)


def distrust(path: Path) -> str:
    """Why a directory is not trusted, or cannot be opened; "" if it is trusted."""
    try:
        os.close(open_trusted(path))
    except PreflightError as error:
        return error.message
    except OSError as error:
        return f"{error.filename or path}: {error.strerror}"
    return ""


def _looked_up(name: str, at: int, makes: bool) -> int:
    try:
        return os.open(name, _LOOK, dir_fd=at)
    except FileNotFoundError:
        if not makes:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=at)
    return os.open(name, _LOOK, dir_fd=at)


def _replace(at: int, there: int) -> None:
    os.dup2(there, at, inheritable=False)


def _sudo_user() -> int | None:
    """Who became root by sudo; None for any other process."""
    uid = os.environ.get("SUDO_UID", "")
    return int(uid) if os.geteuid() == 0 and uid.isdecimal() else None


def _refuse(status: os.stat_result, path: Path, also: int | None) -> None:
    """Raises PreflightError for a directory of another user, or where others may replace names."""
    if status.st_uid not in (0, os.geteuid(), also):
        raise PreflightError(f"{path} belongs to {named(status.st_uid)}, who can replace its contents", remedy=_OTHER)
    if others_write(status) and not status.st_mode & stat.S_ISVTX:
        raise PreflightError(
            f"{path} of {named(status.st_uid)} can be changed by other users (mode {stat.S_IMODE(status.st_mode):04o})",
            remedy=_OTHER,
        )


_OTHER = "another directory, which only this user and root may change"


def others_write(status: os.stat_result) -> bool:
    """Whether another user may create names there. A group that has only its owner is no other user."""
    return bool(status.st_mode & stat.S_IWOTH or status.st_mode & stat.S_IWGRP and not _is_own_group(status))


def _is_own_group(status: os.stat_result) -> bool:
    with contextlib.suppress(KeyError):
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
        return owner.pw_name == group.gr_name and not set(group.gr_mem) - {owner.pw_name}
    return False


def named(uid: int) -> str:
    """A name if it has one, and the number."""
    with contextlib.suppress(KeyError):
        return f"{pwd.getpwuid(uid).pw_name} ({uid})"
    return f"user {uid}"


def _link(there: int, path: Path) -> Path | None:
    """The target of a link; None for a directory. Raises PreflightError for another user's, OSError for a file."""
    status = os.fstat(there)
    if stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISLNK(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    if status.st_uid not in (0, os.geteuid()):
        raise PreflightError(f"{path} is a link of {named(status.st_uid)}", remedy=_OTHER)
    return Path(os.readlink("", dir_fd=there))


BYTES_MAX = 2**20
PARTIAL = ".partial"
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_own(path: Path, text: str) -> None:
    """A new file that only this user may read. Raises OSError if one is there."""
    with os.fdopen(os.open(path, _NEW_FILE, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def read_own(path: Path, owner: int | None = None) -> str:
    """The text of a regular file that the owner, or else this user, made. Raises OSError for any other."""
    by = os.geteuid() if owner is None else owner
    with os.fdopen(os.open(path, _READ_FILE), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != by or status.st_mode & 0o022:
            raise OSError(errno.EPERM, "not a file of this user alone", str(path))
        return file.read(BYTES_MAX).decode("utf-8", "replace")


def read_trusted(path: Path) -> bytes:
    """A regular file that no other user can change, by one descriptor. Raises PreflightError for another, OSError."""
    at = open_trusted(path.parent, of_sudo=True)
    try:
        there = os.open(path.name, _READ_FILE, dir_fd=at)
    finally:
        os.close(at)
    with os.fdopen(there, "rb") as file:
        status = os.fstat(there)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        if status.st_uid not in (0, os.geteuid(), _sudo_user()) or others_write(status):
            mode = f"mode {stat.S_IMODE(status.st_mode):04o}"
            raise PreflightError(
                f"{path} of {named(status.st_uid)} can be changed by other users ({mode})",
                remedy="a file that only this user and root may change",
            )
        return file.read(BYTES_MAX)


def replace_at(at: int, name: str, text: str) -> None:
    """Replaces a file in a directory. A power cut leaves the old one or this. Raises OSError."""
    unlink_at(at, name + PARTIAL)
    with os.fdopen(os.open(name + PARTIAL, _NEW_FILE, 0o600, dir_fd=at), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(name + PARTIAL, name, src_dir_fd=at, dst_dir_fd=at)


def unlink_at(at: int, name: str) -> None:
    """If it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=at)


def read_at(at: int, name: str) -> bytes:
    """The content of a file of a directory. Raises OSError, and ValueError with the reason if it is not believed."""
    with os.fdopen(os.open(name, _READ_FILE, dir_fd=at), "rb") as file:
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
