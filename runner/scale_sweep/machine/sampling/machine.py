"""Counters of the whole machine: disks, memory, pressure, CPU."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.model import DataDisk, DiskSample

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_SECTOR_BYTES = 512  # /proc/diskstats counts in these, whatever the device's own sector size is
_PSI = re.compile(r"^some .*total=(\d+)", re.MULTILINE)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def disk_samples(disks: Sequence[DataDisk], proc: Path = Path("/proc")) -> Mapping[str, DiskSample]:
    """Counters of each disk by its name. None for each figure of a device that the kernel does not list."""
    lines = (line.split() for line in _text(proc / "diskstats").splitlines())
    counters = {fields[2]: [int(f) for f in fields[3:14]] for fields in lines if len(fields) >= 14}
    return {disk.name: _disk_sample(counters.get(disk.block_name), disk.path) for disk in disks}


def _disk_sample(counters: Sequence[int] | None, path: str) -> DiskSample:
    """The kernel's Documentation/admin-guide/iostats.rst numbers these fields 1 to 11."""
    fields = counters or ()
    return DiskSample(
        read_bytes_total=fields[2] * _SECTOR_BYTES if fields else None,
        writes_total=fields[4] if fields else None,
        written_bytes_total=fields[6] * _SECTOR_BYTES if fields else None,
        busy_s_total=fields[9] / 1000 if fields else None,
        queue_s_total=fields[10] / 1000 if fields else None,
        free_bytes=_free_bytes(path),
    )


def _free_bytes(path: str) -> int | None:
    try:
        space = os.statvfs(path)
    except OSError:
        return None
    return space.f_bavail * space.f_frsize


_MHZ = re.compile(r"^processor\s*:\s*(\d+)$|^cpu MHz\s*:\s*([0-9.]+)$", re.MULTILINE)


def cpu_mhz(cpus: Sequence[int], root: Path = Path("/")) -> Mapping[str, float]:
    """The current clock rate of each CPU in MHz, by its number: from cpufreq, else /proc/cpuinfo. CPUs in neither are
    left out. A virtual machine often reports the rate that it was started with, whatever the host does."""
    mhz_of: dict[str, float] = {}
    for cpu in cpus:
        text = _text(root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq").strip()
        if text.isdigit():
            mhz_of[str(cpu)] = int(text) / 1000
    if mhz_of or not cpus:
        return mhz_of
    at = ""
    for number, mhz in _MHZ.findall(_text(root / "proc/cpuinfo")):
        at = number or at
        if mhz and at and int(at) in cpus:
            mhz_of[at] = float(mhz)
    return mhz_of


def pressure_s(proc: Path = Path("/proc")) -> Mapping[str, float]:
    """Seconds in which some task waited, by resource; empty if the kernel has no PSI."""
    seconds = {}
    for name in ("cpu", "io", "memory"):
        match = _PSI.search(_text(proc / "pressure" / name))
        if match:
            seconds[name] = int(match.group(1)) / 1e6
    return seconds


def cpu_busy_s(proc: Path = Path("/proc")) -> float | None:
    """CPU seconds that something on this machine used: neither idle, nor waiting for I/O, nor stolen."""
    if (ticks := _cpu_ticks(proc)) is None:
        return None
    user, nice, system, _, _, irq, softirq, _ = ticks
    return (user + nice + system + irq + softirq) / _TICKS_PER_S


def cpu_stolen_s(proc: Path = Path("/proc")) -> float | None:
    """CPU seconds in which this machine wanted to run and its hypervisor ran something else (steal time, proc(5))."""
    ticks = _cpu_ticks(proc)
    return ticks[-1] / _TICKS_PER_S if ticks is not None else None


def each_cpu_busy_s(proc: Path = Path("/proc")) -> Mapping[str, float]:
    """cpu_busy_s of each CPU, by its number as text; empty if the kernel does not list them."""
    busy_s = {}
    for name, (user, nice, system, _, _, irq, softirq, _) in _each_cpu_ticks(proc).items():
        busy_s[name] = (user + nice + system + irq + softirq) / _TICKS_PER_S
    return busy_s


def each_cpu_stolen_s(proc: Path = Path("/proc")) -> Mapping[str, float]:
    return {name: ticks[-1] / _TICKS_PER_S for name, ticks in _each_cpu_ticks(proc).items()}


def _each_cpu_ticks(proc: Path) -> Mapping[str, tuple[int, ...]]:
    ticks = {}
    for line in _text(proc / "stat").splitlines()[1:]:
        name, *fields = line.split()
        if not name.startswith("cpu") or len(fields) < 8:
            break
        ticks[name.removeprefix("cpu")] = tuple(int(field) for field in fields[:8])
    return ticks


def _cpu_ticks(proc: Path) -> tuple[int, ...] | None:
    fields = _text(proc / "stat").partition("\n")[0].split()
    return tuple(int(f) for f in fields[1:9]) if len(fields) >= 9 else None
