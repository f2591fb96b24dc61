"""The energy that the processors and their memory have used, from the kernel's counters (RAPL): /sys/class/powercap."""

from __future__ import annotations

import re
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")
_MICRO = 1e-6
# A package contains its cores, which are zones of their own; "psys" contains the packages.
_PACKAGE, _MEMORY = re.compile(r"package-\d+(-die-\d+)?"), "dram"


class EnergyReader:
    """Counts joules from its construction on, over the wraps of the kernel's counters."""

    def __init__(self, powercap: Path = POWERCAP) -> None:
        self._zones = _zones(powercap)
        self._ranges = {zone: _number(zone / "max_energy_range_uj") for zone in self._zones}
        self._last = {zone: _number(zone / "energy_uj") for zone in self._zones}
        self._total_uj = 0

    def read(self) -> float | None:
        """The joules so far; None if the kernel does not count them, or does not let this user read them."""
        if not self._zones or None in self._last.values():
            return None
        now = {zone: _number(zone / "energy_uj") for zone in self._zones}
        if None in now.values():
            return None
        for zone, count in now.items():
            before = self._last[zone]
            assert count is not None and before is not None
            self._total_uj += count - before if count >= before else count - before + (self._ranges[zone] or 0)
        self._last = now
        return max(self._total_uj, 0) * _MICRO


def _zones(powercap: Path) -> tuple[Path, ...]:
    """The zones of packages and of their memory. The same package is there twice if the kernel reads it in two ways
    (intel-rapl and intel-rapl-mmio): it counts once."""
    packages: dict[str, Path] = {}
    for path in _entries(powercap):
        name = _text(path / "name")
        if path.name.count(":") == 1 and _PACKAGE.fullmatch(name):
            packages.setdefault(name, path)
    memories = [
        path
        for package in packages.values()
        for path in _entries(powercap)
        if path.name.startswith(f"{package.name}:") and _text(path / "name") == _MEMORY
    ]
    return (*packages.values(), *memories)


def _entries(powercap: Path) -> list[Path]:
    try:
        return sorted(powercap.iterdir(), key=lambda path: ("mmio" in path.name, path.name))
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text.isdigit() else None
