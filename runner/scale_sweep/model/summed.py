"""The database's own count of rows, and the comparison of stored rows with those that the load generator sent, by
sums."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class TableSums:
    """The figures of one table, or of all tables together (table: None), in the order of `RowsSummed.figures`."""

    table: int | None
    name: str  # the database's of the table's device; "" for all together
    right: str  # of the load generator's rows
    stored: str  # of the database, "-" for a figure that it did not return
    # how far the database's figure may be from the right one, because it adds fractions in another order. Each is a
    # text of numbers, separated by blanks, so that whole numbers of any size stay exact
    error: str


@dataclass(frozen=True, kw_only=True)
class RowsSummed:
    """The figures of the stored rows beside the right ones."""

    # their names: rows, first, last and times (ns since the first timestamp of the load: the least, the greatest and
    # their sum), steps (ns in which rows follow each other by at most one step); of a column, as COLUMN.values (that
    # are not NULL), COLUMN.sum, COLUMN.least, COLUMN.greatest and COLUMN.timed (the sum of each value times the ms
    # since the first timestamp)
    figures: tuple[str, ...] = ()
    tables: tuple[TableSums, ...] = ()
    of_tables: int = 0  # tables of the load
    each: int = 0  # tables compared one by one, if `tables` has not all of them, but some and those that differ
    rows: int = 0  # those compared
    note: str = ""  # why not all tables were compared, or none; "" if all were
    wrong_tags: tuple[str, ...] = ()  # sentences about the first devices whose rows are stored with other tags
    seconds: float = 0.0  # for all of it

    @property
    def tables_compared(self) -> int:
        """Their number, without the entry of all tables together."""
        return self.each or sum(one.table is not None for one in self.tables)


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The database's own count: all rows, and a sentence about tables that lack rows."""

    rows: int
    is_distinct: bool = False  # the database stores one row for each table and time, the last one
    gaps: tuple[str, ...] = ()
    has_parts: bool = False  # a request that failed may have stored a part of its rows
