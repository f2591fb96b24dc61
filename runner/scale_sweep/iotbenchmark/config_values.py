"""A properties file of IoT-benchmark: its keys and values, each read as the table of keys says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from scale_sweep.base.errors import UsageError
from scale_sweep.iotbenchmark.keys import KEYS

SHARE_MAX = 1e9
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,3})?")
_SHOWN_MAX = 60


def shown(text: str, *, quoted: bool = True) -> str:
    part = text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
    return repr(part) if quoted or not part.isprintable() else part


class ConfigValues:
    """Every reader returns a value that can be worked with, and notes a mistake."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = {key.upper(): value for key, value in values.items()}
        self._written = {key.upper(): key for key in values}
        self._mistakes: list[str] = []

    def says(self, key: str) -> bool:
        return bool(self._values.get(key))

    def text(self, key: str) -> str:
        return self._values.get(key) or KEYS[key].default

    def flag(self, key: str) -> bool:
        text = self.text(key)
        if text.lower() not in ("true", "false"):
            self.refuse(key, f"{shown(text)} is neither true nor false")
        return text.lower() == "true"

    def whole(self, key: str) -> int:
        text, least, most = self.text(key), int(KEYS[key].least), int(KEYS[key].most)
        if not (_WHOLE.fullmatch(text) and least <= int(text) <= most):
            self.refuse(key, f"{shown(text)} is not a whole number of {least} to {most}")
            return max(least, 1)
        return int(text)

    def number(self, key: str) -> float:
        text, least, most = self.text(key), KEYS[key].least, KEYS[key].most
        if not (_NUMBER.fullmatch(text) and least <= float(text) <= most):
            self.refuse(key, f"{shown(text)} is not a number of {least:g} to {most:g}")
            return max(least, 1.0) if most > 1 else most
        return float(text)

    def port(self, key: str, text: str) -> int:
        if not (re.fullmatch(r"[0-9]{1,5}", text) and 1 <= int(text) < 65536):
            self.refuse(key, f"{shown(text)} is not a port")
            return 1
        return int(text)

    def shares(self, key: str, counts: tuple[int, int]) -> tuple[float, ...]:
        """So many, with colons between them; fewer are filled up with 0."""
        text = self.text(key)
        parts = [part.strip() for part in text.split(":")]
        shares = tuple(float(part) for part in parts) if all(map(_NUMBER.fullmatch, parts)) else ()
        if not counts[0] <= len(shares) <= counts[1] or any(not 0 <= s <= SHARE_MAX for s in shares) or not any(shares):
            numbers = f"{counts[0]} to {counts[1]} numbers like 1:0:2"
            self.refuse(key, f"{shown(text)} is not {numbers}, of 0 to {SHARE_MAX:g} and one of them above 0")
            shares = (1.0,)
        return (*shares, *(0.0,) * (counts[1] - len(shares)))

    def refuse(self, key: str, why: str, remedy: str = "") -> None:
        self._mistakes.append(f"{key}: {why}" + (f"; {remedy}" if remedy else ""))

    def check_keys(self) -> list[str]:
        """Reads every value. Returns a sentence for each key without an effect."""
        notes = []
        for name, value in self._values.items():
            key = KEYS.get(name)
            if key is None:
                near = get_close_matches(name, KEYS, n=1, cutoff=0.7)
                what = shown(self._written[name], quoted=False)
                self.refuse(what, "unknown key", f"is it {KEYS[near[0]].name}?" if near else "leave it out")
            elif not value.isprintable():
                self.refuse(key.name, f"{shown(value)} has a character that cannot be shown")
            elif key.how == "only" and value.lower() not in ("", key.default):
                self.refuse(key.name, f"{shown(value)}: {key.why}", key.remedy)
            elif key.how == "idle" and value:
                notes.append(f"{key.name} has no effect: {key.why}")
            if key and key.how in ("flag", "whole", "number"):
                if value:
                    {"flag": self.flag, "whole": self.whole, "number": self.number}[key.how](name)
                elif key.default:
                    self.refuse(key.name, "has no value", f"leave the key out for its default, {key.default}")
        return notes

    def raise_any(self) -> None:
        """Raises UsageError."""
        if self._mistakes:
            raise UsageError("\n".join(dict.fromkeys(self._mistakes)), remedy="docs/iot-benchmark.md has every key")


_LINE = re.compile(r"((?:\\.|[^\\=:\s])+)\s*[=:]?\s*(.*)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)


def read_properties(text: str) -> dict[str, str]:
    """The last value of each key. Comments begin with # or !; a backslash at the end continues a line."""
    values: dict[str, str] = {}
    for line in _logical_lines(text):
        match = _LINE.fullmatch(line)
        if match:
            values[_plain(match.group(1))] = _plain(match.group(2)).strip()
    return values


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    continued = False
    for line in text.splitlines():
        part = line.lstrip()
        if not continued and (not part or part[0] in "#!"):
            continue
        ends = (len(part) - len(part.rstrip("\\"))) % 2 == 1
        part = part[:-1] if ends else part
        if continued:
            lines[-1] += part
        else:
            lines.append(part)
        continued = ends
    return lines


def _plain(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        word = match.group(1)
        if len(word) > 1:
            return chr(int(word[1:], 16))
        return _ESCAPES.get(word, word)

    return _ESCAPE.sub(one, text)
