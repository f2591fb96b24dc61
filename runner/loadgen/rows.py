"""The rows that the load generator makes, and the names of its drivers' tables. Right answers are computed from them.

Refuses to make a row itself: only the load generator knows how.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from runner.errors import LoadError
from runner.loadgen.statements import Children, run_verb
from runner.work.answers import Stretch, TableRows

ROWS_S = 120.0
NAMES_S = 120.0
_WHOLE = ("tinyint", "smallint", "int", "bigint", "utinyint", "usmallint", "uint")
_LINE = 4000  # row ranges in one call, so that the spec stays short


def rows_of(program: str, spec: Mapping[str, str], stretches: Sequence[Stretch]) -> list[TableRows]:
    """The rows of each range, exactly as they are sent. Connects to nothing. Raises LoadError."""
    wanted, found = [stretch for stretch in stretches if stretch[2] > 0], []
    for start in range(0, len(wanted), _LINE):
        asked = ",".join(f"{table}:{first}:{count}" for table, first, count in wanted[start : start + _LINE])
        lines = run_verb(program, "rows", {**spec, "rows_of": asked}, "", "", ROWS_S)
        found += [line for line in lines if line.get("event") == "rows"]
    if len(found) != len(wanted):
        raise LoadError(f"{len(found)} answers of the load generator to {len(wanted)} questions for rows")
    types = {name: kind for name, _, kind in (c.partition(":") for c in spec["columns"].split(","))}
    nothing = {"time_ms": [], "columns": {name: [] for name in types}}
    told = iter(found)
    lines = [next(told) if count > 0 else nothing for _, _, count in stretches]
    return [
        TableRows(
            times=np.array(line["time_ms"], dtype=np.int64),
            columns={name: _column(types.get(name, ""), values) for name, values in line["columns"].items()},
        )
        for line in lines
    ]


def _column(kind: str, values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Floats in 32 bits, as they are stored; everything else unchanged."""
    if kind == "float":
        return np.array(values, dtype=np.float32).astype(np.float64)
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
    """What the load generator calls its tables. Raises LoadError or TargetError."""
    lines = run_verb(program, "names", spec, "", secret, NAMES_S, children)
    found = [line for line in lines if line.get("event") == "names"]
    if not found:
        raise LoadError(f"the load generator does not name its tables: {json.dumps(lines)[:200]}")
    tags = {name: tuple(values) for name, values in found[0].get("tags", {}).items()}
    return Tables(names=tuple(str(name) for name in found[0]["names"]), tags=tags)
