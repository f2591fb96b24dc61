"""The ways to write rows into PostgreSQL, and what each of them needs of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable

COPY, INSERT, UPSERT, COPY_UPSERT, JSONB = "copy", "insert", "upsert", "copy-upsert", "jsonb"
METHODS = (COPY, INSERT, UPSERT, COPY_UPSERT, JSONB)
_REPLACES = (UPSERT, COPY_UPSERT)
METRICS = "metrics"  # the column that has all values of a row, as tsdbperf names it
_NOT_IN_JSON = ("varbinary", "geometry")


def table_columns(method: str, columns: Iterable[str], sql_type: Callable[[str], str]) -> str:
    if method == JSONB:
        return f"{METRICS} jsonb NOT NULL"
    split = (column.partition(":") for column in columns)
    return ", ".join(f'"{name}" {sql_type(kind)}' for name, _, kind in split)


def device_index(method: str) -> str:
    """How its index on device and time begins. INSERT ... ON CONFLICT needs one that allows each pair once."""
    return "CREATE UNIQUE INDEX" if stores_pairs_once(method) else "CREATE INDEX"


def stores_pairs_once(method: str) -> bool:
    """Whether a row that comes again replaces the one of its device and time."""
    return method in _REPLACES


def unwritten(method: str, kind: str) -> bool:
    """Whether the method cannot write this type. kind: without its length."""
    return method == JSONB and kind in _NOT_IN_JSON
