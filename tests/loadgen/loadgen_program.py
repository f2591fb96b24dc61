"""What the tests of the load generator share: specs as text, and the events of one run."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any, Self

HOW_TO_BUILD = (
    "scale-loadgen not found. Build it: "
    "cmake -S loadgen -B build/loadgen && cmake --build build/loadgen, "
    "then SCALE_LOADGEN=build/loadgen/scale-loadgen, or pip install ."
)

Event = dict[str, Any]
Spec = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one run of the program left behind."""

    code: int
    events: list[Event]
    stderr: str

    def of(self, event: str) -> list[Event]:
        return [e for e in self.events if e["event"] == event]

    def one(self, event: str) -> Event:
        (found,) = self.of(event)
        return found

    @property
    def summary(self) -> Event:
        return self.one("summary")


@dataclass(frozen=True)
class MadeRow:
    """A row that the null driver dumped. at: its time, in the precision of the spec."""

    table: int
    at: int
    values: list[Any]

    @classmethod
    def read(cls, line: str, columns: str) -> Self:
        table, _, at, *cells = line.split(",")
        kinds = (column.partition(":")[2] for column in columns.split(","))
        return cls(int(table), int(at), [value_of(kind, cell) for kind, cell in zip(kinds, cells, strict=True)])


def value_of(kind: str, cell: str) -> Any:
    """A cell of a dump; a Boolean is 0 or 1."""
    if cell == "NULL":
        return None
    if kind == "float":
        return float32(float(cell))
    return cell if "(" in kind else float(cell) if kind == "double" else int(cell)


def float32(value: float | None) -> float | None:
    """The value as a float of 32 bits holds it."""
    return None if value is None else struct.unpack("f", struct.pack("f", value))[0]


def spec_text(spec: Spec) -> str:
    return "".join(f"{key}={value}\n" for key, value in spec.items())


def parse(code: int, stdout: str, stderr: str) -> Outcome:
    lines = [line for line in stdout.splitlines() if line]
    return Outcome(code=code, events=[json.loads(line) for line in lines], stderr=stderr)
