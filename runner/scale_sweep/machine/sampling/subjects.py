"""CPU time, memory and page faults of server or load generator, from its cgroup (v1 or v2) or its process tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from scale_sweep.machine.sampling.proc_text import proc_text
from scale_sweep.model import Accounting, SubjectSample

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
NOTHING = SubjectSample(cpu_s_total=None, throttled_s_total=None, memory_bytes=None)
ELSEWHERE = SubjectSample(cpu_s_total=0.0, throttled_s_total=None, memory_bytes=0)

Reader = Callable[[], SubjectSample]


def subject_reader(accounting: Accounting | None, proc: Path = Path("/proc")) -> Reader:
    """Returns a function that reads the subject's counters. One without processes runs on another host."""
    if accounting is None:
        return lambda: NOTHING
    if accounting.kind == "cgroup1":
        return lambda: _cgroup1(accounting)
    if accounting.kind == "cgroup2":
        return lambda: _cgroup2(accounting)
    if not accounting.root_pids:
        return lambda: ELSEWHERE
    return ProcessTree(accounting.root_pids, proc).read


def _keys(text: str | None) -> dict[str, int]:
    pairs = (line.split() for line in (text or "").splitlines())
    return {p[0]: int(p[1]) for p in pairs if len(p) == 2 and p[1].isdigit()}


def _cgroup1(accounting: Accounting) -> SubjectSample:
    usage_ns = proc_text(f"{accounting.paths['cpuacct']}/cpuacct.usage")
    cpu = _keys(proc_text(f"{accounting.paths['cpuacct']}/cpuacct.stat"))
    throttled = _keys(proc_text(f"{accounting.paths['cpu']}/cpu.stat")) if "cpu" in accounting.paths else {}
    memory = _keys(proc_text(f"{accounting.paths['memory']}/memory.stat")) if "memory" in accounting.paths else {}
    return SubjectSample(
        cpu_s_total=int(usage_ns) / 1e9 if usage_ns else None,
        throttled_s_total=throttled["throttled_time"] / 1e9 if "throttled_time" in throttled else None,
        memory_bytes=memory["total_rss"] + memory.get("total_shmem", 0) if "total_rss" in memory else None,
        system_s_total=cpu["system"] / _TICKS_PER_S if "system" in cpu else None,
        page_faults_total=memory.get("total_pgfault"),
    )


def _cgroup2(accounting: Accounting) -> SubjectSample:
    folder = accounting.paths["unified"]
    cpu, memory = _keys(proc_text(f"{folder}/cpu.stat")), _keys(proc_text(f"{folder}/memory.stat"))
    return SubjectSample(
        cpu_s_total=cpu["usage_usec"] / 1e6 if "usage_usec" in cpu else None,
        throttled_s_total=cpu["throttled_usec"] / 1e6 if "throttled_usec" in cpu else None,
        memory_bytes=memory["anon"] + memory.get("shmem", 0) if "anon" in memory else None,
        system_s_total=cpu["system_usec"] / 1e6 if "system_usec" in cpu else None,
        page_faults_total=memory.get("pgfault"),
    )


class _Use(NamedTuple):
    """The use of a process so far."""

    cpu_s: float
    system_s: float
    page_faults: int


class ProcessTree:
    """Root processes and all their descendants. The CPU time and page faults that a process had when last seen still
    count after its end, so the totals never decrease. What it used between the last reading and its end is lost."""

    def __init__(self, root_pids: tuple[int, ...], proc: Path = Path("/proc")) -> None:
        self._roots, self._proc = root_pids, proc
        self._seen: dict[int, _Use] = {}
        self._gone = _Use(0.0, 0.0, 0)

    def pids(self) -> list[int]:
        """The members that live now."""
        members: dict[int, None] = {}
        waiting = list(self._roots)
        while waiting:
            pid = waiting.pop()
            if pid in members:
                continue
            try:
                tasks = os.listdir(f"{self._proc}/{pid}/task")
            except OSError:
                continue
            members[pid] = None
            for task in tasks:
                children = proc_text(f"{self._proc}/{pid}/task/{task}/children") or ""
                waiting += [int(child) for child in children.split()]
        return list(members)

    def read(self) -> SubjectSample:
        """Their counters; None if none of them lives and none was ever seen."""
        now: dict[int, _Use] = {}
        memory = 0
        for pid in self.pids():
            stat, statm = proc_text(f"{self._proc}/{pid}/stat"), proc_text(f"{self._proc}/{pid}/statm")
            if stat is None or statm is None:
                continue
            fields = stat.rpartition(")")[2].split()
            user_s, system_s = int(fields[11]) / _TICKS_PER_S, int(fields[12]) / _TICKS_PER_S
            now[pid] = _Use(user_s + system_s, system_s, int(fields[7]) + int(fields[9]))
            resident, shared = statm.split()[1:3]
            memory += max(0, int(resident) - int(shared)) * _PAGE_BYTES
        self._gone = _sum([self._gone, *(use for pid, use in self._seen.items() if pid not in now)])
        self._seen = now
        if not now and not self._gone.cpu_s:
            return NOTHING
        whole = _sum([self._gone, *now.values()])
        return SubjectSample(
            cpu_s_total=whole.cpu_s,
            throttled_s_total=None,
            memory_bytes=memory if now else None,
            system_s_total=whole.system_s,
            page_faults_total=whole.page_faults,
        )


def _sum(uses: Sequence[_Use]) -> _Use:
    return _Use(sum(u.cpu_s for u in uses), sum(u.system_s for u in uses), sum(u.page_faults for u in uses))
