"""Whether two spellings of a setting are the same value: 1GB and 1024MB, 5min and 300s, on and true, 4 and 4.000000."""

from __future__ import annotations

import re
from collections.abc import Mapping

_WORDS = {"on": "on", "true": "on", "yes": "on", "off": "off", "false": "off", "no": "off"}
_OWN_BYTES = {"kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40}  # as servers with such units read them
_BYTES = {
    "b": 1,
    "k": 2**10,
    "m": 2**20,
    "g": 2**30,
    "t": 2**40,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)")
_DURATION = re.compile(rf"(?:{_AMOUNT.pattern})+")


def is_same_value(one: str, other: str) -> bool:
    a, b = (_plain(text) for text in (one, other))
    return a == b or any(x == y for x, y in zip(_readings(a), _readings(b), strict=True) if x is not None)


def are_same_values(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return one.keys() == other.keys() and all(is_same_value(one[name], other[name]) for name in one)


def _plain(text: str) -> str:
    text = text.strip().strip("'").lower()
    return _WORDS.get(text, text)


def _readings(text: str) -> tuple[float | None, float | None, float | None]:
    """The text in bytes of any database, in bytes of its own units, and in seconds; None where it is no such amount."""
    try:
        number = float(text)
    except ValueError:
        return _size(text, _BYTES), _size(text, {**_BYTES, **_OWN_BYTES}), _seconds(text)
    zero = 0.0 if number == 0 else None
    return number, zero, zero


def _size(text: str, units: Mapping[str, int]) -> float | None:
    match = _AMOUNT.fullmatch(text)
    return float(match[1]) * units[match[2]] if match and match[2] in units else None


def _seconds(text: str) -> float | None:
    """168h0m0s too."""
    parts = _AMOUNT.findall(text) if _DURATION.fullmatch(text) else []
    known = parts and all(unit in _SECONDS for _, unit in parts)
    return round(sum(float(number) * _SECONDS[unit] for number, unit in parts), 9) if known else None
