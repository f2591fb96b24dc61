"""The tables and rows of a stored run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scale_sweep.model import StoredRun
from scale_sweep.results.formats import Cell, Kind, TypedTable, columns_of

RUN = "run"
_RUN_KINDS: Mapping[str, Kind] = {
    RUN: "text",
    "name": "text",
    "status": "text",
    "created_utc": "text",
    "tool_version": "text",
    "method": "integer",
    "manifest": "text",
}
_SETTING_KINDS: Mapping[str, Kind] = {RUN: "text", "setting": "text", "value": "text"}


@dataclass(frozen=True, kw_only=True)
class SqlTable:
    """name: of the table. keys: the columns that identify its rows. kinds: by column, in the order of the cells.
    run_column: the column with the name of the run, whose rows are replaced together.
    """

    name: str
    keys: tuple[str, ...]
    kinds: Mapping[str, Kind]
    rows: Sequence[tuple[Cell, ...]]
    run_column: str = RUN


def tables_of(run: StoredRun) -> tuple[SqlTable, ...]:
    """scale_runs (one row), scale_settings, scale_trials and scale_ticks."""
    trials, ticks = columns_of(run, "points"), columns_of(run, "timeseries")
    return (
        SqlTable(name="scale_runs", keys=(RUN,), kinds=_RUN_KINDS, rows=[_run_row(run, trials.run)]),
        SqlTable(
            name="scale_settings", keys=(RUN, "setting"), kinds=_SETTING_KINDS, rows=_setting_rows(run, trials.run)
        ),
        _of_run("scale_trials", (RUN, "trial_id"), trials),
        _of_run("scale_ticks", (RUN, "trial_id", "t_s"), ticks),
    )


def _of_run(name: str, keys: tuple[str, ...], columns: TypedTable) -> SqlTable:
    rows = [(columns.run, *row) for row in columns.rows]
    return SqlTable(name=name, keys=keys, kinds={RUN: "text", **columns.kinds}, rows=rows)


def _run_row(run: StoredRun, name: str) -> tuple[Cell, ...]:
    manifest = run.manifest
    method = manifest.get("method")
    return (
        name,
        run.plan.sweep.name,
        _text(manifest.get("status")),
        _text(manifest.get("created_utc")),
        _text(manifest.get("tool_version")),
        method if isinstance(method, int) else None,
        json.dumps(manifest, ensure_ascii=False, sort_keys=True),
    )


def _setting_rows(run: StoredRun, name: str) -> list[tuple[Cell, ...]]:
    return [(name, key, value) for key, value in sorted(_flat("", run.manifest.get("sweep")))]


def _flat(prefix: str, value: object) -> Iterator[tuple[str, str | None]]:
    if not isinstance(value, Mapping):
        yield prefix, _text(value)
        return
    for key, inner in value.items():
        yield from _flat(f"{prefix}.{key}" if prefix else str(key), inner)


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
