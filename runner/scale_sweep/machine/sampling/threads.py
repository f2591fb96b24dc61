"""CPU time of a server's threads by name: all threads of a name together, and the busiest one since the last reading;
and their context switches."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from scale_sweep.machine.sampling.proc_text import proc_text

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PEAK_CORES_MIN = 0.05  # below this nothing is stored: such a thread limits nothing
_SWITCHES = re.compile(r"^(voluntary|nonvoluntary)_ctxt_switches:\s+(\d+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class ThreadUse:
    """cpu_s_total: by name, summed; never decreases: a thread that ended stays counted. peak_cores: by name, of the
    busiest thread since the last reading. median_cores: of the other threads of the name that worked meanwhile, if any.
    switches_total: context switches of all threads, by whether a thread went to sleep ("voluntary") or lost its CPU
    ("nonvoluntary"); never decreases."""

    cpu_s_total: Mapping[str, float]
    peak_cores: Mapping[str, float]
    median_cores: Mapping[str, float]
    switches_total: Mapping[str, float]


class _Task(NamedTuple):
    """One thread at one reading."""

    number: str
    pool: str  # its name without the number
    cpu_s: float
    when_s: float
    switches: Mapping[str, int]


class ThreadReader:
    """Keeps each thread's CPU time, and when it was read, from one reading to the next.

    Each thread has its own reading time, because on a busy machine reading hundreds of threads takes a while.
    has_switches: context switches are read too, which doubles the cost.
    """

    def __init__(self, proc: Path = Path("/proc"), *, has_switches: bool = True) -> None:
        self._proc, self._has_switches = proc, has_switches
        self._before: dict[str, _Task] = {}
        self._switches: Counter[str] = Counter()
        self._ended: dict[str, float] = {}

    def read(self, pids: Sequence[int]) -> ThreadUse:
        """All threads of the processes. A thread that ends meanwhile is left out."""
        uses: dict[str, list[float]] = {}
        seen: dict[str, _Task] = {}
        for task in (task for pid in pids for task in self._tasks(pid)):
            seen[task.number] = task
            before = self._before.get(task.number, task)
            if task.when_s > before.when_s:
                uses.setdefault(task.pool, []).append((task.cpu_s - before.cpu_s) / (task.when_s - before.when_s))
            self._switches.update({kind: now - before.switches.get(kind, now) for kind, now in task.switches.items()})
        sums = self._sums(seen)
        self._before = seen
        worked = {name: [use for use in cores if use >= _PEAK_CORES_MIN] for name, cores in uses.items()}
        return ThreadUse(
            cpu_s_total=sums,
            peak_cores={name: max(cores) for name, cores in worked.items() if cores},
            median_cores={name: median(sorted(cores)[:-1]) for name, cores in worked.items() if len(cores) > 1},
            switches_total={kind: float(count) for kind, count in self._switches.items()},
        )

    def _sums(self, seen: Mapping[str, _Task]) -> dict[str, float]:
        for number, task in self._before.items():
            if number not in seen or seen[number].cpu_s < task.cpu_s:
                self._ended[task.pool] = self._ended.get(task.pool, 0.0) + task.cpu_s
        sums = dict(self._ended)
        for task in seen.values():
            sums[task.pool] = sums.get(task.pool, 0.0) + task.cpu_s
        return sums

    def _tasks(self, pid: int) -> list[_Task]:
        folder = f"{self._proc}/{pid}/task"
        tasks_read = []
        try:
            tasks = os.listdir(folder)
        except OSError:
            return []
        for task in tasks:
            when_s = time.monotonic()
            stat = proc_text(f"{folder}/{task}/stat")
            if not stat:
                continue
            begin, end = stat.index("("), stat.rindex(")")
            fields = stat[end:].split(maxsplit=14)
            tasks_read.append(
                _Task(
                    number=task,
                    pool=pool_name(stat[begin + 1 : end]),
                    cpu_s=(int(fields[12]) + int(fields[13])) / _TICKS_PER_S,
                    when_s=when_s,
                    switches=_switches(f"{folder}/{task}/status") if self._has_switches else {},
                )
            )
        return tasks_read


def pool_name(thread: str) -> str:
    """A thread's name without the number at its end, so that a pool of threads has one name."""
    return thread.rstrip("0123456789:-_ ")


def _switches(status: str) -> Mapping[str, int]:
    return {kind: int(count) for kind, count in _SWITCHES.findall(proc_text(status) or "")}
