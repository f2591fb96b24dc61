"""Types, names and ranges that are accepted, and the checks of a load that need several of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from scale_sweep.model.declared import COLUMN_TYPES
from scale_sweep.server.targets.tdengine.dialect import TEXT_TYPES, UNITS_PER_MS, sql_column
from scale_sweep.taosbenchmark.job import Database, Remarks, SuperTable, TableColumn

PREFIX_MAX = 64  # the load generator accepts no longer name
ROWS_MAX = 1_000_000_000_000
ROW_BYTES_MAX = 65_531
LENGTH_MAX = 65_517
COLUMNS_MAX = 4095  # the timestamp is one more column
TAGS_MAX = 128
# The least and the greatest whole number.
BOUNDS: Mapping[str, tuple[int, int]] = {
    "port": (1, 65_535),
    "threads": (1, 4_096),
    "interval_ms": (0, 3_600_000),
    "step": (1, 1_000_000_000),
    "start": (0, 9_000_000_000_000_000_000),
    "interlace_rows": (0, 1_000_000_000),
    "rows_per_request": (1, 65_536),
    "tables": (1, 100_000_000),
    "tables_or_none": (0, 100_000_000),
    "table_number": (0, 100_000_000),
    "rows_each": (1, 1_000_000_000),
    "rows_or_none": (0, 1_000_000_000),
    "columns": (1, COLUMNS_MAX),
    "partial": (0, COLUMNS_MAX),
    "width": (1, 16_374),
    "disorder_range_ms": (0, 10**12),
    "disorder_ratio": (0, 50),
    "replica": (1, 3),
    "prepared": (1, 10**9),
    "retries": (0, 1_000),
    "times": (1, 1_000_000_000),
    "poll_ms": (-1, 86_400_000),
    "commit_ms": (1, 86_400_000),
    "expect_rows": (0, 4_294_967_295),
    "interval_s": (0, 86_400),
    "vgroups": (1, 1_024),
}
_ALIASES = {
    "varchar": "binary",
    "bool": "bool",
    "tinyint unsigned": "utinyint",
    "smallint unsigned": "usmallint",
    "int unsigned": "uint",
    "bigint unsigned": "ubigint",
}
_WIDTHS = {"bool": 1, "tinyint": 1, "utinyint": 1, "smallint": 2, "usmallint": 2, "int": 4, "uint": 4, "float": 4}
_WRITTEN = re.compile(r"([A-Za-z]+(?: +[Uu][Nn][Ss][Ii][Gg][Nn][Ee][Dd])?)\s*(?:\(\s*([0-9]{1,6})\s*\))?")
_COMMA = re.compile(r",(?![0-9 ]{0,9}\))")  # not between brackets, as in DECIMAL(10,4)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def whole(text: str, bounds: str) -> int:
    """Raises ValueError."""
    (least, most), digits = BOUNDS[bounds], text.strip()
    if not digits.removeprefix("-").isdecimal() or len(digits) > 20 or not digits.isascii():
        raise ValueError(f"{text!r} is not a whole number")
    if not least <= int(digits) <= most:
        raise ValueError(f"{digits} is outside {least}..{most}")
    return int(digits)


def plain_name(text: str, most: int, *, keep_case: bool) -> str:
    """As the server stores it: in lower case, unless it is in escape characters. Raises ValueError."""
    if not _NAME.fullmatch(text) or len(text) > most:
        raise ValueError(f"{text!r} is not a plain name of up to {most} letters, digits and _")
    return text if keep_case else text.lower()


def kind_of(written: str) -> str:
    """In the load generator. Raises ValueError."""
    word = " ".join(written.lower().split())
    kind = _ALIASES.get(word, word)
    if kind not in COLUMN_TYPES:
        raise ValueError(f"{written!r} is not a type that can be loaded; there are {', '.join(COLUMN_TYPES)}")
    return kind


def make_column(name: str, kind: str, length: int, *, tag: bool) -> TableColumn:
    """Raises ValueError."""
    plain_name(name, 64, keep_case=True)
    if kind == "json" and not tag:
        raise ValueError("JSON is a type for tags only")
    if kind not in TEXT_TYPES:
        return TableColumn(name=name, kind=kind)
    if not 1 <= length <= LENGTH_MAX:
        raise ValueError(f"a length of {length} is outside 1..{LENGTH_MAX}")
    return TableColumn(name=name, kind=kind, length=length)


def read_types(text: str, letter: str, width: int, *, tag: bool) -> tuple[TableColumn, ...]:
    """c0, c1, ... (tags t0, t1, ...) from "FLOAT,BINARY(16)". Raises ValueError."""
    columns = []
    for index, part in enumerate(_COMMA.split(text)):
        match = _WRITTEN.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{part.strip()!r} is not a type; write them like FLOAT,INT,BINARY(16)")
        kind = kind_of(match.group(1))
        if match.group(2) and kind not in TEXT_TYPES:
            raise ValueError(f"{part.strip()!r}: {kind.upper()} takes no length")
        length = int(match.group(2)) if match.group(2) else width
        columns.append(make_column(f"{letter}{index}", kind, length, tag=tag))
    return tuple(columns)


def spec_columns(columns: Sequence[TableColumn]) -> str:
    return ",".join(f"{c.name}:{_sized(c)}" for c in columns)


def sql_columns(columns: Sequence[TableColumn]) -> str:
    return ", ".join(sql_column(c.name, _sized(c)) for c in columns)


def _sized(column: TableColumn) -> str:
    return column.kind + (f"({column.length})" if column.length else "")


PACE = "as in taosBenchmark, at most the rows in a request, and off if a table has fewer rows"
PARTIAL = "as in taosBenchmark, some of the columns that there are, and only by taosc and rest"


def pace(request: int, rows_each: int, interlace: int) -> tuple[int, int]:
    """The rows in a request and the interlaced rows, as taosBenchmark takes them."""
    interlaced = min(interlace, request)
    if interlaced > rows_each:
        interlaced = 0
    return (request if interlaced else min(request, rows_each)), interlaced


def written_columns(number: int, first: int, columns: int, method: str) -> tuple[int, int]:
    """How many, 0 for all, and the first of them, as taosBenchmark takes partial_col_num and partial_col_from."""
    first = first if first < columns else 0
    number = min(number, columns - first)
    return (number, first) if 0 < number < columns and method in ("sql", "rest") else (0, 0)


def check_table(table: SuperTable, precision: str, where: Mapping[str, str], remarks: Remarks) -> None:
    """where: each key's name for the message."""
    row_bytes = 8 + sum(map(_column_bytes, table.columns))
    columns, tags = len(table.columns), len(table.tags)
    late = "is less than the time step: no row can come late"
    case = "the load generator writes names of tables without escape characters; use stmt"
    for key, is_wrong, why in (
        (
            "interlace_rows",
            table.interlace_rows > table.rows_per_request,
            f"{table.interlace_rows} is more than the rows in a request",
        ),
        (
            "disorder_range_ms",
            table.disorder_ratio and table.disorder_range_ms < table.step / UNITS_PER_MS[precision],
            late,
        ),
        ("rows_each", table.tables * table.rows_each > ROWS_MAX, f"makes more than {ROWS_MAX} rows"),
        ("columns", columns > COLUMNS_MAX, f"{columns} columns are more than {COLUMNS_MAX}"),
        ("tags", tags > TAGS_MAX, f"{tags} tags are more than {TAGS_MAX}"),
        ("columns", row_bytes > ROW_BYTES_MAX, f"a row of {row_bytes} bytes is more than {ROW_BYTES_MAX}"),
        ("tags", tags > 1 and any(c.kind == "json" for c in table.tags), "a JSON tag must be the only one"),
        ("prefix", table.method in ("sql", "rest") and table.prefix != table.prefix.lower(), case),
        ("normal", table.normal and table.schemaless, f"{table.method} always makes a supertable"),
    ):
        if is_wrong:
            remarks.refuse(where[key], why)


def check_vgroups(database: Database, where: str, remarks: Remarks) -> None:
    """Each needs a table."""
    vgroups = int(dict(database.options).get("vgroups", "1"))
    for table in tables_below(database, vgroups):
        why = f"{vgroups} vgroups are more than the {table.tables} tables; the load generator wants one each"
        remarks.refuse(where, why)


def tables_below(database: Database, vgroups: int) -> list[SuperTable]:
    return [t for t in database.tables if 1 < t.tables < vgroups and not (t.schemaless or t.exists)]


def _column_bytes(column: TableColumn) -> int:
    """As the server counts it."""
    if column.length:
        return 2 + column.length * (4 if column.kind == "nchar" else 1)
    return _WIDTHS.get(column.kind, 8)
