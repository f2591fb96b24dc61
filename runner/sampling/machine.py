"""Counters of the whole machine: disks, memory, pressure, CPU; and the CPU time of a server's threads by name."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_SECTOR_BYTES = 512  # /proc/diskstats counts in these, whatever the device's own sector is
_PSI = re.compile(r"^some .*total=(\d+)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class DiskCounters:
    """Sums over the devices asked for; busy_s is the busiest device's."""

    written_bytes: int | None
    read_bytes: int | None
    busy_s: float | None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def disk_counters(names: Sequence[str], proc: Path = Path("/proc")) -> DiskCounters:
    """Of the named devices; None for all when one of them is missing."""
    found = {}
    for line in _text(proc / "diskstats").splitlines():
        fields = line.split()
        if fields[2] in names:
            found[fields[2]] = (int(fields[9]), int(fields[5]), int(fields[12]))
    if not names or set(found) != set(names):
        return DiskCounters(written_bytes=None, read_bytes=None, busy_s=None)
    return DiskCounters(
        written_bytes=sum(f[0] for f in found.values()) * _SECTOR_BYTES,
        read_bytes=sum(f[1] for f in found.values()) * _SECTOR_BYTES,
        busy_s=max(f[2] for f in found.values()) / 1000,
    )


def memory_available_bytes(proc: Path = Path("/proc")) -> int | None:
    """MemAvailable."""
    match = re.search(r"^MemAvailable:\s+(\d+) kB", _text(proc / "meminfo"), re.MULTILINE)
    return int(match.group(1)) * 1024 if match else None


def pressure_s(proc: Path = Path("/proc")) -> Mapping[str, float]:
    """Seconds in which some task waited, by resource; empty where the kernel has no PSI."""
    found = {}
    for name in ("cpu", "io", "memory"):
        match = _PSI.search(_text(proc / "pressure" / name))
        if match:
            found[name] = int(match.group(1)) / 1e6
    return found


def cpu_busy_s(proc: Path = Path("/proc")) -> float | None:
    """CPU seconds of the whole machine that were neither idle nor waiting for I/O."""
    fields = _text(proc / "stat").partition("\n")[0].split()
    if len(fields) < 9:
        return None
    user, nice, system, _, _, irq, softirq, steal = (int(f) for f in fields[1:9])
    return (user + nice + system + irq + softirq + steal) / _TICKS_PER_S


def thread_cpu_s(pids: Sequence[int], proc: Path = Path("/proc")) -> Mapping[str, float]:
    """CPU seconds of all threads of the processes, summed by thread name; a number at the end of a name is dropped."""
    found: dict[str, float] = {}
    for pid in pids:
        try:
            tasks = os.listdir(proc / str(pid) / "task")
        except OSError:
            continue
        for task in tasks:
            stat = _text(proc / str(pid) / "task" / task / "stat")
            if not stat:
                continue
            name = stat[stat.index("(") + 1 : stat.rindex(")")].rstrip("0123456789:-_ ")
            fields = stat.rpartition(")")[2].split()
            found[name] = found.get(name, 0.0) + (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
    return found
