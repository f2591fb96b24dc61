"""Files of stopped servers: copies, by reflink where possible, and their share of the page cache."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import current

REFLINK, COPY = "reflink", "copy"
_FICLONE = 0x40049409
_SENT_BYTES = 16 * 2**20
_CANNOT = (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.EXDEV, errno.ENOSYS, errno.EPERM)
_PROBE = ".scale-reflink"


def can_reflink(folder: Path) -> bool:
    """Tried on two small files."""
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
    """target: empty. Returns REFLINK or COPY. Raises ProvisionError, Stopped."""
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
            if os.geteuid() == 0:
                os.chown(path, seen.st_uid, seen.st_gid, follow_symlinks=False)
            shutil.copystat(entry.path, path, follow_symlinks=False)


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
                sent = os.sendfile(new.fileno(), old.fileno(), at, min(_SENT_BYTES, end - at))
                if not sent:
                    raise OSError(errno.EIO, "it became shorter meanwhile", source)
                at += sent


def _next_data(fd: int, at: int) -> int:
    """Past the end where only a hole follows."""
    try:
        return os.lseek(fd, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return 2**63 - 1


def _cloned(source: int, target: int) -> bool:
    """False if the file system cannot. Raises OSError for other reasons, as a full disk."""
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError as error:
        if error.errno in _CANNOT:
            return False
        raise
    return True


_PAGE = mmap.PAGESIZE
_SPAN_BYTES = 2**30  # of a file, looked at in one call
_CHUNK_BYTES = 2**20
_FAILED = ctypes.c_void_p(-1).value
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)


def resident_percent(folders: Sequence[str]) -> float | None:
    """None: no file, or none that this user may look at."""
    inside = pages = 0
    for fd, size in _files(folders):
        for start in range(0, size, _SPAN_BYTES):
            length = min(_SPAN_BYTES, size - start)
            resident = _resident(fd, start, length)
            if resident is None:
                return None
            inside, pages = inside + resident, pages + -(-length // _PAGE)
    return 100 * inside / pages if pages else None


def read_files(folders: Sequence[str]) -> int:
    """Returns bytes. Raises Stopped."""
    total = 0
    for fd, _ in _files(folders):
        while got := len(os.read(fd, _CHUNK_BYTES)):
            current().look()
            total += got
    return total


def drop_files(folders: Sequence[str]) -> None:
    """Synced, and out of the page cache. Raises Stopped."""
    for fd, _ in _files(folders):
        current().look()
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def _files(folders: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Files that are not empty, open for reading, with their bytes."""
    for folder in filter(None, folders):
        for where, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(where, name)
                with contextlib.suppress(OSError):
                    if os.path.islink(path) or not os.path.isfile(path):
                        continue
                    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                    try:
                        if size := os.fstat(fd).st_size:
                            yield fd, size
                    finally:
                        os.close(fd)


def _resident(fd: int, start: int, length: int) -> int | None:
    at = _libc.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, fd, start)
    if at == _FAILED:
        return None
    try:
        seen = ctypes.create_string_buffer(-(-length // _PAGE))
        if _libc.mincore(at, length, seen):
            return None
        return sum(byte & 1 for byte in seen.raw)
    finally:
        _libc.munmap(at, length)
