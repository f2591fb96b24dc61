"""Ranges of numbers and names, for both readers, and the checks of a load that need more than one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.server.targets.tdengine.dialect import UNITS_PER_MS
from scale_sweep.taosbenchmark.job import Database, Refusals, SuperTable
from scale_sweep.taosbenchmark.types import COLUMNS_MAX, TAGS_MAX, check_name

PREFIX_MAX = 64  # the load generator accepts no longer name
ROWS_MAX = 1_000_000_000_000
ROW_BYTES_MAX = 65_531
_WIDTHS = {"bool": 1, "tinyint": 1, "utinyint": 1, "smallint": 2, "usmallint": 2, "int": 4, "uint": 4, "float": 4}


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The least and the greatest accepted whole number."""

    least: int
    most: int


BOUNDS: Mapping[str, Bounds] = {
    "port": Bounds(least=1, most=65_535),
    "threads": Bounds(least=1, most=4_096),
    "interval_ms": Bounds(least=0, most=3_600_000),
    "step": Bounds(least=1, most=1_000_000_000),
    "start": Bounds(least=0, most=9_000_000_000_000_000_000),
    "interlace_rows": Bounds(least=0, most=65_536),
    "rows_per_request": Bounds(least=1, most=65_536),
    "tables": Bounds(least=1, most=100_000_000),
    "table_number": Bounds(least=0, most=100_000_000),
    "rows_each": Bounds(least=1, most=1_000_000_000),
    "columns": Bounds(least=1, most=COLUMNS_MAX),
    "width": Bounds(least=1, most=16_374),
    "disorder_range_ms": Bounds(least=1, most=10**12),
    "disorder_ratio": Bounds(least=0, most=50),
    "replica": Bounds(least=1, most=3),
    "prepared": Bounds(least=1, most=10**9),
    "retries": Bounds(least=0, most=1_000),
    "times": Bounds(least=1, most=1_000_000_000),
    "poll_ms": Bounds(least=-1, most=86_400_000),
    "commit_ms": Bounds(least=1, most=86_400_000),
    "expect_rows": Bounds(least=0, most=4_294_967_295),
    "interval_s": Bounds(least=0, most=86_400),
    "vgroups": Bounds(least=1, most=1_024),
}


def whole(text: str, bounds_name: str) -> int:
    """A whole number within the bounds of that name. Raises ValueError."""
    bounds = BOUNDS[bounds_name]
    digits = text.strip()
    if not digits.removeprefix("-").isdecimal() or len(digits) > 20 or not digits.isascii():
        raise ValueError(f"{text!r} is not a whole number")
    if not bounds.least <= int(digits) <= bounds.most:
        raise ValueError(f"{digits} is outside {bounds.least}..{bounds.most}")
    return int(digits)


def plain_name(text: str, most: int, *, keep_case: bool) -> str:
    """A name as the server stores it: in lower case, unless it is in escape characters. Raises ValueError."""
    check_name(text, most)
    return text if keep_case else text.lower()


def clamp_request(rows_per_request: int, rows_each: int, interlace: int, *, method: str, prepared: int) -> int:
    """The rows in a request that taosBenchmark would use: at most a table's rows, and with stmt at most the prepared
    rows."""
    rows = rows_per_request if interlace else min(rows_per_request, rows_each)
    return min(rows, prepared) if method == "stmt" else rows


def check_table(table: SuperTable, precision: str, where: Mapping[str, str], refusals: Refusals) -> None:
    """Checks keys against each other. where: each key's name for the message."""
    if table.interlace_rows > table.rows_per_request:
        refusals.add(where["interlace_rows"], f"{table.interlace_rows} is more than the rows in a request")
    step_ms = table.step / UNITS_PER_MS[precision]
    if table.disorder_ratio and table.disorder_range_ms < step_ms:
        refusals.add(where["disorder_range_ms"], "is less than the time step: no row can come late")
    if table.tables * table.rows_each > ROWS_MAX:
        refusals.add(where["rows_each"], f"makes more than {ROWS_MAX} rows")
    if table.partial_from and not table.partial_columns:
        refusals.add(where["partial_columns"], "is needed beside the column that is the first")
    if table.partial_columns + table.partial_from > len(table.columns):
        refusals.add(where["partial_columns"], f"there are only {len(table.columns)} columns")
    if len(table.columns) > COLUMNS_MAX:
        refusals.add(where["columns"], f"{len(table.columns)} columns are more than {COLUMNS_MAX}")
    if len(table.tags) > TAGS_MAX:
        refusals.add(where["tags"], f"{len(table.tags)} tags are more than {TAGS_MAX}")
    if row_bytes(table) > ROW_BYTES_MAX:
        refusals.add(where["columns"], f"a row of {row_bytes(table)} bytes is more than {ROW_BYTES_MAX}")
    if any(c.kind == "json" for c in table.tags) and len(table.tags) > 1:
        refusals.add(where["tags"], "a JSON tag must be the only one")
    if table.method in ("sql", "rest") and table.prefix != table.prefix.lower():
        refusals.add(where["prefix"], "the load generator writes names of tables without escape characters; use stmt")
    if table.normal and table.schemaless:
        refusals.add(where["normal"], f"{table.method} always makes a supertable")


def check_vgroups(database: Database, where: str, refusals: Refusals) -> None:
    """Refuses fewer tables than vgroups, because the load generator needs a table for each vgroup."""
    vgroups = int(dict(database.options).get("vgroups", "1"))
    for table in database.tables:
        if 1 < table.tables < vgroups and not (table.schemaless or table.exists):
            refusals.add(
                where, f"{vgroups} vgroups are more than the {table.tables} tables; the load generator wants one each"
            )


def row_bytes(table: SuperTable) -> int:
    """The declared size of a row in bytes, as the server counts it."""
    total = 8
    for column in table.columns:
        if column.length:
            total += 2 + column.length * (4 if column.kind == "nchar" else 1)
        else:
            total += _WIDTHS.get(column.kind, 8)
    return total
