"""The steps of a page: each command of a `console` block, and the `text` block that follows with its output.

A command without such a block is no step; tests/unit/test_docs_commands.py parses it.
Refuses nothing and starts nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"
README = ROOT / "README.md"
STEP = re.compile(r"^```console\n\$ (?P<command>scale [^\n]+)\n```\n+```text\n(?P<output>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Step:
    """command: as a user types it. output: the lines that the page shows."""

    command: str
    output: tuple[str, ...]


def steps_of(text: str) -> list[Step]:
    """In the order of the page."""
    return [Step(found["command"], tuple(found["output"].splitlines())) for found in STEP.finditer(text)]


def with_outputs(text: str, outputs: dict[str, str]) -> str:
    """The page with new outputs, by command. A command without one keeps the output that it has."""

    def written(found: re.Match[str]) -> str:
        new = outputs.get(found["command"])
        return found[0] if new is None else found[0].replace(found["output"], new.rstrip("\n") + "\n")

    return STEP.sub(written, text)
