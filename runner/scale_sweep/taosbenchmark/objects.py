"""Reads a JSON object of taosBenchmark key by key: checks types, and refuses unknown keys."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.base.input_file import read_input
from scale_sweep.base.texts import odd_character, shortened
from scale_sweep.taosbenchmark.job import Connection, Remarks, ScaleOptions
from scale_sweep.taosbenchmark.keys import KEYS, NEEDS
from scale_sweep.taosbenchmark.limits import plain_name, whole

BYTES_MAX = 4 * 2**20
_LINES = "\t\r\n"  # a statement may have several


def read_document(path: str) -> dict[str, Any]:
    """Raises UsageError."""
    try:
        return load_document(read_input(path, "-f", BYTES_MAX))
    except ValueError as error:
        raise UsageError(f"-f {path}: {error}") from None


def load_document(raw: bytes) -> dict[str, Any]:
    """Raises ValueError with one sentence."""
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
    names = set()
    for key, value in pairs:
        if key.lower() in names:
            raise ValueError(f"the key {shortened(repr(key))} is given twice in one object")
        for text in (key, *(one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str))):
            if what := odd_character(text, _LINES if key.lower() == "sql" else ""):
                raise ValueError(f"{shortened(repr(key))}: {shortened(repr(text))} has {what}")
        values[key] = value
        names.add(key.lower())
    return values


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


class ObjectReader:
    """Names of keys are compared without case, and null is no value, as in taosBenchmark."""

    def __init__(self, path: str, values: Mapping[str, Any], remarks: Remarks) -> None:
        self.path, self.remarks = path, remarks
        self._values = {key.lower(): value for key, value in values.items() if value is not None}
        self._written = {key.lower(): key for key in values}
        self._read: set[str] = set()

    def name(self, key: str) -> str:
        written = self._written.get(key.lower(), key)
        return f"{self.path}.{written}" if self.path else written

    def has(self, key: str) -> bool:
        return key.lower() in self._values

    def refuse(self, key: str, why: str) -> None:
        self._read.add(key.lower())
        self.remarks.refuse(self.name(key), why)

    def read(self, *places: str, without: Collection[str] = ()) -> dict[str, Any]:
        """Reads all keys that have a row in the table, by the names there. without: what the object lacks of NEEDS."""
        values: dict[str, Any] = {}
        for key in (key for place in places for key in KEYS[place]):
            if key.how == "text":
                values[key.name] = self.text(key.name, key.default)
            elif key.how == "number":
                values[key.name] = self.number(key.name, key.default, key.bounds)
            elif key.how == "choice":
                values[key.name] = self.choice(key.name, key.choices)
            elif key.how == "yes":
                values[key.name] = self.choice(key.name, ("yes", "no"), key.default) == "yes"
            elif self.has(key.name) and self.value(key.name) not in key.neutral:
                if key.how == "idle" or key.needs in without:
                    self.unused(key.name, NEEDS.get(key.needs, key.why))
                else:
                    shown = f"{_shown(self.value(key.name))}: " if key.how == "only" else ""
                    self.refuse(key.name, shown + key.why)
        return values

    def value(self, key: str, default: Any = None) -> Any:
        self._read.add(key.lower())
        return self._values.get(key.lower(), default)

    def text(self, key: str, default: str = "") -> str:
        value = self.value(key, default)
        if not isinstance(value, str):
            self.refuse(key, f"{_shown(value)} should be text")
            return default
        return value

    def choice(self, key: str, choices: Sequence[str], default: str = "") -> str:
        """default: "" for the first one."""
        value = self.text(key, default or choices[0])
        if value.lower() not in choices:
            self.refuse(key, f"{value!r} is none of {', '.join(choices)}")
            return default or choices[0]
        return value.lower()

    def number(self, key: str, default: int, bounds: str) -> int:
        value = self.value(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse(key, f"{_shown(value)} should be a whole number")
            return default
        if not self.has(key):
            return value
        try:
            return whole(str(value), bounds)
        except ValueError as error:
            self.refuse(key, str(error))
            return default

    def plain_name(self, key: str, most: int, otherwise: str, *, keep_case: bool = False) -> str:
        try:
            return plain_name(self.text(key), most, keep_case=keep_case)
        except ValueError as error:
            self.refuse(key, str(error))
            return otherwise

    def objects(self, key: str) -> list[ObjectReader]:
        value = self.value(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self.refuse(key, "should be an array of objects")
            return []
        return [ObjectReader(f"{self.name(key)}[{i}]", v, self.remarks) for i, v in enumerate(value)]

    def object(self, key: str) -> ObjectReader:
        value = self.value(key, {})
        if not isinstance(value, dict):
            self.refuse(key, "should be an object")
            value = {}
        return ObjectReader(self.name(key), value, self.remarks)

    def unused(self, key: str, why: str) -> None:
        if self.has(key):
            self._read.add(key.lower())
            self.remarks.idle.append((self.name(key), why))

    def rest(self) -> list[str]:
        """Keys that were not read yet; they count as read afterwards."""
        left = [key for key in self._values if key not in self._read]
        self._read.update(left)
        return left

    def finish(self) -> None:
        """Refuses every key that was not read."""
        for key in self.rest():
            self.refuse(key, "is not supported by scale load")


def mapped(successor: str, *names: str) -> str:
    are, they = ("is", "it is") if len(names) == 1 else ("are", "they are")
    return f"{' and '.join(names)} {are} of version 2: {they} taken as {successor}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


@dataclass(frozen=True, kw_only=True)
class Invocation:
    options: Mapping[str, str]  # those beside -f
    client: Mapping[str, str]  # host and port of the client's configuration
    own: ScaleOptions
    now: datetime
    password: str  # overrules the file's


def read_connection(keys: ObjectReader, around: Invocation, usual_port: int) -> Connection:
    """From the file, the options beside it and the client's configuration."""
    options, text = around.options, around.options.get("port", "")
    for key in ("host", "port", "user", "password"):
        if key in options and keys.has(key):
            keys.remarks.refuse(f"--{key}", "is in the file too; give it once")
    values = keys.read("connection")
    is_port = text.isdecimal() and 1 <= int(text) <= 65_535
    if text and not is_port:
        keys.remarks.refuse("-P (--port)", f"{text!r} is not a port")
    return Connection(
        host=options.get("host") or values["host"] or around.client.get("host") or "localhost",
        port=int(text) if is_port else values["port"] or usual_port,
        user=options.get("user") or values["user"],
        password=around.password or values["password"] or "taosdata",
        result_file=options.get("output") or values["result_file"],
        notes=keys.remarks.all_notes(),
    )
