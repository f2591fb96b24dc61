"""The load generator's other verbs: SQL statements through a driver, tables made before the load, sums of the rows that
it makes, and the client library that a driver opens."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, MutableSet, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from scale_sweep.base.errors import LoadError, TargetError
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.spec import spec_text

SQL_S = 120.0
TABLES_S = 900.0
Children = MutableSet[subprocess.Popen[str]]  # the running ones; a caller that needs no more answers kills them


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to one statement."""

    ok: bool
    rows: tuple[tuple[Any, ...], ...]
    affected: int | None
    # code, message: the server's; "" if it succeeded
    code: str
    message: str


def run_statements(
    program: str,
    spec: Mapping[str, str],
    statements: Sequence[str],
    secret: str,
    limit_s: float = SQL_S,
    children: Children | None = None,
) -> tuple[Answer, ...]:
    """One answer for each statement. Raises LoadError if the driver is missing, TargetError if it cannot connect."""
    text = "".join(s.replace("\n", " ") + "\n" for s in statements)
    lines = run_verb(program, "sql", spec, text, secret, limit_s, children)
    answers = [_answer(line) for line in lines if line.get("event") == "result"]
    if len(answers) != len(statements):
        raise TargetError(f"{len(answers)} answers to {len(statements)} statements")
    return tuple(answers)


def create_tables(
    program: str, spec: Mapping[str, str], secret: str, limit_s: float = TABLES_S, children: Children | None = None
) -> None:
    """Creates all tables of the spec, as the driver names and places them. Raises LoadError or TargetError."""
    run_verb(program, "tables", spec, "", secret, limit_s, children)


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
    program: str,
    verb: str,
    spec: Mapping[str, str],
    text: str,
    secret: str,
    limit_s: float,
    children: Children | None = None,
) -> list[dict[str, Any]]:
    """The events that a verb of the load generator prints. Raises LoadError (no driver), TargetError (no connection).

    children: contains the process while it runs.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TAOS_")} | {"SCALE_PASSWORD": secret}
    with tempfile.NamedTemporaryFile("w", suffix=".spec", encoding="utf-8") as file:
        file.write(spec_text(spec))
        file.flush()
        process = subprocess.Popen(
            [program, verb, file.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",  # a server's texts may be in any encoding, or cut
            env=environment,
        )
        with process, _kept(process, children):
            try:
                output, words = process.communicate(text, timeout=limit_s)
            except subprocess.TimeoutExpired:
                question = f" to {text.splitlines()[0][:80]!r}" if text else ""
                who = spec.get("driver", "the server")
                raise TargetError(
                    f"no answer{question} of {who} within {limit_s:.0f} s (scale-loadgen {verb})"
                ) from None
    if process.returncode not in (0, 6):
        last = " ".join(line.removeprefix("scale-loadgen: ") for line in words.strip().splitlines()[-4:])
        kind = TargetError if process.returncode in (4, 5) else LoadError
        raise kind(f"scale-loadgen {verb}: {last or f'ended with code {process.returncode}'}")
    return [json.loads(line) for line in output.split("\n") if line.strip()]


@contextmanager
def _kept(process: subprocess.Popen[str], children: Children | None) -> Iterator[None]:
    kept: Children = set() if children is None else children
    kept.add(process)
    try:
        yield
    finally:
        kept.discard(process)
        process.kill()  # does nothing to one that has ended


SUMS_S = 300.0
TableRun = tuple[int, ...]  # first table, number of tables, rows of each


def sums_of(
    program: str, spec: Mapping[str, str], groups: Sequence[Sequence[TableRun]], *, decimal: bool, distinct: bool
) -> Sequence[Mapping[str, Any]]:
    """The sums of each group of tables, over their first rows. Connects to nothing. Raises LoadError.

    decimal: a float counts as the decimal that texts have for it. distinct: of rows with the same time one counts.
    """
    groups_text = ";".join(",".join(_item(run) for run in group) for group in groups)
    more = {"sums_of": groups_text, "sums_decimal": str(int(decimal)), "sums_distinct": str(int(distinct))}
    lines = run_verb(program, "sums", {**spec, **more}, "", "", SUMS_S)
    events = [line for line in lines if line.get("event") == "sums"]
    if len(events) != len(groups):
        raise LoadError(f"{len(events)} answers of the load generator to {len(groups)} questions for sums")
    return events


def _item(run: TableRun) -> str:
    first, tables, rows = run
    return f"{first}-{first + tables - 1}:0:{rows}"


LIBRARY_S = 20.0


@dataclass(frozen=True, kw_only=True)
class ClientLibrary:
    """The opened file and the version that it reports; "" if it reports none."""

    path: str
    version: str


def client_library(driver: str, wanted: str) -> ClientLibrary:
    """The library at `wanted`, else ("") the usual one. Raises LoadError that names the missing file or symbol."""
    spec = {"protocol": "1", "driver": driver, **({"library": wanted} if wanted else {})}
    answer = run_verb(loadgen_path(), "library", spec, "", "", LIBRARY_S)[-1]
    return ClientLibrary(path=str(answer.get("library") or ""), version=str(answer.get("library_version") or ""))
