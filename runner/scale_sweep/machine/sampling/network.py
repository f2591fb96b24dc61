"""Bytes sent and received by the machine's network interfaces, and the interfaces' speeds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_BYTES_PER_MBIT = 1e6 / 8
_COUNTERS = {"received": "rx_bytes", "sent": "tx_bytes"}


def speeds(bits_per_s: Mapping[str, float] | None = None, net: Path = Path("/sys/class/net")) -> Mapping[str, float]:
    """Bytes per second that each interface can move in each direction, by name. bits_per_s: replaces the kernel's
    speed."""
    bytes_per_s = {}
    for interface in sorted(net.iterdir()) if net.is_dir() else ():
        mbit = _number(interface / "speed") if (interface / "device").exists() else None
        if mbit is not None and mbit > 0:  # -1: no link
            bytes_per_s[interface.name] = mbit * _BYTES_PER_MBIT
    return bytes_per_s | {name: bits / 8 for name, bits in (bits_per_s or {}).items()}


def bytes_total(speeds: Mapping[str, float], net: Path = Path("/sys/class/net")) -> Mapping[str, float]:
    """Bytes so far of the interfaces that have a speed, as "eth0 sent" and "eth0 received"."""
    totals = {}
    for name in speeds:
        for direction, counter in _COUNTERS.items():
            total = _number(net / name / "statistics" / counter)
            if total is not None:
                totals[f"{name} {direction}"] = total
    return totals


def _number(path: Path) -> float | None:
    try:
        return float(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
