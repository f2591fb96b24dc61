"""A stored run as typed columns, encoded as CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from scale_sweep.base.registry import require_extra
from scale_sweep.judge.figures.counts_per_second import SERIES_COLUMNS
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import Measurement
from scale_sweep.model.samples import DiskFigures
from scale_sweep.results.store.texts import point_columns, point_row

Kind = Literal["integer", "number", "text"]
Cell = int | float | str | None
_NUMBERS = {"point", "cores", "wall_s", "t_s", "rate_per_cpu_s"}
_INTEGERS = {"order", "replicate", "disks"}


@dataclass(frozen=True, kw_only=True)
class TypedTable:
    """Cells of a row are in the order of kinds (by column); None: not measured."""

    run: str
    what: str
    kinds: Mapping[str, Kind]
    rows: Sequence[tuple[Cell, ...]]


def columns_of(run: StoredRun, what: str) -> TypedTable:
    """One of WHATS. Raises KeyError for any other name."""
    return WHATS[what](run)


def _points(run: StoredRun) -> TypedTable:
    kinds = {name: _kind(name, run.plan.sweep.axis) for name in point_columns(run.plan)}
    ordered = sorted(run.results, key=lambda r: (r.trial.level, r.trial.replicate))
    rows = [point_row(run.plan, result) for result in ordered]
    cells = [tuple(_cell(row.get(name), kind) for name, kind in kinds.items()) for row in rows]
    return TypedTable(run=_name(run), what="points", kinds=kinds, rows=cells)


def _timeseries(run: StoredRun) -> TypedTable:
    kinds: dict[str, Kind] = {"trial_id": "text", "t_s": "number", **dict.fromkeys(SERIES_COLUMNS, "number")}
    return TypedTable(run=_name(run), what="timeseries", kinds=kinds, rows=list(_ticks(run)))


def _ticks(run: StoredRun) -> Iterator[tuple[Cell, ...]]:
    """One row for each time: the load generator's and the sampler's, of the same millisecond, become one."""
    for result in run.results:
        trial_id = result.trial.trial_id
        for t_s, rows in groupby(run.timeseries.get(trial_id, ()), key=lambda row: row[0]):
            values = {name: value for _, row in rows for name, value in row.items() if value is not None}
            yield (trial_id, t_s, *(_cell(values.get(name), "number") for name in SERIES_COLUMNS))


WHATS: Mapping[str, Callable[[StoredRun], TypedTable]] = {"points": _points, "timeseries": _timeseries}


def _kind(column: str, axis: str) -> Kind:
    annotation = str(Measurement.__annotations__.get(column) or DiskFigures.__annotations__.get(column[3:], ""))
    if column in _NUMBERS or annotation.startswith("float"):
        return "number"
    if column in _INTEGERS or annotation.startswith("int"):
        return "integer"
    return "number" if column == axis else "text"


def _cell(value: object, kind: Kind) -> Cell:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if kind == "number":
        return float(str(value))
    return int(str(value)) if kind == "integer" else str(value)


def _name(run: StoredRun) -> str:
    return run.path.rstrip("/").rpartition("/")[2]


def as_csv(columns: TypedTable) -> bytes:
    """In UTF-8; not measured: empty."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(columns.kinds)
    out.writerows(["" if cell is None else cell for cell in row] for row in columns.rows)
    return text.getvalue().encode()


def as_json(columns: TypedTable) -> bytes:
    """A list of objects; not measured: null."""
    rows = [dict(zip(columns.kinds, row, strict=True)) for row in columns.rows]
    return (json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def as_parquet(columns: TypedTable) -> bytes:
    """One row group, zstd; int64, double and string columns. Raises UsageError if pyarrow is not installed."""
    require_extra("parquet", "--parquet")
    import pyarrow
    import pyarrow.parquet

    types = {"integer": pyarrow.int64(), "number": pyarrow.float64(), "text": pyarrow.string()}
    fields = [pyarrow.field(name, types[kind]) for name, kind in columns.kinds.items()]
    schema = pyarrow.schema(fields, metadata={"scale.run": columns.run, "scale.what": columns.what})
    cells = [[row[at] for row in columns.rows] for at in range(len(fields))]
    table = pyarrow.table(
        [pyarrow.array(column, field.type) for column, field in zip(cells, fields, strict=True)], schema=schema
    )
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())
