"""Settings of CrateDB as it reports them: a tree, with times in milliseconds and sizes in bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_FACTORS = {
    "ms": 1,
    "s": 1000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "b": 1,
    "kb": 2**10,
    "mb": 2**20,
    "gb": 2**30,
}
_AMOUNT = re.compile(r"(\d+)\s*([a-z]+)")


def items(tree: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Each setting by its name with points."""
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from items(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", str(value).lower() if isinstance(value, bool) else str(value)


def as_set(value: str, reported: str) -> str:
    """The reported value, in the words of the one that was set if it is the same: "5s" for 5000 or "5000ms"."""
    return value if _plain(value) == _plain(reported) else reported


def _plain(text: str) -> str:
    """A time in ms, and a size in bytes, without a unit."""
    match = _AMOUNT.fullmatch(text.lower())
    factor = _FACTORS.get(match.group(2)) if match else None
    return str(int(match.group(1)) * factor) if match and factor else text.lower()
