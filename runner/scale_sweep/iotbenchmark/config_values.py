"""A properties file of IoT-benchmark: its keys and values, each read by the kind and the bounds of its key."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from difflib import get_close_matches

from scale_sweep.base.errors import UsageError
from scale_sweep.iotbenchmark.keys import INEFFECTIVE, ONLY, USED

_KNOWN = (*USED, *ONLY, *INEFFECTIVE)
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,3})?")
_SHOWN_MAX = 60


def shown(text: str, *, quoted: bool = True) -> str:
    """A value of the file as a message repeats it."""
    part = text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
    return repr(part) if quoted or not part.isprintable() else part


class ConfigValues:
    """Keys and values of a file. Every reader returns a value that can be worked with, and notes a mistake."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self._mistakes: list[str] = []

    def says(self, key: str) -> bool:
        return bool(self._values.get(key))

    def text(self, key: str) -> str:
        """As it is written, or the default."""
        return self._values.get(key) or USED[key]

    def flag(self, key: str) -> bool:
        """True or false, in any case."""
        text = self.text(key)
        if text.lower() not in ("true", "false"):
            self.refuse(key, f"{shown(text)} is neither true nor false")
        return text.lower() == "true"

    def whole(self, key: str) -> int:
        text, (least, most) = self.text(key), WHOLE[key]
        if not (_WHOLE.fullmatch(text) and least <= int(text) <= most):
            self.refuse(key, f"{shown(text)} is not a whole number of {least} to {most}")
            return max(least, 1)
        return int(text)

    def number(self, key: str) -> float:
        text, (least, most) = self.text(key), NUMBERS[key]
        if not (_NUMBER.fullmatch(text) and least <= float(text) <= most):
            self.refuse(key, f"{shown(text)} is not a number of {least:g} to {most:g}")
            return max(least, 1.0) if most > 1 else most
        return float(text)

    def shares(self, key: str, counts: tuple[int, int]) -> tuple[float, ...]:
        """Numbers with colons between them, so many; fewer are filled up with 0."""
        text = self.text(key)
        parts = [part.strip() for part in text.split(":")]
        shares = tuple(float(part) for part in parts) if all(map(_NUMBER.fullmatch, parts)) else ()
        if not counts[0] <= len(shares) <= counts[1] or any(not 0 <= s <= SHARE_MAX for s in shares) or not any(shares):
            numbers = f"{counts[0]} to {counts[1]} numbers like 1:0:2"
            self.refuse(key, f"{shown(text)} is not {numbers}, of 0 to {SHARE_MAX:g} and one of them above 0")
            shares = (1.0,)
        return (*shares, *(0.0,) * (counts[1] - len(shares)))

    def refuse(self, key: str, why: str, remedy: str = "") -> None:
        """Notes a mistake."""
        self._mistakes.append(f"{key}: {why}" + (f"; {remedy}" if remedy else ""))

    def check_keys(self) -> list[str]:
        """Refuses unknown keys and values that are not to be had; returns a sentence for each key without an effect."""
        notes = []
        for key, value in self._values.items():
            if key not in _KNOWN:
                near = get_close_matches(key, _KNOWN, n=1, cutoff=0.7)
                self.refuse(shown(key, quoted=False), "unknown key", f"is it {near[0]}?" if near else "leave it out")
            elif not value.isprintable():
                self.refuse(key, f"{shown(value)} has a character that cannot be shown")
            elif key in ONLY and value.lower() not in ("", ONLY[key].value):
                self.refuse(key, f"{shown(value)}: {ONLY[key].why}", ONLY[key].remedy)
            elif key in INEFFECTIVE and value:
                notes.append(f"{key} has no effect: {INEFFECTIVE[key]}")
            self._check_value(key, value)
        return notes

    def _check_value(self, key: str, value: str) -> None:
        kinds: tuple[tuple[Container[str], Callable[[str], object]], ...] = (
            (FLAGS, self.flag),
            (WHOLE, self.whole),
            (NUMBERS, self.number),
        )
        for keys, read in kinds:
            if key in keys and value:
                read(key)
            elif key in keys and USED[key]:
                self.refuse(key, "has no value", f"leave the key out for its default, {USED[key]}")

    def raise_any(self) -> None:
        """Raises UsageError with all mistakes, one a line."""
        if self._mistakes:
            raise UsageError("\n".join(dict.fromkeys(self._mistakes)), remedy="docs/iot-benchmark.md has every key")


_MANY = 10**12
_MS = 10**10  # nearly four months
_SEED = 9 * 10**15

FLAGS = (
    "IS_DELETE_DATA",
    "CREATE_SCHEMA",
    "IS_CLIENT_BIND",
    "OP_MIN_INTERVAL_RANDOM",
    "IS_OUT_OF_ORDER",
    "IS_RECENT_QUERY",
)
WHOLE: Mapping[str, tuple[int, int]] = {
    "LOOP": (1, _MANY),
    "TEST_MAX_TIME": (0, _MS),
    "DEVICE_NUMBER": (1, 100_000_000),
    "SENSOR_NUMBER": (1, 4096),
    "DATA_CLIENT_NUMBER": (1, 4096),
    "CLIENT_NUMBER": (1, 4096),
    "POINT_STEP": (1, 10**9),
    "OP_MIN_INTERVAL": (-1, _MS),
    "INTERVAL_BETWEEN_WRITE_BATCH": (0, _MS),
    "STRING_LENGTH": (1, 65_517),
    "DOUBLE_LENGTH": (0, 5),
    "DATA_SEED": (0, _SEED),
    "WRITE_OPERATION_TIMEOUT_MS": (0, _MS),
    "READ_OPERATION_TIMEOUT_MS": (0, _MS),
    "BATCH_SIZE_PER_WRITE": (1, 1_000_000),
    "DEVICE_NUM_PER_WRITE": (1, 1_000_000),
    "MAX_K": (1, 10**9),
    "STEP_SIZE": (0, _MANY),
    "QUERY_SENSOR_NUM": (1, 4096),
    "QUERY_DEVICE_NUM": (1, 100_000_000),
    "QUERY_SET_OP_NUM": (1, 4096),
    "QUERY_INTERVAL": (1, _MANY),
    "GROUP_BY_TIME_UNIT": (1, _MANY),
    "QUERY_SEED": (0, _SEED),
    "WORKLOAD_BUFFER_SIZE": (1, 10**9),
    "TAG_NUMBER": (0, 100),
}
NUMBERS: Mapping[str, tuple[float, float]] = {
    "REAL_INSERT_RATE": (0, 1),
    "LINE_RATIO": (0, 1e9),
    "SIN_RATIO": (0, 1e9),
    "SQUARE_RATIO": (0, 1e9),
    "RANDOM_RATIO": (0, 1e9),
    "CONSTANT_RATIO": (0, 1e9),
    "OUT_OF_ORDER_RATIO": (0, 1),
    "LAMBDA": (0.001, 1e6),
    "QUERY_LOWER_VALUE": (-1e300, 1e300),
}
SHARE_MAX = 1e9
ROWS_MAX = REQUESTS_MAX = 10**15
ROWS_OF_REQUEST_MAX = 1_000_000
RATE_MAX = 1e12


_LINE = re.compile(r"((?:\\.|[^\\=:\s])+)\s*[=:]?\s*(.*)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)


def read_properties(text: str) -> dict[str, str]:
    """The last value of each key. Comments begin with # or !; a backslash at its end continues a line."""
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
