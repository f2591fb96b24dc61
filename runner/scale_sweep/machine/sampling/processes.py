"""CPU time, memory and page faults of server or load generator by cgroup or process tree; CPU time of threads."""

from __future__ import annotations

import os
import re
import struct
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from scale_sweep.model.resources import Accounting
from scale_sweep.model.samples import SubjectSample

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
NOTHING = SubjectSample(cpu_s_total=None, throttled_s_total=None, memory_bytes=None)
ELSEWHERE = SubjectSample(cpu_s_total=0.0, throttled_s_total=None, memory_bytes=0)

Reader = Callable[[], SubjectSample]


def subject_reader(accounting: Accounting | None) -> Reader:
    """A function that reads the subject's counters. One without processes runs on another host."""
    if accounting is None:
        return lambda: NOTHING
    if accounting.kind == "cgroup1":
        return lambda: _cgroup1(accounting)
    if accounting.kind == "cgroup2":
        return lambda: _cgroup2(accounting)
    if accounting.kind == "counts":
        return lambda: _counts(accounting.paths["counts"])
    if not accounting.root_pids:
        return lambda: ELSEWHERE
    return ProcessTree(accounting.root_pids, quota_group=lambda _: accounting.paths.get("cpu", "")).read


def _keys(text: str | None) -> dict[str, int]:
    pairs = (line.split() for line in (text or "").splitlines())
    return {p[0]: int(p[1]) for p in pairs if len(p) == 2 and p[1].isdigit()}


def _cgroup1(accounting: Accounting) -> SubjectSample:
    usage_ns = proc_text(f"{accounting.paths['cpuacct']}/cpuacct.usage")
    cpu = _keys(proc_text(f"{accounting.paths['cpuacct']}/cpuacct.stat"))
    memory = _keys(proc_text(f"{accounting.paths['memory']}/memory.stat")) if "memory" in accounting.paths else {}
    return SubjectSample(
        cpu_s_total=int(usage_ns) / 1e9 if usage_ns else None,
        throttled_s_total=_throttled_s(accounting.paths.get("cpu", "")),
        memory_bytes=memory["total_rss"] + memory.get("total_shmem", 0) if "total_rss" in memory else None,
        system_s_total=cpu["system"] / TICKS_PER_S if "system" in cpu else None,
        page_faults_total=memory.get("total_pgfault"),
    )


def _cgroup2(accounting: Accounting) -> SubjectSample:
    folder = accounting.paths["unified"]
    cpu, memory = _keys(proc_text(f"{folder}/cpu.stat")), _keys(proc_text(f"{folder}/memory.stat"))
    return SubjectSample(
        cpu_s_total=cpu["usage_usec"] / 1e6 if "usage_usec" in cpu else None,
        throttled_s_total=_throttled_s(folder),
        memory_bytes=memory["anon"] + memory.get("shmem", 0) if "anon" in memory else None,
        system_s_total=cpu["system_usec"] / 1e6 if "system_usec" in cpu else None,
        page_faults_total=memory.get("pgfault"),
    )


_COUNTS = struct.Struct("=QQ")  # `struct simulated_counts` of loadgen/simulated.h begins with these


def _counts(path: str) -> SubjectSample:
    """Zeros before the first request, which makes the file of a simulated server."""
    try:
        with open(path, "rb") as file:
            busy_ns, throttled_ns = _COUNTS.unpack(file.read(_COUNTS.size))
    except (OSError, struct.error):
        busy_ns = throttled_ns = 0
    return SubjectSample(cpu_s_total=busy_ns / 1e9, throttled_s_total=throttled_ns / 1e9, memory_bytes=None)


def _throttled_s(folder: str) -> float | None:
    """By the quota of a control group of either version; None if it has none."""
    counts = _keys(proc_text(f"{folder}/cpu.stat")) if folder else {}
    if "throttled_usec" in counts:
        return counts["throttled_usec"] / 1e6
    return counts["throttled_time"] / 1e9 if "throttled_time" in counts else None


class _Use(NamedTuple):
    cpu_s: float
    system_s: float
    page_faults: int


class ProcessTree:
    """Root processes and all their descendants. What ended ones had used when last seen still counts."""

    def __init__(
        self,
        root_pids: tuple[int, ...],
        proc: Path = Path("/proc"),
        adopted: Callable[[], Sequence[int]] = tuple,
        quota_group: Callable[[Sequence[int]], str] = lambda _: "",
    ) -> None:
        """adopted: gives members whose parent ended. quota_group: of members, the folder of the group whose quota they
        have."""
        self._roots, self._proc, self._adopted, self._quota_group = root_pids, proc, adopted, quota_group
        self.members: Sequence[int] = ()  # at the last reading
        self._seen: dict[int, _Use] = {}
        self._gone = _Use(0.0, 0.0, 0)

    def pids(self) -> list[int]:
        """The members that live now."""
        members: dict[int, None] = {}
        waiting = [*self._roots, *self._adopted()]
        while waiting:
            pid = waiting.pop()
            if pid in members:
                continue
            if not (tasks := names(f"{self._proc}/{pid}/task")):
                continue
            members[pid] = None
            for task in tasks:
                children = proc_text(f"{self._proc}/{pid}/task/{task}/children") or ""
                waiting += [int(child) for child in children.split()]
        return list(members)

    def read(self) -> SubjectSample:
        """Their counters; none if no member lives and none was ever seen."""
        now: dict[int, _Use] = {}
        memory = 0
        self.members = self.pids()
        for pid in self.members:
            stat, statm = proc_text(f"{self._proc}/{pid}/stat"), proc_text(f"{self._proc}/{pid}/statm")
            if stat is None or statm is None:
                continue
            fields = stat.rpartition(")")[2].split()
            user_s, system_s = int(fields[11]) / TICKS_PER_S, int(fields[12]) / TICKS_PER_S
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
            throttled_s_total=_throttled_s(self._quota_group(self.members)),
            memory_bytes=memory if now else None,
            system_s_total=whole.system_s,
            page_faults_total=whole.page_faults,
        )


def _sum(uses: Sequence[_Use]) -> _Use:
    return _Use(sum(u.cpu_s for u in uses), sum(u.system_s for u in uses), sum(u.page_faults for u in uses))


_PEAK_CORES_MIN = 0.05  # below this nothing is stored: such a thread limits nothing
_SWITCHES = re.compile(r"^(voluntary|nonvoluntary)_ctxt_switches:\s+(\d+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class ThreadUse:
    cpu_s_total: Mapping[str, float]  # by name; a thread that ended stays counted
    peak_cores: Mapping[str, float]  # by name, of the busiest thread since the last reading
    median_cores: Mapping[str, float]  # by name, of the other threads that worked
    switches_total: Mapping[str, float]  # by whether a thread slept ("voluntary") or lost its CPU ("nonvoluntary")
    queued_s_total: float | None  # in which they could run and did not; None: the kernel does not count it
    disk_waits: int  # threads that wait for a disk now


class _Task(NamedTuple):
    number: str
    pool: str  # its name without the number
    state: str
    cpu_s: float
    when_s: float
    switches: Mapping[str, int]
    queued_s: float | None


class ThreadReader:
    """Keeps each thread's CPU time and its time of reading. has_switches: reads context switches and waits for a
    CPU too, at twice the cost."""

    def __init__(self, proc: Path = Path("/proc"), *, has_switches: bool = True) -> None:
        self._proc, self._has_switches = proc, has_switches
        self._before: dict[str, _Task] = {}
        self._switches: Counter[str] = Counter()
        self._ended: dict[str, float] = {}
        self._queued_s: float | None = None

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
            if task.queued_s is not None:
                self._queued_s = (self._queued_s or 0.0) + task.queued_s - (before.queued_s or 0.0)
        sums = self._sums(seen)
        self._before = seen
        worked = {name: [use for use in cores if use >= _PEAK_CORES_MIN] for name, cores in uses.items()}
        return ThreadUse(
            cpu_s_total=sums,
            peak_cores={name: max(cores) for name, cores in worked.items() if cores},
            median_cores={name: median(sorted(cores)[:-1]) for name, cores in worked.items() if len(cores) > 1},
            switches_total={kind: float(count) for kind, count in self._switches.items()},
            queued_s_total=self._queued_s,
            disk_waits=sum(task.state == "D" for task in seen.values()),
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
        for task in names(folder):
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
                    state=fields[1],
                    cpu_s=(int(fields[12]) + int(fields[13])) / TICKS_PER_S,
                    when_s=when_s,
                    switches=_switches(f"{folder}/{task}/status") if self._has_switches else {},
                    queued_s=_queued_s(f"{folder}/{task}/schedstat") if self._has_switches else None,
                )
            )
        return tasks_read


def pool_name(thread: str) -> str:
    """A thread's name without the number at its end."""
    return thread.rstrip("0123456789:-_ ")


def _switches(status: str) -> Mapping[str, int]:
    return {kind: int(count) for kind, count in _SWITCHES.findall(proc_text(status) or "")}


def _queued_s(schedstat: str) -> float | None:
    """The second of its numbers is in ns; None without such a file."""
    numbers = (proc_text(schedstat) or "").split()
    return int(numbers[1]) / 1e9 if len(numbers) == 3 else None


_BYTES = 8192  # more than any file that is read here has, except a list of children


def names(folder: str) -> list[str]:
    """The entries of a folder; none if it cannot be read, as its process ended."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def proc_text(path: str) -> str | None:
    """The text of a small file, without Python's buffers; None if it cannot be read, as its process ended."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        part = text = os.read(file, _BYTES)
        while len(part) == _BYTES:
            part = os.read(file, _BYTES)
            text += part
        return text.decode("ascii", "replace")
    except OSError:
        return None
    finally:
        os.close(file)
