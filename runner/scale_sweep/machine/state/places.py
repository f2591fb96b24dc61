"""The folders of this user outside of `results/`, each made and checked before every use."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from scale_sweep.base.errors import PreflightError
from scale_sweep.machine.state.trusted import named, open_trusted, others_write

VARIABLE = "SCALE_STATE_DIR"
_CLOSED = ("records", "runs", "scratch", "clients", "limits")
_PASSED = ("programs", "data", "ram", "dashboards")  # servers with another user enter them; they cannot be listed
_OWN, _PASS = 0o700, 0o711
_READ = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def place() -> Path:
    """The directory of all folders of this user."""
    if named_place := os.environ.get(VARIABLE, ""):
        return Path(named_place).absolute()
    return Path("/var/lib/scale") if os.geteuid() == 0 else Path(f"/var/tmp/scale-{os.geteuid()}")


def folder_path(name: str) -> Path:
    """Where a folder is or will be. Makes and checks nothing."""
    return place() / name


def folder(name: str) -> Path:
    """Made if it is missing, and checked. Raises PreflightError."""
    os.close(open_folder(name))
    return folder_path(name)


def open_folder(name: str, *, makes: bool = True) -> int:
    """A descriptor of a checked folder, for the caller to close. Raises PreflightError; FileNotFoundError for one that
    is missing and not made."""
    with refusals_named() if makes else contextlib.nullcontext():
        os.close(_opened(place(), makes=makes))
        return _opened(folder_path(name), makes=makes)


@contextlib.contextmanager
def refusals_named() -> Iterator[None]:
    """An OSError in the block, which is about these folders alone, becomes a PreflightError."""
    try:
        yield
    except OSError as error:
        raise _unusable(f"{error.filename or place()}: {error.strerror}") from None


def _unusable(reason: str) -> PreflightError:
    return PreflightError(
        f"the state directory {place()} cannot be written ({reason})",
        remedy=f"set {VARIABLE} to a directory that this user can make",
    )


@contextlib.contextmanager
def folder_held(name: str, *, makes: bool = True) -> Iterator[int]:
    """`open_folder` for a block."""
    at = open_folder(name, makes=makes)
    try:
        yield at
    finally:
        os.close(at)


def check(path: Path) -> None:
    """Looks at the folders and the directory for data, as far as they exist. Raises PreflightError."""
    there = next(p for p in (place(), *place().parents) if p.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise _unusable(f"{there} is not writable")
    for name in ("", *_CLOSED, *_PASSED):
        with contextlib.suppress(OSError):
            os.close(_opened(place() / name, makes=False))
    check_nearest(path)


def check_nearest(path: Path, *, of_sudo: bool = False) -> None:
    """Raises PreflightError if another user can change a directory, or the nearest existing one above it. of_sudo: as
    `open_trusted`."""
    for there in (path.absolute(), *path.absolute().parents):
        with contextlib.suppress(OSError):
            os.close(open_trusted(there, of_sudo=of_sudo))
            return


def ready(path: Path) -> int:
    """A descriptor of a directory for data. Raises PreflightError if another user can change it, OSError if it cannot
    be opened."""
    for name in _PASSED:
        if path.absolute() == folder_path(name):
            return open_folder(name)
    return open_trusted(path)


def make_ready(path: Path) -> None:
    """With its parents. Raises PreflightError, OSError."""
    try:
        os.close(ready(path))
    except FileNotFoundError:
        os.close(open_trusted(path, makes=True))


def own_directory(path: Path, *, makes: bool, in_shared: bool = False) -> bool:
    """Whether a directory of the user is there; made if `makes`. in_shared: also where everybody can create names.
    Raises PreflightError for one that is not this user's alone, OSError."""
    try:
        os.close(_opened(path.absolute(), makes=makes, in_shared=in_shared))
    except FileNotFoundError:
        if makes:
            raise
        return False
    return True


def _opened(path: Path, *, makes: bool = True, in_shared: bool = False) -> int:
    parent, is_new = _parent(path, makes, in_shared), False
    try:
        with contextlib.suppress(FileExistsError):
            if makes:
                os.mkdir(path.name, _OWN, dir_fd=parent)
                is_new = True
        _refuse_link(path, parent)
        made = os.open(path.name, _READ, dir_fd=parent)
    finally:
        os.close(parent)
    try:
        _refuse(os.fstat(made), path)
        if is_new and os.geteuid() == 0 and path.name not in _CLOSED:
            os.fchmod(made, _PASS)
    except BaseException:
        os.close(made)
        raise
    return made


def _parent(path: Path, makes: bool, in_shared: bool) -> int:
    """The directory of a folder. Root's may not be one in which everybody can create names, unless `in_shared`."""
    try:
        parent = open_trusted(path.parent)
    except FileNotFoundError:
        if not makes:
            raise
        parent = _opened(path.parent)
    status = os.fstat(parent)
    if os.geteuid() == 0 and others_write(status) and not in_shared:
        os.close(parent)
        raise PreflightError(
            f"{path.parent} of {named(status.st_uid)} is no place for root's files: other users can create names in it "
            f"(mode {stat.S_IMODE(status.st_mode):04o})",
            remedy=f"set {VARIABLE} to a directory below one that only root may change",
        )
    return parent


def _refuse_link(path: Path, parent: int) -> None:
    status = os.stat(path.name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode):
        what = "a link" if stat.S_ISLNK(status.st_mode) else "a file"
        raise _foreign(f"{path} is {what} of {named(status.st_uid)}, not a directory", path)


def _refuse(status: os.stat_result, path: Path) -> None:
    if status.st_uid != os.geteuid():
        raise _foreign(f"{path} belongs to {named(status.st_uid)}, not to {named(os.geteuid())}", path)
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        mode = f"{stat.S_IMODE(status.st_mode):04o}"
        raise _foreign(f"{path} of {named(status.st_uid)} can be changed by other users (mode {mode})", path)


def _foreign(sentence: str, path: Path) -> PreflightError:
    return PreflightError(sentence, remedy=f"see what is in {path} and remove it, or set {VARIABLE} to another place")
