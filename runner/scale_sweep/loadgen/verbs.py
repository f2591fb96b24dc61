"""The load generator's other verbs: statements, tables, rows as they are sent, sums, names, client libraries."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, MutableSet, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from scale_sweep.base.errors import LoadError, TargetError
from scale_sweep.experiment.work.answers import Stretch
from scale_sweep.experiment.work.columns import TableRows
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.spec import spec_text

SQL_S = 120.0
TABLES_S = 900.0
Children = MutableSet[subprocess.Popen[str]]  # the running ones; a caller that needs no more answers kills them


@dataclass(frozen=True, kw_only=True)
class Answer:
    ok: bool
    rows: tuple[tuple[Any, ...], ...]
    affected: int | None
    code: str  # code, message: the server's; "" if it succeeded
    message: str


def run_statements(
    program: str,
    spec: Mapping[str, str],
    statements: Sequence[str],
    secret: str,
    limit_s: float = SQL_S,
    children: Children | None = None,
) -> tuple[Answer, ...]:
    """One answer each. Raises LoadError (no driver), TargetError (no connection)."""
    text = "".join(s.replace("\n", " ") + "\n" for s in statements)
    lines = run_verb(program, "sql", spec, text, secret, limit_s, children)
    answers = [_answer(line) for line in lines if line.get("event") == "result"]
    if len(answers) != len(statements):
        raise TargetError(f"{len(answers)} answers to {len(statements)} statements")
    return tuple(answers)


def create_tables(
    program: str, spec: Mapping[str, str], secret: str, limit_s: float = TABLES_S, children: Children | None = None
) -> None:
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
    """Raises LoadError (no driver), TargetError (no connection). children: contains the process while it runs."""
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
    """decimal: a float counts as its decimal in texts. distinct: of rows with the same time one counts."""
    groups_text = ";".join(",".join(_item(run) for run in group) for group in groups)
    more = {"sums_of": groups_text, "sums_decimal": str(int(decimal)), "sums_distinct": str(int(distinct))}
    return _answers(program, "sums", {**spec, **more}, len(groups), SUMS_S)


def _answers(program: str, verb: str, spec: Mapping[str, str], count: int, limit_s: float) -> list[dict[str, Any]]:
    events = [line for line in run_verb(program, verb, spec, "", "", limit_s) if line.get("event") == verb]
    if len(events) != count:
        raise LoadError(f"{len(events)} answers of the load generator to {count} questions for {verb}")
    return events


def _item(run: TableRun) -> str:
    first, tables, rows = run
    return f"{first}-{first + tables - 1}:0:{rows}"


LIBRARY_S = 20.0


@dataclass(frozen=True, kw_only=True)
class ClientLibrary:
    """ "" if it reports no version."""

    path: str
    version: str


def client_library(driver: str, wanted: str) -> ClientLibrary:
    """wanted: "" is the usual one. Raises LoadError that names what is missing."""
    spec = {"protocol": "1", "driver": driver, **({"library": wanted} if wanted else {})}
    answer = run_verb(loadgen_path(), "library", spec, "", "", LIBRARY_S)[-1]
    return ClientLibrary(path=str(answer.get("library") or ""), version=str(answer.get("library_version") or ""))


ROWS_S = 120.0
NAMES_S = 120.0
_WHOLE = ("tinyint", "smallint", "int", "bigint", "utinyint", "usmallint", "uint")
_FRACTIONS: Mapping[str, Any] = {"float": np.float32, "double": np.float64}
_LINE = 4000  # row ranges in one call, so that the spec stays short
VALUES_MAX = 500_000  # in one call


def rows_of(program: str, spec: Mapping[str, str], stretches: Sequence[Stretch]) -> list[TableRows]:
    types = {name: kind for name, _, kind in (c.partition(":") for c in spec["columns"].split(","))}
    parts: list[list[TableRows]] = [[] for _ in stretches]
    for pieces in _calls(stretches, max(1, VALUES_MAX // (len(types) + 1))):
        pieces_text = ",".join(f"{table}:{first}:{count}" for _, (table, first, count) in pieces)
        lines = _answers(program, "rows", {**spec, "rows_of": pieces_text}, len(pieces), ROWS_S)
        for (number, _), line in zip(pieces, lines, strict=True):
            parts[number].append(_rows(types, line["time_ms"], line["columns"]))
    return [_joined(types, part) for part in parts]


def _calls(stretches: Sequence[Stretch], most: int) -> Iterator[list[tuple[int, Stretch]]]:
    """A call has so many rows at most, because it answers in text, several times as large as the values."""
    call: list[tuple[int, Stretch]] = []
    left = most
    for number, (table, start, count) in enumerate(stretches):
        first, end = start, start + count
        while first < end:
            part = min(end - first, left)
            call.append((number, (table, first, part)))
            first, left = first + part, left - part
            if not left or len(call) == _LINE:
                yield call
                call, left = [], most
    if call:
        yield call


def _rows(types: Mapping[str, str], times: Sequence[int], columns: Mapping[str, Sequence[Any]]) -> TableRows:
    return TableRows(
        times=np.array(times, dtype=np.int64),
        columns={name: _column(types.get(name, ""), values) for name, values in columns.items()},
    )


def _joined(types: Mapping[str, str], parts: Sequence[TableRows]) -> TableRows:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return _rows(types, (), dict.fromkeys(types, ()))
    return TableRows(
        times=np.concatenate([part.times for part in parts]),
        columns={name: np.concatenate([part.columns[name] for part in parts]) for name in types},
    )


def _column(kind: str, values: Sequence[Any]) -> np.ndarray[Any, Any]:
    if kind in _FRACTIONS:
        return np.array(values, dtype=_FRACTIONS[kind])
    if kind in _WHOLE and None not in values:
        return np.array(values, dtype=np.int64)
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


@dataclass(frozen=True, kw_only=True)
class Tables:
    names: tuple[str, ...]  # as the driver writes them
    tags: Mapping[str, tuple[str, ...]]  # each table's, as text


def tables_of(program: str, spec: Mapping[str, str], secret: str, children: Children | None = None) -> Tables:
    lines = run_verb(program, "names", spec, "", secret, NAMES_S, children)
    events = [line for line in lines if line.get("event") == "names"]
    if not events:
        raise LoadError(f"the load generator does not name its tables: {json.dumps(lines)[:200]}")
    tags = {name: tuple(values) for name, values in events[0].get("tags", {}).items()}
    return Tables(names=tuple(str(name) for name in events[0]["names"]), tags=tags)
