"""Removes the shared memory of killed processes, which the kernel keeps until somebody removes it."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

_TABLE = Path("/proc/sysvipc/shm")
_FILES = "/dev/shm/"
_IPC_RMID = 0
_CLOCK_S = 2.0  # the table has whole seconds, and the boot time is rounded


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Shared memory that processes had mapped: numbers of segments, paths of files."""

    segments: frozenset[int] = frozenset()
    files: frozenset[str] = frozenset()

    def __or__(self, other: Shared) -> Shared:
        return Shared(segments=self.segments | other.segments, files=self.files | other.files)


def shared_by(pids: Iterable[int]) -> Shared:
    """Shared memory that the processes have mapped now. Processes with their own /dev/shm or table have none here."""
    segments, files = set(), set()
    for pid in pids:
        with contextlib.suppress(OSError):
            if any(os.readlink(f"/proc/{pid}/ns/{ns}") != os.readlink(f"/proc/self/ns/{ns}") for ns in ("ipc", "mnt")):
                continue
            for inode, path in _mapped(pid):
                if path.startswith("/SYSV"):
                    segments.add(inode)
                elif path.startswith(_FILES):
                    files.add(path)
    return Shared(segments=frozenset(segments), files=frozenset(files))


def remove_shared(shared: Shared, uid: int, maker_started: int) -> None:
    """Removes what nobody has mapped any more, of this user, made since maker_started (clock ticks since boot)."""
    began_s = _began_s(maker_started)
    _remove(
        int(row["shmid"])
        for row in _rows()
        if int(row["shmid"]) in shared.segments and int(row["cuid"]) == uid and _is_left(row, began_s)
    )
    if not shared.files:
        return
    used = shared_by(psutil.pids()).files
    for path in shared.files - used:
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            if status.st_uid == uid and status.st_ctime >= began_s:
                os.unlink(path)


def remove_segments(maker_pid: int, maker_started: int) -> tuple[int, ...]:
    """Removes what the ended process made. maker_started: in clock ticks since boot. Returns the segments' numbers."""
    if not maker_pid:
        return ()
    began_s = _began_s(maker_started)
    return _remove(int(r["shmid"]) for r in _rows() if int(r["cpid"]) == maker_pid and _is_left(r, began_s))


def has_segments(maker_pid: int, maker_started: int) -> bool:
    if not maker_pid:
        return False
    began_s = _began_s(maker_started)
    return any(int(r["cpid"]) == maker_pid and int(r["ctime"]) >= began_s for r in _rows())


def _began_s(started: int) -> float:
    return float(psutil.boot_time()) + started / os.sysconf("SC_CLK_TCK") - _CLOCK_S


def _is_left(row: dict[str, str], began_s: float) -> bool:
    return row["nattch"] == "0" and int(row["ctime"]) >= began_s


def _remove(numbers: Iterable[int]) -> tuple[int, ...]:
    libc = ctypes.CDLL(None, use_errno=True)
    return tuple(number for number in numbers if libc.shmctl(number, _IPC_RMID, None) == 0)


def _mapped(pid: int) -> Iterator[tuple[int, str]]:
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6:
            yield int(fields[4]), fields[5]


def _rows() -> list[dict[str, str]]:
    try:
        head, *lines = _TABLE.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
    return [dict(zip(head.split(), line.split(), strict=False)) for line in lines]
