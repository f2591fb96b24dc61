"""Counters of the whole machine: disks, pressure, CPUs, network interfaces, energy."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scale_sweep.machine.host.host_facts import text_of
from scale_sweep.machine.sampling.processes import TICKS_PER_S
from scale_sweep.model.samples import DataDisk, DiskSample

_SECTOR_BYTES = 512  # /proc/diskstats counts in these, whatever the device's own sector size is
_PSI = re.compile(r"^some .*total=(\d+)", re.MULTILINE)


def disk_samples(disks: Sequence[DataDisk]) -> Mapping[str, DiskSample]:
    """Counters of each disk by its name; None for figures of a device that the kernel does not list."""
    lines = (line.split() for line in text_of(Path("/proc/diskstats")).splitlines())
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
    matches = {name: _PSI.search(text_of(proc / "pressure" / name)) for name in ("cpu", "io", "memory")}
    return {name: int(match.group(1)) / 1e6 for name, match in matches.items() if match}


class CpuTime(NamedTuple):
    busy_s: float  # neither idle, nor waiting for I/O, nor stolen
    stolen_s: float  # the hypervisor ran something else (steal time, proc(5))


def cpu_times(proc: Path = Path("/proc")) -> dict[str, CpuTime]:
    """By the CPU's number as text, "" for the whole machine; empty if the kernel does not list them."""
    times = {}
    for line in text_of(proc / "stat").splitlines():
        name, *fields = line.split()
        if not name.startswith("cpu") or len(fields) < 8:
            break
        user, nice, system, _, _, irq, softirq, stolen = map(int, fields[:8])
        busy = user + nice + system + irq + softirq
        times[name.removeprefix("cpu")] = CpuTime(busy / TICKS_PER_S, stolen / TICKS_PER_S)
    return times


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
    """So far, of the interfaces that have a speed, as "eth0 sent" and "eth0 received"."""
    totals = {
        f"{name} {direction}": _figure(net / name / "statistics" / counter)
        for name in speeds
        for direction, counter in _DIRECTIONS.items()
    }
    return {name: total for name, total in totals.items() if total is not None}


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
