"""Opens directories that no other user can have made, changed or replaced."""

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
    """A descriptor of a directory. The caller closes it. makes: what is missing on the path. of_sudo: root trusts
    directories, but no links, of the user who called sudo.

    Raises PreflightError with the path and the owner of what is not trusted, OSError if the directory cannot be opened.
    """
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
    """The user who became root by sudo; None for any other process."""
    uid = os.environ.get("SUDO_UID", "")
    return int(uid) if os.geteuid() == 0 and uid.isdecimal() else None


def _refuse(status: os.stat_result, path: Path, also: int | None) -> None:
    """Raises PreflightError for a directory that another user owns than root, this one and the one who is trusted also,
    or where others may replace names."""
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
    """A user for people: the name if it has one, and the number."""
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
