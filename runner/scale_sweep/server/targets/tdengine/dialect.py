"""TDengine's units of time, schemaless methods, SQL types, and when a database is ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

UNITS_PER_MS: Mapping[str, int] = {"ms": 1, "us": 1_000, "ns": 1_000_000}  # by the precision of a database
SCHEMALESS = frozenset(("sml-line", "sml-telnet", "sml-json"))
ONE_COLUMN = ("sml-telnet", "sml-json")  # of these, those with one value in a line
TEXT_TYPES = frozenset(("binary", "nchar", "varbinary", "geometry"))  # with a length
# Ends of codes that pass: a start, a drop or a create is still running.
NOT_YET = ("0020", "0334", "0386", "0388", "0396", "03d3")
EXISTS = ("0381", "0360")  # ends of codes of a database or a supertable
DATABASE_OPTIONS = frozenset(
    """buffer cachemodel cachesize comp duration keep maxrows minrows pages pagesize precision replica schemaless
    single_stable stt_trigger table_prefix table_suffix tsdb_pagesize wal_fsync_period wal_level wal_retention_period
    wal_retention_size wal_roll_period wal_segment_size""".split()
)
_UNSIGNED = {
    "utinyint": "TINYINT UNSIGNED",
    "usmallint": "SMALLINT UNSIGNED",
    "uint": "INT UNSIGNED",
    "ubigint": "BIGINT UNSIGNED",
}

Rows = Sequence[Sequence[Any]]


def sql_column(name: str, kind: str) -> str:
    """kind: as in the load generator, with its length: "binary(24)"."""
    return f"`{name}` {_UNSIGNED.get(kind, kind.upper())}"


def state_statements(database: str) -> tuple[str, str]:
    return (
        f"SELECT status, `precision` FROM information_schema.ins_databases WHERE name = '{database}'",
        f"SELECT v1_status FROM information_schema.ins_vgroups WHERE db_name = '{database}'",
    )


def database_pending(databases: Rows, led: Rows) -> str:
    """ "" if the database can be written to."""
    if not databases or databases[0][0] != "ready":
        return f"database is {databases[0][0] if databases else 'not there'}"
    if not led:
        return "database has no vgroups"
    waiting = [row[0] for row in led if row[0] != "leader"]
    return f"{len(waiting)} vgroups are {waiting[0]}" if waiting else ""
