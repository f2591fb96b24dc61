"""What the tests of the load generator share: specs as text, and the events of one run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

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


def spec_text(spec: Spec) -> str:
    return "".join(f"{key}={value}\n" for key, value in spec.items())


def parse(code: int, stdout: str, stderr: str) -> Outcome:
    lines = [line for line in stdout.splitlines() if line]
    return Outcome(code=code, events=[json.loads(line) for line in lines], stderr=stderr)
