"""Readers of two values in one text: text → values, or ValueError with one sentence."""

from __future__ import annotations

import re

from scale_sweep.base.units import parse_seconds
from scale_sweep.experiment.setting.readers import tag

_BITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def network_speed(text: str) -> tuple[str, float]:
    """An interface and its speed in bits/s, from "eth0=10Gbit" (kbit, Mbit or Gbit, of 1000, as tc writes them)."""
    interface, value = tag(text)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]bit)(?:/s)?", value.lower())
    if match is None or not float(match.group(1)):
        raise ValueError(f"{value!r} is not a speed like 10Gbit or 100Mbit")
    return interface, float(match.group(1)) * _BITS[match.group(2)]


def time_span(text: str) -> tuple[float | None, float]:
    """`5s`: no least time, and 5 seconds. `5s..60s`: the least and the greatest time in seconds."""
    least, dots, most = text.partition("..")
    if not dots:
        return None, parse_seconds(text)
    span = parse_seconds(least), parse_seconds(most)
    if span[0] > span[1]:
        raise ValueError(f"{text!r}: the least time is above the greatest; write it like 5s..60s")
    return span
