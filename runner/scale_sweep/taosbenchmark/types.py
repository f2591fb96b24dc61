"""taosBenchmark's column types, such as `FLOAT,BINARY(16)`, → columns of the load generator."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scale_sweep.model import COLUMN_TYPES
from scale_sweep.server.targets.tdengine.dialect import TEXT_TYPES, sql_column
from scale_sweep.taosbenchmark.job import TableColumn

_ALIASES = {
    "varchar": "binary",
    "bool": "bool",
    "tinyint unsigned": "utinyint",
    "smallint unsigned": "usmallint",
    "int unsigned": "uint",
    "bigint unsigned": "ubigint",
}
_WRITTEN = re.compile(r"([A-Za-z]+(?: +[Uu][Nn][Ss][Ii][Gg][Nn][Ee][Dd])?)\s*(?:\(\s*([0-9]{1,6})\s*\))?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LENGTH_MAX = 65517
COLUMNS_MAX = 4095  # the timestamp is one more column
TAGS_MAX = 128

DEMO_COLUMNS = (
    TableColumn(name="current", kind="float"),
    TableColumn(name="voltage", kind="int"),
    TableColumn(name="phase", kind="float"),
)
DEMO_TAGS = (TableColumn(name="groupid", kind="int"), TableColumn(name="location", kind="binary", length=24))


def kind_of(written: str) -> str:
    """The load generator's name of a type. Raises ValueError."""
    word = " ".join(written.lower().split())
    kind = _ALIASES.get(word, word)
    if kind not in COLUMN_TYPES:
        raise ValueError(f"{written!r} is not a type that can be loaded; there are {', '.join(COLUMN_TYPES)}")
    return kind


def make_column(name: str, kind: str, length: int, *, tag: bool) -> TableColumn:
    """A column, with a length if its type has one. Raises ValueError."""
    check_name(name, 64)
    if kind == "json" and not tag:
        raise ValueError("JSON is a type for tags only")
    if kind not in TEXT_TYPES:
        return TableColumn(name=name, kind=kind)
    if not 1 <= length <= LENGTH_MAX:
        raise ValueError(f"a length of {length} is outside 1..{LENGTH_MAX}")
    return TableColumn(name=name, kind=kind, length=length)


def check_name(name: str, most: int) -> None:
    """Raises ValueError for a name that needs quoting."""
    if not _NAME.fullmatch(name) or len(name) > most:
        raise ValueError(f"{name!r} is not a plain name of up to {most} letters, digits and _")


def read_types(text: str, letter: str, width: int, *, tag: bool) -> tuple[TableColumn, ...]:
    """Columns c0, c1, ... (tags t0, t1, ...) from "FLOAT,BINARY(16)". Raises ValueError."""
    columns = []
    for index, part in enumerate(text.split(",")):
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
