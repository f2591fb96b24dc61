"""Counts what the server's connections or threads wait for, and the threads that wait for a lock.

A lock of the C library, of Go's runtime or of Rust's standard library is a futex whose value says "held, and somebody
waits".
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from scale_sweep.machine.sampling.processes import names, pool_name, proc_text

ASK_PERIOD_S = 0.2
SPARING_S = 0.5  # for a foreign load, whose threads are asked as well
COST_PARTS = 100  # of the time until the next question: CPU time of the last one
SPARING_PARTS = 1000
ASK_END_S = 1.0  # for the current question; after that its thread is abandoned


class WaitReader:
    """Counts from `start` to `stop`. ask: the number of connections that wait now, by what for."""

    def __init__(self, ask: Callable[[], Mapping[str, int]] | None, *, spares: bool = False) -> None:
        """spares: asks less often, and costs a tenth."""
        self._ask = ask
        self._period_s, self._parts = (SPARING_S, SPARING_PARTS) if spares else (ASK_PERIOD_S, COST_PARTS)
        self._stop = threading.Event()
        self._totals: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._run, name="waits", daemon=True)

    def start(self) -> None:
        if self._ask is not None:
            self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._ask is not None:
            self._thread.join(ASK_END_S)

    def totals(self) -> Mapping[str, float]:
        return {name: float(count) for name, count in self._totals.copy().items()}

    def _run(self) -> None:
        rest_s = self._period_s
        while self._ask is not None and not self._stop.wait(rest_s):
            began_s = time.thread_time()
            try:
                self._totals.update(self._ask())
            except Exception:  # the database's client may raise anything; the counts then end here
                return
            rest_s = max(self._period_s, self._parts * (time.thread_time() - began_s))


LOCKED = "mutex: "  # begins the name of what threads of a pool wait for
RUNS = ""
_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98}  # the number of the system call, from each asm/unistd.h
_PLAIN = ~(128 | 256)  # without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME (linux/futex.h)
_WAIT, _WAIT_BITSET = 0, 9
_PRIORITY_LOCKS = (6, 13)  # FUTEX_LOCK_PI, FUTEX_LOCK_PI2
_HELD_WAITED, _HELD_TO_READ_OR_WRITE = 2, 3  # the second: glibc's read-write lock


def lock_waits(pids: Sequence[int], proc: Path = Path("/proc"), machine: str = "") -> Mapping[str, int]:
    """Threads that could run, as RUNS, and those that wait for a lock, by pool. machine: as in uname; "": this one."""
    counts: Counter[str] = Counter()
    for folder in (f"{proc}/{pid}/task" for pid in pids):
        for task in names(folder):
            call = (proc_text(f"{folder}/{task}/syscall") or "").split()
            if call[:1] == ["running"]:
                counts[RUNS] += 1
            elif is_held_lock(call, machine):
                counts[LOCKED + pool_name((proc_text(f"{folder}/{task}/comm") or "").strip())] += 1
    return counts


def futex_wait(call: Sequence[str], machine: str = "") -> int | None:
    """The operation of a thread's call, as /proc/PID/syscall has it; None if it is no futex(2)."""
    is_futex = len(call) >= 4 and call[0] == str(_FUTEX.get(machine or os.uname().machine))
    return int(call[2], 16) & 0xFFFFFFFF & _PLAIN if is_futex else None


def is_held_lock(call: Sequence[str], machine: str = "") -> bool:
    operation = futex_wait(call, machine)
    value = int(call[3], 16) & 0xFFFFFFFF if operation is not None else 0
    if operation == _WAIT_BITSET:
        return value in (_HELD_WAITED, _HELD_TO_READ_OR_WRITE)
    return operation in _PRIORITY_LOCKS or (operation == _WAIT and value == _HELD_WAITED)
