"""Sums of the rows that the load generator made, by its verb `sums`. The sums of a database are compared with them.

Refuses to add a row itself: only the load generator knows how rows are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.statements import run_verb

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
