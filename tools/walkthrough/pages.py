"""The command lines of a page, and its steps: a command of a `console` block with the `text` block of its output.

A command without such a block is no step; tests/unit/test_docs.py parses it, and unshown.py lists those that
are run without a comparison. Refuses nothing and starts nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"
README = ROOT / "README.md"
COMMANDS = ROOT / "docs" / "commands.md"
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(?:\.venv/bin/)?(scale [^`]+)`")
SHELL = {"", "sh", "shell", "bash", "console", "text"}
ENDS_AT = re.compile(r"\s#\s|[|>&]|;\s")  # a comment, a pipe, a redirection, the next command
STEP = re.compile(r"^```console\n\$ (?P<command>scale [^\n]+)\n```\n+```text\n(?P<output>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Step:
    """command: as a user types it. output: the lines that the page shows."""

    command: str
    output: tuple[str, ...]


def command_lines(page: str) -> list[str]:
    """Command lines of a page, without prompts and variables: of shell blocks, continued lines joined, and inline."""
    found = []
    for kind, block in BLOCK.findall(page):
        if kind in SHELL:
            for line in re.sub(r"\\\n\s*", " ", block).splitlines():
                bare = re.sub(r"^\s*[$#]\s+", "", line).strip()
                bare = re.sub(r"^(?:sudo |[A-Z_]+=\S+ |\.venv/bin/)*", "", bare)
                if bare.startswith("scale ") and "..." not in bare and "<" not in bare:
                    found.append(ENDS_AT.split(bare, maxsplit=1)[0].strip())
    written = [" ".join(line.split()) for line in INLINE.findall(BLOCK.sub("", page))]
    inline = [line if "|" in line else ENDS_AT.split(line, maxsplit=1)[0].strip() for line in written]
    return found + [line for line in inline if not any(mark in line for mark in ("...", "<", "|"))]


def steps_of(text: str) -> list[Step]:
    """In the order of the page."""
    return [Step(found["command"], tuple(found["output"].splitlines())) for found in STEP.finditer(text)]


def with_outputs(text: str, outputs: dict[str, str]) -> str:
    """The page with new outputs, by command. A command without one keeps the output that it has."""

    def written(found: re.Match[str]) -> str:
        new = outputs.get(found["command"])
        return found[0] if new is None else found[0].replace(found["output"], new.rstrip("\n") + "\n")

    return STEP.sub(written, text)
