"""Counters of the whole machine: disks, pressure, CPUs, network interfaces, energy."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.machine.host.host_facts import text_of
from scale_sweep.model import DataDisk, DiskSample

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_SECTOR_BYTES = 512  # /proc/diskstats counts in these, whatever the device's own sector size is
_PSI = re.compile(r"^some .*total=(\d+)", re.MULTILINE)


def disk_samples(disks: Sequence[DataDisk], proc: Path = Path("/proc")) -> Mapping[str, DiskSample]:
    """Counters of each disk by its name; None for figures of a device that the kernel does not list."""
    lines = (line.split() for line in text_of(proc / "diskstats").splitlines())
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
    """The clock rate of each CPU in MHz by its number, where cpufreq or /proc/cpuinfo has one."""
    mhz_of: dict[str, float] = {}
    for cpu in cpus:
        text = text_of(root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq")
        if text.isdigit():
            mhz_of[str(cpu)] = int(text) / 1000
    if mhz_of or not cpus:
        return mhz_of
    at = ""
    for number, mhz in _MHZ.findall(text_of(root / "proc/cpuinfo")):
        at = number or at
        if mhz and at and int(at) in cpus:
            mhz_of[at] = float(mhz)
    return mhz_of


def pressure_s(proc: Path = Path("/proc")) -> Mapping[str, float]:
    """Seconds in which some task waited, by resource; empty if the kernel has no PSI."""
    seconds = {}
    for name in ("cpu", "io", "memory"):
        match = _PSI.search(text_of(proc / "pressure" / name))
        if match:
            seconds[name] = int(match.group(1)) / 1e6
    return seconds


def cpu_busy_s(proc: Path = Path("/proc")) -> float | None:
    """CPU seconds of this machine that were neither idle, nor waiting for I/O, nor stolen."""
    if (ticks := _cpu_ticks(proc)) is None:
        return None
    user, nice, system, _, _, irq, softirq, _ = ticks
    return (user + nice + system + irq + softirq) / _TICKS_PER_S


def cpu_stolen_s(proc: Path = Path("/proc")) -> float | None:
    """CPU seconds in which the hypervisor ran something else (steal time, proc(5))."""
    ticks = _cpu_ticks(proc)
    return ticks[-1] / _TICKS_PER_S if ticks is not None else None


def each_cpu_busy_s(proc: Path = Path("/proc")) -> Mapping[str, float]:
    """cpu_busy_s by the CPU's number as text; empty if the kernel does not list them."""
    busy_s = {}
    for name, (user, nice, system, _, _, irq, softirq, _) in _each_cpu_ticks(proc).items():
        busy_s[name] = (user + nice + system + irq + softirq) / _TICKS_PER_S
    return busy_s


def each_cpu_stolen_s(proc: Path = Path("/proc")) -> Mapping[str, float]:
    return {name: ticks[-1] / _TICKS_PER_S for name, ticks in _each_cpu_ticks(proc).items()}


def _each_cpu_ticks(proc: Path) -> Mapping[str, tuple[int, ...]]:
    ticks = {}
    for line in text_of(proc / "stat").splitlines()[1:]:
        name, *fields = line.split()
        if not name.startswith("cpu") or len(fields) < 8:
            break
        ticks[name.removeprefix("cpu")] = tuple(int(field) for field in fields[:8])
    return ticks


def _cpu_ticks(proc: Path) -> tuple[int, ...] | None:
    fields = text_of(proc / "stat").partition("\n")[0].split()
    return tuple(int(f) for f in fields[1:9]) if len(fields) >= 9 else None


_BYTES_PER_MBIT = 1e6 / 8
_DIRECTIONS = {"received": "rx_bytes", "sent": "tx_bytes"}


def network_speeds(
    bits_per_s: Mapping[str, float] | None = None, net: Path = Path("/sys/class/net")
) -> Mapping[str, float]:
    """Bytes per second of each interface and direction. bits_per_s: replaces the kernel's speed."""
    bytes_per_s = {}
    for interface in sorted(net.iterdir()) if net.is_dir() else ():
        mbit = _figure(interface / "speed") if (interface / "device").exists() else None
        if mbit is not None and mbit > 0:  # -1: no link
            bytes_per_s[interface.name] = mbit * _BYTES_PER_MBIT
    return bytes_per_s | {name: bits / 8 for name, bits in (bits_per_s or {}).items()}


def network_bytes_total(speeds: Mapping[str, float], net: Path = Path("/sys/class/net")) -> Mapping[str, float]:
    """Bytes so far of the interfaces that have a speed, as "eth0 sent" and "eth0 received"."""
    totals = {}
    for name in speeds:
        for direction, counter in _DIRECTIONS.items():
            total = _figure(net / name / "statistics" / counter)
            if total is not None:
                totals[f"{name} {direction}"] = total
    return totals


def _figure(path: Path) -> float | None:
    try:
        return float(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


POWERCAP = Path("/sys/class/powercap")
_MICRO = 1e-6
# A package contains its cores, which are zones of their own; "psys" contains the packages.
_PACKAGE, _MEMORY = re.compile(r"package-\d+(-die-\d+)?"), "dram"


class EnergyReader:
    """Counts the joules of processors and memory (RAPL), over the wraps of the kernel's counters."""

    def __init__(self, powercap: Path = POWERCAP) -> None:
        self._zones = _zones(powercap)
        self._ranges = {zone: _count(zone / "max_energy_range_uj") for zone in self._zones}
        self._last = {zone: _count(zone / "energy_uj") for zone in self._zones}
        self._total_uj = 0

    def read(self) -> float | None:
        """The joules so far; None if the kernel does not count them or refuses this user."""
        if not self._zones or None in self._last.values():
            return None
        now = {zone: _count(zone / "energy_uj") for zone in self._zones}
        if None in now.values():
            return None
        for zone, count in now.items():
            before = self._last[zone]
            assert count is not None and before is not None
            self._total_uj += count - before if count >= before else count - before + (self._ranges[zone] or 0)
        self._last = now
        return max(self._total_uj, 0) * _MICRO


def _zones(powercap: Path) -> tuple[Path, ...]:
    """The zones of packages and their memory; a package that is there twice (intel-rapl-mmio) counts once."""
    packages: dict[str, Path] = {}
    for path in _entries(powercap):
        name = text_of(path / "name")
        if path.name.count(":") == 1 and _PACKAGE.fullmatch(name):
            packages.setdefault(name, path)
    memories = [
        path
        for package in packages.values()
        for path in _entries(powercap)
        if path.name.startswith(f"{package.name}:") and text_of(path / "name") == _MEMORY
    ]
    return (*packages.values(), *memories)


def _entries(powercap: Path) -> list[Path]:
    try:
        return sorted(powercap.iterdir(), key=lambda path: ("mmio" in path.name, path.name))
    except OSError:
        return []


def _count(path: Path) -> int | None:
    text = text_of(path)
    return int(text) if text.isdigit() else None
