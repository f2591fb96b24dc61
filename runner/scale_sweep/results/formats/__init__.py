"""A stored run in other programs' formats: typed columns, encoded as CSV, JSON or Parquet."""

from scale_sweep.results.formats.encode import as_csv, as_json, as_parquet
from scale_sweep.results.formats.tables import WHATS, Cell, Kind, TypedTable, columns_of

__all__ = ["WHATS", "Cell", "TypedTable", "Kind", "as_csv", "as_json", "as_parquet", "columns_of"]
