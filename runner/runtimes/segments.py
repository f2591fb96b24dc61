"""System V shared memory of a server that was killed: the kernel keeps it until somebody removes it.

The kernel also keeps who made a segment. Refuses one that somebody uses, and one that is older than the server.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import psutil

_TABLE = Path("/proc/sysvipc/shm")
_IPC_RMID = 0
_CLOCK_S = 2.0  # the table has whole seconds, and the boot time is rounded


def remove_segments(maker_pid: int, maker_started: int) -> tuple[int, ...]:
    """Removes what the ended process made; maker_started: in clock ticks since boot. Returns the segments' numbers."""
    if not maker_pid:
        return ()
    began_s = psutil.boot_time() + maker_started / os.sysconf("SC_CLK_TCK") - _CLOCK_S
    found = tuple(
        int(row["shmid"])
        for row in _rows()
        if int(row["cpid"]) == maker_pid and row["nattch"] == "0" and int(row["ctime"]) >= began_s
    )
    libc = ctypes.CDLL(None, use_errno=True)
    return tuple(number for number in found if libc.shmctl(number, _IPC_RMID, None) == 0)


def _rows() -> list[dict[str, str]]:
    try:
        head, *lines = _TABLE.read_text().splitlines()
    except (OSError, ValueError):
        return []
    return [dict(zip(head.split(), line.split(), strict=False)) for line in lines]
