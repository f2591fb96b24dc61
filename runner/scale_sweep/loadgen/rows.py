"""The rows that the load generator makes, and the names of its drivers' tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scale_sweep.base.errors import LoadError
from scale_sweep.experiment.work.answers import Stretch
from scale_sweep.experiment.work.columns import TableRows
from scale_sweep.loadgen.verbs import Children, run_verb

ROWS_S = 120.0
NAMES_S = 120.0
_WHOLE = ("tinyint", "smallint", "int", "bigint", "utinyint", "usmallint", "uint")
_FRACTIONS: Mapping[str, Any] = {"float": np.float32, "double": np.float64}
_LINE = 4000  # row ranges in one call, so that the spec stays short
VALUES_MAX = 500_000  # in one call


def rows_of(program: str, spec: Mapping[str, str], stretches: Sequence[Stretch]) -> list[TableRows]:
    """The rows of each range, exactly as they are sent. Connects to nothing. Raises LoadError."""
    types = {name: kind for name, _, kind in (c.partition(":") for c in spec["columns"].split(","))}
    parts: list[list[TableRows]] = [[] for _ in stretches]
    for pieces in _calls(stretches, max(1, VALUES_MAX // (len(types) + 1))):
        pieces_text = ",".join(f"{table}:{first}:{count}" for _, (table, first, count) in pieces)
        lines = run_verb(program, "rows", {**spec, "rows_of": pieces_text}, "", "", ROWS_S)
        events = [line for line in lines if line.get("event") == "rows"]
        if len(events) != len(pieces):
            raise LoadError(f"{len(events)} answers of the load generator to {len(pieces)} questions for rows")
        for (number, _), line in zip(pieces, events, strict=True):
            parts[number].append(_rows(types, line["time_ms"], line["columns"]))
    return [_joined(types, part) for part in parts]


def _calls(stretches: Sequence[Stretch], most: int) -> Iterator[list[tuple[int, Stretch]]]:
    """The ranges for each call of the load generator, with their numbers: together at most so many rows, because a call
    answers in text, which takes several times the memory of the values. A longer range is cut."""
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
    """The name or number of each table, as the driver writes it into a request; and its tags as text, by their name."""

    names: tuple[str, ...]
    tags: Mapping[str, tuple[str, ...]]


def tables_of(program: str, spec: Mapping[str, str], secret: str, children: Children | None = None) -> Tables:
    """The load generator's names of its tables. Raises LoadError or TargetError."""
    lines = run_verb(program, "names", spec, "", secret, NAMES_S, children)
    events = [line for line in lines if line.get("event") == "names"]
    if not events:
        raise LoadError(f"the load generator does not name its tables: {json.dumps(lines)[:200]}")
    tags = {name: tuple(values) for name, values in events[0].get("tags", {}).items()}
    return Tables(names=tuple(str(name) for name in events[0]["names"]), tags=tags)
