"""Columns as bytes of a format. Pure. A format's library is imported only when it is needed."""

from __future__ import annotations

import csv
import io
import json

from scale_sweep.base.registry import require_extra
from scale_sweep.results.formats.tables import TypedTable


def as_csv(columns: TypedTable) -> bytes:
    """A header and a line for each row, in UTF-8. A value that was not measured is empty."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(columns.kinds)
    out.writerows(["" if cell is None else cell for cell in row] for row in columns.rows)
    return text.getvalue().encode()


def as_json(columns: TypedTable) -> bytes:
    """A list of objects. A value that was not measured is null."""
    rows = [dict(zip(columns.kinds, row, strict=True)) for row in columns.rows]
    return (json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def as_parquet(columns: TypedTable) -> bytes:
    """One row group, zstd; int64, double and string columns. The run's name is in the file's metadata.

    Raises UsageError if pyarrow is not installed.
    """
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
