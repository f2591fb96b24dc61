"""Names the other programs that use the CPUs of this machine."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from scale_sweep.base.texts import visible
from scale_sweep.machine.sampling.processes import TICKS_PER_S, names, proc_text

NAMED = 3
_LEAST_CORES = 0.05  # below it a program spoils nothing


class _Process(NamedTuple):
    name: str
    parent: int
    started: str
    cpu_s: float  # with its children that ended


class OtherPrograms:
    """Those beside this process, its children and `own`, from the making of this object on."""

    def __init__(self, proc: str = "/proc", now_s: Callable[[], float] = time.monotonic) -> None:
        self._proc, self._now_s, self._begun = proc, now_s, now_s()
        self._before = _processes(proc)

    def busiest(self, cpus: Collection[int] = (), own: Collection[int] = ()) -> tuple[str, ...]:
        """Up to NAMED that may run on the CPUs (empty: on any), in words, the busiest first."""
        now, seconds = _processes(self._proc), max(0.01, self._now_s() - self._begun)
        ended = self._ended(now)
        used = {
            pid: (process.cpu_s - self._before_s(pid, process) - ended[pid]) / seconds for pid, process in now.items()
        }
        ours = _with_children({os.getpid(), *own}, now)
        others = sorted((pid for pid in used.keys() - ours if used[pid] >= _LEAST_CORES), key=lambda pid: -used[pid])
        shown = [pid for pid in others if _may_run(pid, cpus)][:NAMED]
        return tuple(f"{now[pid].name} (pid {pid}) {used[pid]:.2f} cores" for pid in shown)

    def _before_s(self, pid: int, process: _Process) -> float:
        old = self._before.get(pid)
        return old.cpu_s if old is not None and old.started == process.started else 0.0

    def _ended(self, now: Mapping[int, _Process]) -> Mapping[int, float]:
        """The earlier time of processes that ended, by their next ancestor that lives: it got their whole time."""
        gone = {pid for pid, old in self._before.items() if pid not in now or now[pid].started != old.started}
        ended: defaultdict[int, float] = defaultdict(float)
        for pid in gone:
            parent = self._before[pid].parent
            while parent in gone:
                parent = self._before[parent].parent
            ended[parent] += self._before[pid].cpu_s
        return ended


def _processes(proc: str) -> dict[int, _Process]:
    """A process that ends meanwhile is left out."""
    processes = {}
    for pid in filter(str.isdigit, names(proc)):
        if not (stat := proc_text(f"{proc}/{pid}/stat")):
            continue
        name, _, rest = stat.partition("(")[2].rpartition(")")
        fields = rest.split()
        cpu_s = sum(map(int, fields[11:15])) / TICKS_PER_S
        processes[int(pid)] = _Process(name=visible(name), parent=int(fields[1]), started=fields[19], cpu_s=cpu_s)
    return processes


def _with_children(roots: Collection[int], now: Mapping[int, _Process]) -> set[int]:
    ours = set(roots)
    while more := {pid for pid, process in now.items() if process.parent in ours and pid not in ours}:
        ours |= more
    return ours


def _may_run(pid: int, cpus: Collection[int]) -> bool:
    try:
        return not cpus or not os.sched_getaffinity(pid).isdisjoint(cpus)
    except OSError:  # it ended
        return True
