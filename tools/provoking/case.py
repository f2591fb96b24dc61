"""One provocation as a value: a command line, the files that it finds, and how it has to end. Plain data, so that the
process that makes cases can hand them to those that run them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Case:
    """One command and the files around it.

    name: what repeats it (tools/provoke.py --case NAME). words: the command line behind `scale`; a byte that is no
    text is a surrogate, as in sys.argv. files: made in this order in the empty working directory (see files.py).
    exits: the exit codes that are right, () for every documented one. says: texts that the output must contain.
    writes: the command may make or change files in its working directory.
    """

    name: str
    words: tuple[str, ...]
    files: tuple[Mapping[str, Any], ...] = ()
    stdin: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    exits: tuple[int, ...] = ()
    says: tuple[str, ...] = ()
    writes: bool = False


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a case ended. code: the exit code; negative: the number of the signal that killed it. stack: where it stood
    when its time was over. left: what it left behind, in words. broken: why the case could not be run at all."""

    code: int = 0
    out: str = ""
    err: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    over_time: bool = False
    stack: str = ""
    left: tuple[str, ...] = ()
    broken: str = ""


def to_line(value: Case | Outcome) -> str:
    """One line of JSON."""
    return json.dumps(asdict(value)) + "\n"


def case_of(line: str) -> Case:
    """The case that to_line wrote."""
    raw = json.loads(line)
    tuples = {name: tuple(raw.pop(name)) for name in ("words", "files", "exits", "says")}
    return Case(**tuples, **raw)


def outcome_of(line: str) -> Outcome:
    """The outcome that to_line wrote."""
    raw = json.loads(line)
    return Outcome(**{**raw, "left": tuple(raw["left"])})


def encoded(content: bytes) -> str:
    """Bytes as a value of JSON."""
    return base64.b64encode(content).decode()
