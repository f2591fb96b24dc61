"""Threads of a foreign load: whether they ran, waited for a CPU or for a lock inside their program, or were stopped."""

from __future__ import annotations

import os
import struct
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scale_sweep.machine.sampling.processes import TICKS_PER_S, ProcessTree, names, pool_name, proc_text
from scale_sweep.machine.sampling.waits import LOCKED, RUNS, futex_wait, is_held_lock

_WANTED_MIN = 0.05  # of a core: such a thread limits nothing
_AT_WORK = 0.002  # of a core: a thread that fights with hundreds for a lock gets as little
_STOPPED = "Tt"
ELSE = "else"  # what a thread at work waits for that is no lock


class LoadUse(NamedTuple):
    """As the fields of a sample with these names say."""

    peak_cores: Mapping[str, float]
    wanted_cores: Mapping[str, float] = {}
    queued_cores: Mapping[str, float] = {}
    threads: int | None = None
    stopped: int | None = None


class _LoadThread(NamedTuple):
    pool: str
    state: str
    ran_s: float
    queued_s: float  # it was runnable, and another thread or a quota had its CPU
    when_s: float


class LoadThreads:
    """Those of a tree of processes, as it grows. Read the tree first."""

    def __init__(self, tree: ProcessTree, proc: Path = Path("/proc")) -> None:
        self._tree, self._proc = tree, proc
        self._before: dict[str, _LoadThread] = {}
        self._read_s: float | None = None
        self._at_work: Sequence[str] = ()

    def read(self) -> LoadUse:
        folders = [f"{self._proc}/{pid}/task" for pid in self._tree.members]
        seen = {f"{folder}/{task}": one for folder in folders for task in names(folder) if (one := _read(folder, task))}
        shares = {path: self._shares(path, one) for path, one in seen.items()} if self._read_s is not None else {}
        self._at_work = [path for path, (ran, queued) in shares.items() if ran + queued >= _AT_WORK]
        is_first, self._before, self._read_s = self._read_s is None, seen, time.monotonic()
        most: dict[str, tuple[float, float]] = {}
        for path, (ran, queued) in shares.items():
            pool = seen[path].pool
            if ran + queued >= max(_WANTED_MIN, sum(most.get(pool, (0.0, 0.0)))):
                most[pool] = ran, queued
        return LoadUse(
            peak_cores={pool: ran for pool, (ran, _) in most.items()},
            wanted_cores={pool: ran + queued for pool, (ran, queued) in most.items()},
            queued_cores={pool: queued for pool, (_, queued) in most.items()},
            threads=None if is_first else sum(ran + queued >= _WANTED_MIN for ran, queued in shares.values()),
            stopped=sum(one.state in _STOPPED for one in seen.values()),
        )

    def _shares(self, path: str, now: _LoadThread) -> tuple[float, float]:
        """Shares of the time since the reading before. The kernel counts a wait for a CPU when it ends."""
        before = self._before.get(path)
        if before is None or now.ran_s < before.ran_s:  # it began since then
            before = _LoadThread(now.pool, now.state, 0.0, 0.0, self._read_s or now.when_s)
        seconds = max(now.when_s - before.when_s, 1e-3)
        ran, queued = (now.ran_s - before.ran_s) / seconds, (now.queued_s - before.queued_s) / seconds
        if now.state == "R" and ran + queued == 0.0:
            queued = 1.0
        ran = min(1.0, ran)
        return ran, min(queued, 1.0 - ran)

    def waits(self) -> Mapping[str, int]:
        """Threads that were at work before the last reading: those that run, and what others wait for."""
        counts: Counter[str] = Counter()
        for path in self._at_work:
            call = (proc_text(f"{path}/syscall") or "").split()
            if call[:1] == ["running"]:
                counts[RUNS] += 1
            elif is_held_lock(call) or _is_brief(call, path.partition("/task/")[0]):
                counts[LOCKED + pool_name((proc_text(f"{path}/comm") or "").strip())] += 1
            elif call:
                counts[ELSE] += 1
        return counts


def _read(folder: str, task: str) -> _LoadThread | None:
    stat, schedule = proc_text(f"{folder}/{task}/stat"), proc_text(f"{folder}/{task}/schedstat")
    if not stat:
        return None
    begin, end = stat.index("("), stat.rindex(")")
    fields, times = stat[end + 1 :].split(maxsplit=13), (schedule or "0 0").split()
    return _LoadThread(
        pool=pool_name(stat[begin + 1 : end]),
        state=fields[0],
        ran_s=int(times[0]) / 1e9 or (int(fields[11]) + int(fields[12])) / TICKS_PER_S,
        queued_s=int(times[1]) / 1e9,
        when_s=time.monotonic(),
    )


_BRIEF_S = 0.01  # Python's threads ask for its interpreter lock every 5 ms
_OVERDUE_S = 0.1
_REALTIME, _WAIT = 256, 0  # of linux/futex.h
_TIME = struct.Struct("=qq")


def _is_brief(call: Sequence[str], process: str) -> bool:
    """A wait of a few milliseconds at a time, by the deadline in the thread's memory: a lock that is asked for again
    and again."""
    wait = futex_wait(call)
    if wait is None or len(call) < 5 or not (address := int(call[4], 16)):
        return False
    try:
        memory = os.open(f"{process}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            seconds, ns = _TIME.unpack(os.pread(memory, _TIME.size, address))
        finally:
            os.close(memory)
    except (OSError, struct.error):  # it ended, or may not be read
        return False
    operation = int(call[2], 16)
    now_s = 0.0 if wait == _WAIT else time.time() if operation & _REALTIME else time.monotonic()
    return bool(-_OVERDUE_S <= seconds + ns / 1e9 - now_s <= _BRIEF_S)
