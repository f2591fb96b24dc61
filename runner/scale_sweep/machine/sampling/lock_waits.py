"""How many of a server's threads run, and how many sleep on a lock that another thread holds."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.machine.sampling.proc_text import proc_text
from scale_sweep.machine.sampling.threads import pool_name

LOCKED = "mutex: "  # begins the name of what threads of a pool wait for
RUNS = ""
_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98}  # the number of the system call, from each asm/unistd.h
_PLAIN = ~(128 | 256)  # without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME (linux/futex.h)
_WAIT, _WAIT_BITSET = 0, 9
_PRIORITY_LOCKS = (6, 13)  # FUTEX_LOCK_PI, FUTEX_LOCK_PI2
_HELD_WAITED, _HELD_TO_READ_OR_WRITE = 2, 3  # the second: glibc's read-write lock


def lock_waits(pids: Sequence[int], proc: Path = Path("/proc"), machine: str = "") -> Mapping[str, int]:
    """Threads that run or could run, as RUNS; those that wait for a lock, as LOCKED and their pool's name. machine: as
    in uname; "": this one."""
    number = _FUTEX.get(machine or os.uname().machine)
    counts: Counter[str] = Counter()
    for folder in (f"{proc}/{pid}/task" for pid in pids):
        for task in _names(folder):
            call = (proc_text(f"{folder}/{task}/syscall") or "").split()
            if call[:1] == ["running"]:
                counts[RUNS] += 1
            elif _is_held_lock(call, number):
                counts[LOCKED + pool_name((proc_text(f"{folder}/{task}/comm") or "").strip())] += 1
    return counts


def _is_held_lock(call: Sequence[str], futex: int | None) -> bool:
    if len(call) < 4 or futex is None or call[0] != str(futex):
        return False
    operation, value = int(call[2], 16) & 0xFFFFFFFF & _PLAIN, int(call[3], 16) & 0xFFFFFFFF
    if operation == _WAIT_BITSET:
        return value in (_HELD_WAITED, _HELD_TO_READ_OR_WRITE)
    return operation in _PRIORITY_LOCKS or (operation == _WAIT and value == _HELD_WAITED)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
