"""Reader of a network interface's speed: text → value, or ValueError with one sentence. Pure."""

from __future__ import annotations

import re

from scale_sweep.experiment.setting.readers import tag

_BITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def network_speed(text: str) -> tuple[str, float]:
    """An interface and its speed in bits/s, from "eth0=10Gbit" (kbit, Mbit or Gbit, of 1000, as tc writes them)."""
    interface, value = tag(text)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]bit)(?:/s)?", value.lower())
    if match is None or not float(match.group(1)):
        raise ValueError(f"{value!r} is not a speed like 10Gbit or 100Mbit")
    return interface, float(match.group(1)) * _BITS[match.group(2)]
