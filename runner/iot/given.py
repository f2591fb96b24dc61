"""What a file says for a key, read as what the key is; mistakes are collected, each by its key. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches

from runner.errors import UsageError
from runner.iot.keys import INEFFECTIVE, ONLY, USED

_KNOWN = (*USED, *ONLY, *INEFFECTIVE)
_WHOLE_MAX = 10**15


class Given:
    """Keys and values of a file. Every reader returns a value that can be worked with, and notes a mistake."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self._mistakes: list[str] = []

    def says(self, key: str) -> bool:
        """Whether the file has the key with a value."""
        return bool(self._values.get(key))

    def text(self, key: str) -> str:
        """As it is written, or the default."""
        return self._values.get(key) or USED[key]

    def flag(self, key: str) -> bool:
        """True for "true" in any case; all else is false, as there."""
        return self.text(key).lower() == "true"

    def whole(self, key: str, least: int = 0) -> int:
        """A whole number not below `least`."""
        text = self.text(key)
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= _WHOLE_MAX:
            self.refuse(key, f"{text!r} is not a whole number of {least} or more")
            return max(least, 1)
        return value

    def number(self, key: str, least: float = -math.inf, most: float = math.inf) -> float:
        """A number within bounds."""
        text = self.text(key)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and least <= value <= most):
            self.refuse(key, f"{text!r} is not a number" + ("" if least == -math.inf else f" of {least:g} or more"))
            return max(least, 1.0) if most > 1 else most
        return value

    def shares(self, key: str, counts: tuple[int, int]) -> tuple[float, ...]:
        """Numbers with colons between them, so many; fewer are filled up with 0."""
        text = self.text(key)
        try:
            found = tuple(float(part) for part in text.split(":"))
        except ValueError:
            found = ()
        if not counts[0] <= len(found) <= counts[1] or any(not 0 <= s < math.inf for s in found) or not any(found):
            self.refuse(key, f"{text!r} is not {counts[0]} to {counts[1]} numbers like 1:0:2, one of them above 0")
            found = (1.0,)
        return (*found, *(0.0,) * (counts[1] - len(found)))

    def refuse(self, key: str, why: str, remedy: str = "") -> None:
        """Notes a mistake."""
        self._mistakes.append(f"{key}: {why}" + (f"; {remedy}" if remedy else ""))

    def check_keys(self) -> list[str]:
        """Refuses unknown keys and values that are not to be had; returns a sentence for each key without an effect."""
        notes = []
        for key, value in self._values.items():
            if key not in _KNOWN:
                near = get_close_matches(key, _KNOWN, n=1, cutoff=0.7)
                self.refuse(key, "unknown key", f"is it {near[0]}?" if near else "leave it out")
            elif key in ONLY and value.lower() not in ("", ONLY[key].value):
                self.refuse(key, f"{value!r}: {ONLY[key].why}", ONLY[key].remedy)
            elif key in INEFFECTIVE and value:
                notes.append(f"{key} has no effect: {INEFFECTIVE[key]}")
        return notes

    def raise_any(self) -> None:
        """Raises UsageError with all mistakes, one a line."""
        if self._mistakes:
            raise UsageError("\n".join(dict.fromkeys(self._mistakes)), remedy="docs/iot-benchmark.md has every key")
