"""The load core's other verbs: SQL statements through a driver, and tables made before the clock starts.

For databases whose client library we do not want inside the runner: a crash in it ends one call, not the sweep.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.errors import LoadError, TargetError
from runner.loadgen.spec import spec_text

SQL_S = 120.0
TABLES_S = 900.0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one statement returned. code and message are the server's, "" when it succeeded."""

    ok: bool
    rows: tuple[tuple[Any, ...], ...]
    affected: int | None
    code: str
    message: str


def run_statements(
    program: str, spec: Mapping[str, str], statements: Sequence[str], secret: str, limit_s: float = SQL_S
) -> tuple[Answer, ...]:
    """One answer per statement. Raises LoadError when the driver is not there, TargetError when it cannot connect."""
    lines = run_verb(program, "sql", spec, "".join(s.replace("\n", " ") + "\n" for s in statements), secret, limit_s)
    answers = [_answer(line) for line in lines if line.get("event") == "result"]
    if len(answers) != len(statements):
        raise TargetError(f"{len(answers)} answers to {len(statements)} statements")
    return tuple(answers)


def create_tables(program: str, spec: Mapping[str, str], secret: str, limit_s: float = TABLES_S) -> None:
    """All tables of the spec, as the driver names and places them. Raises LoadError or TargetError."""
    run_verb(program, "tables", spec, "", secret, limit_s)


def _answer(line: Mapping[str, Any]) -> Answer:
    ok = bool(line["ok"])
    return Answer(
        ok=ok,
        rows=tuple(tuple(r) for r in line.get("rows") or ()),
        affected=line.get("affected"),
        code="" if ok else str(line.get("code")),
        message="" if ok else str(line.get("message")),
    )


def run_verb(
    program: str, verb: str, spec: Mapping[str, str], text: str, secret: str, limit_s: float
) -> list[dict[str, Any]]:
    """The events that a verb of the load core prints. Raises LoadError (no driver), TargetError (no connection)."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TAOS_")} | {"SCALE_PASSWORD": secret}
    with tempfile.NamedTemporaryFile("w", suffix=".spec", encoding="utf-8") as file:
        file.write(spec_text(spec))
        file.flush()
        try:
            done = subprocess.run(
                [program, verb, file.name],
                input=text,
                capture_output=True,
                encoding="utf-8",
                errors="replace",  # words of a server may be in any encoding, or cut
                env=environment,
                timeout=limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            asked = f" to {text.splitlines()[0][:80]!r}" if text else ""
            raise TargetError(
                f"no answer{asked} of {spec.get('driver', 'the server')} within {limit_s:.0f} s (scale-loadgen {verb})"
            ) from None
    if done.returncode not in (0, 6):
        words = " ".join(line.removeprefix("scale-loadgen: ") for line in done.stderr.strip().splitlines()[-4:])
        kind = TargetError if done.returncode in (4, 5) else LoadError
        raise kind(f"scale-loadgen {verb}: {words or f'ended with code {done.returncode}'}")
    return [json.loads(line) for line in done.stdout.split("\n") if line.strip()]
