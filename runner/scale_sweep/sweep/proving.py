"""Settings that exclude --prove."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scale_sweep.model.declared import Origin

_FIXED = "fixed work has no rate by the second that could follow; use --duration, its window takes a minute"
_CLOSED = "an offered rate does not follow a disturbance; leave one of the two out"
_REFUSED = {
    "load.rows": ("--rows", _FIXED),
    "load.rows_per_level": ("--rows-per-level", _FIXED),
    "load.rate": ("--rate", _CLOSED),
    "load.slo": ("--slo", _CLOSED),
    "load.soak": ("--soak", "a soak is one long trial; leave one of the two out"),
    "target.endpoint": ("--endpoint", "the CPUs and disks of a server that runs already are not the sweep's"),
    "load.command": ("--load", "the rates of another program come too late; scale's own load can be followed"),
    "vary": ("--vary", "one proof a level is made; sweep the variants one after the other"),
}


def mistakes(v: Mapping[str, Any], origins: Mapping[str, Origin]) -> list[str]:
    if v["method.prove"] is None:
        return []
    beside = [pair for key, pair in _REFUSED.items() if origins.get(key, "default") != "default" and v[key]]
    return [f"--prove and {flag} exclude each other: {why}" for flag, why in beside]
