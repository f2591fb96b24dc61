"""Reads a JSON object key by key: checks types, names the path of a key in each message, and refuses unknown keys."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.base.texts import odd_character, shortened
from scale_sweep.taosbenchmark.job import Refusals
from scale_sweep.taosbenchmark.limits import whole

BYTES_MAX = 4 * 2**20
_LINES = "\t\r\n"  # a statement may have several


def load_document(raw: bytes) -> dict[str, Any]:
    """The JSON object of a file. Raises ValueError with one sentence."""
    if len(raw) > BYTES_MAX:
        raise ValueError(f"has {len(raw)} bytes; {BYTES_MAX} at most")
    try:
        document = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"is no UTF-8 text: {error.reason} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(document, dict):
        raise ValueError("should hold one JSON object")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"the key {shortened(repr(key))} is given twice in one object")
        for text in (key, *(one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str))):
            if what := odd_character(text, _LINES if key == "sql" else ""):
                raise ValueError(f"{shortened(repr(key))}: {shortened(repr(text))} has {what}")
        values[key] = value
    return values


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


class ObjectReader:
    """One object of the document. `finish` refuses the keys that were never read."""

    def __init__(self, path: str, values: Mapping[str, Any], refusals: Refusals) -> None:
        self.path, self._values, self.refusals = path, values, refusals
        self._read: set[str] = set()
        self.idle: list[tuple[str, str]] = []

    def name(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        return key in self._values

    def refuse(self, key: str, why: str) -> None:
        self._read.add(key)
        self.refusals.add(self.name(key), why)

    def text(self, key: str, default: str) -> str:
        value = self._take(key, default)
        if not isinstance(value, str):
            self.refuse(key, f"{_shown(value)} should be text")
            return default
        return value

    def choice(self, key: str, default: str, choices: Sequence[str]) -> str:
        value = self.text(key, default)
        if value.lower() not in choices:
            self.refuse(key, f"{value!r} is none of {', '.join(choices)}")
            return default
        return value.lower()

    def is_yes(self, key: str, default: str) -> bool:
        return self.choice(key, default, ("yes", "no")) == "yes"

    def number(self, key: str, default: int, bounds_name: str) -> int:
        value = self._take(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse(key, f"{_shown(value)} should be a whole number")
            return default
        if not self.has(key):
            return value
        try:
            return whole(str(value), bounds_name)
        except ValueError as error:
            self.refuse(key, str(error))
            return default

    def value(self, key: str, default: Any) -> Any:
        return self._take(key, default)

    def objects(self, key: str) -> list[ObjectReader]:
        value = self._take(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self.refuse(key, "should be an array of objects")
            return []
        return [ObjectReader(f"{self.name(key)}[{i}]", v, self.refusals) for i, v in enumerate(value)]

    def object(self, key: str) -> ObjectReader:
        """An object; an empty one if the key is missing."""
        value = self._take(key, {})
        if not isinstance(value, dict):
            self.refuse(key, "should be an object")
            value = {}
        return ObjectReader(self.name(key), value, self.refusals)

    def only(self, key: str, neutral: Sequence[Any], why: str) -> None:
        if self.has(key) and self._take(key, None) not in neutral:
            self.refuse(key, f"{_shown(self._values[key])}: {why}")

    def unused(self, key: str, why: str) -> None:
        """Accepts a key without effect; a note names it."""
        if self.has(key):
            self._read.add(key)
            self.idle.append((self.name(key), why))

    def rest(self) -> list[str]:
        """Keys that were not read yet, in their order. They count as read afterwards."""
        left = [key for key in self._values if key not in self._read]
        self._read.update(left)
        return left

    def finish(self) -> None:
        """Refuses every key that was not read."""
        for key in self.rest():
            self.refusals.add(self.name(key), "is not known to scale load (taosBenchmark would ignore it in silence)")

    def _take(self, key: str, default: Any) -> Any:
        self._read.add(key)
        return self._values.get(key, default)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."
