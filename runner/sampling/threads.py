"""The CPU time of a server's threads by name: all of a name together, and the busiest single one since the last look.

A number at the end of a thread's name is dropped, so that a pool of threads has one name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PEAK_CORES_MIN = 0.05  # of less nothing is kept: it is nobody's limit


@dataclass(frozen=True, kw_only=True)
class ThreadUse:
    """cpu_s_total: by name, summed. peak_cores: by name, of the busiest thread since the last look; median_cores: of
    the others of the name that worked meanwhile, where there are any."""

    cpu_s_total: Mapping[str, float]
    peak_cores: Mapping[str, float]
    median_cores: Mapping[str, float]


class ThreadReader:
    """Remembers each thread's CPU time, and when it was read, from one look to the next.

    Each thread has its own time of reading: on a busy machine the walk over hundreds of them takes a while.
    """

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._before: dict[str, tuple[float, float]] = {}

    def read(self, pids: Sequence[int]) -> ThreadUse:
        """All threads of the processes; one that has ended meanwhile is left out."""
        sums: dict[str, float] = {}
        uses: dict[str, list[float]] = {}
        seen: dict[str, tuple[float, float]] = {}
        for pid in pids:
            for task, name, cpu_s, when_s in self._tasks(pid):
                sums[name] = sums.get(name, 0.0) + cpu_s
                seen[task] = (cpu_s, when_s)
                before_s, looked_s = self._before.get(task, (cpu_s, when_s))
                if when_s > looked_s:
                    uses.setdefault(name, []).append((cpu_s - before_s) / (when_s - looked_s))
        self._before = seen
        worked = {name: [use for use in found if use >= _PEAK_CORES_MIN] for name, found in uses.items()}
        return ThreadUse(
            cpu_s_total=sums,
            peak_cores={name: max(found) for name, found in worked.items() if found},
            median_cores={name: median(sorted(found)[:-1]) for name, found in worked.items() if len(found) > 1},
        )

    def _tasks(self, pid: int) -> list[tuple[str, str, float, float]]:
        folder = self._proc / str(pid) / "task"
        found = []
        try:
            tasks = os.listdir(folder)
        except OSError:
            return []
        for task in tasks:
            try:
                when_s = time.monotonic()
                stat = (folder / task / "stat").read_text(encoding="ascii", errors="replace")
            except OSError:
                continue
            name = stat[stat.index("(") + 1 : stat.rindex(")")].rstrip("0123456789:-_ ")
            fields = stat.rpartition(")")[2].split()
            found.append((task, name, (int(fields[11]) + int(fields[12])) / _TICKS_PER_S, when_s))
        return found
