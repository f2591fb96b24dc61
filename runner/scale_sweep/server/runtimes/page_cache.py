"""How much of some files is in the page cache; reads them into it; takes them out of it, one by one."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
from collections.abc import Iterator, Sequence

from scale_sweep.base.interrupts import current

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
    """The share of the pages of all files below these folders that is in memory; None: no file, or none that this user
    may look at."""
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
    """Reads every file below these folders once, so that what fits is in memory. Returns bytes. Raises Stopped."""
    total = 0
    for fd, _ in _files(folders):
        while got := len(os.read(fd, _CHUNK_BYTES)):
            current().look()
            total += got
    return total


def drop_files(folders: Sequence[str]) -> None:
    """Writes every file below these folders to its disk and removes its pages from memory. No server may have them
    open. Raises Stopped."""
    for fd, _ in _files(folders):
        current().look()
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def _files(folders: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Each file that is not empty: opened for reading, and its bytes. What ends meanwhile is left out."""
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
