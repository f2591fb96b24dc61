"""Durations and sizes as a user writes them, in the spelling in which the server repeats them. Pure."""

from __future__ import annotations

import re

_DURATION = re.compile(r"(\d+)(ms|[smhdw])")
_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_BYTES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def spelled(name: str, text: str) -> str:
    """168h0m0s for 7d and 1.5s for 1500ms, as Go writes durations; bytes for a size; other texts unchanged."""
    if name.endswith("_size"):
        number, unit = text[:-1], text[-1:].lower()
        return str(int(number) * _BYTES[unit]) if number.isdigit() and unit in _BYTES else text
    if not re.fullmatch(f"({_DURATION.pattern})+", text):
        return text
    return go_duration(sum(int(number) * _MS[unit] for number, unit in _DURATION.findall(text)))


def go_duration(ms: int) -> str:
    """Milliseconds as Go writes a duration."""
    if ms < 1000:
        return f"{ms}ms" if ms else "0s"
    minutes, rest = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest / 1000:g}s"
    return f"{hours}h{minutes}m{seconds}" if hours else f"{minutes}m{seconds}" if minutes else seconds
