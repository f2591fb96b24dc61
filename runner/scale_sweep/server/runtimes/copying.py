"""Copies the directory of a server that is stopped: by reflink where the file system can, else byte by byte."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import current

REFLINK, COPY = "reflink", "copy"
_FICLONE = 0x40049409
_CHUNK_BYTES = 16 * 2**20
_CANNOT = (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.EXDEV, errno.ENOSYS, errno.EPERM)
_PROBE = ".scale-reflink"


def can_reflink(folder: Path) -> bool:
    """Whether the file system of the folder shares blocks between files. Tried on two small files there."""
    first, second = (folder / f"{_PROBE}-{i}" for i in range(2))
    try:
        first.write_bytes(bytes(4096))
        with first.open("rb") as source, second.open("wb") as copy:
            return _cloned(source.fileno(), copy.fileno())
    except OSError:
        return False
    finally:
        for path in (first, second):
            with contextlib.suppress(OSError):
                path.unlink()


def copy_tree(source: Path, target: Path) -> str:
    """Everything in `source` into `target`, which is there and empty; modes, owners and times too. Returns the way,
    "reflink" or "copy". Raises ProvisionError, Stopped."""
    way = REFLINK if can_reflink(target) else COPY
    try:
        _copy_folder(source, target, way)
    except OSError as error:
        what = error.filename or source
        raise ProvisionError(f"the data directory {source} cannot be copied: {what}: {error.strerror}") from None
    return way


def _copy_folder(source: Path, target: Path, way: str) -> None:
    with os.scandir(source) as entries:
        for entry in entries:
            current().look()
            path, seen = target / entry.name, entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(seen.st_mode):
                path.mkdir()
                _copy_folder(Path(entry.path), path, way)
            elif stat.S_ISLNK(seen.st_mode):
                path.symlink_to(os.readlink(entry.path))
            elif stat.S_ISREG(seen.st_mode):
                _copy_file(entry.path, path, seen.st_size, way)
            else:
                continue
            _with_owner(path, seen)
            shutil.copystat(entry.path, path, follow_symlinks=False)


def _with_owner(path: Path, seen: os.stat_result) -> None:
    if os.geteuid() == 0:
        os.chown(path, seen.st_uid, seen.st_gid, follow_symlinks=False)


def _copy_file(source: str, target: Path, size: int, way: str) -> None:
    with open(source, "rb", buffering=0) as old, open(target, "xb", buffering=0) as new:
        if way == REFLINK and _cloned(old.fileno(), new.fileno()):
            return
        os.truncate(new.fileno(), size)
        at = 0
        while (at := _next_data(old.fileno(), at)) < size:  # holes stay holes
            end = min(size, os.lseek(old.fileno(), at, os.SEEK_HOLE))
            os.lseek(new.fileno(), at, os.SEEK_SET)
            while at < end:
                current().look()
                sent = os.sendfile(new.fileno(), old.fileno(), at, min(_CHUNK_BYTES, end - at))
                if not sent:
                    raise OSError(errno.EIO, "it became shorter meanwhile", source)
                at += sent


def _next_data(fd: int, at: int) -> int:
    """Where bytes begin that are not a hole; past the end where there are none."""
    try:
        return os.lseek(fd, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return 2**63 - 1


def _cloned(source: int, target: int) -> bool:
    """Whether the file could share its blocks. Raises OSError for any other reason, as a full disk."""
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError as error:
        if error.errno in _CANNOT:
            return False
        raise
    return True
