"""The database's own count of rows, and the comparison of stored rows with those that the load generator sent, by
sums."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class TableSums:
    """The figures of one table, or of all tables together (table: None), in the order of `RowsSummed.figures`.

    name: the database's of the table's device; "" for all together.
    right: of the load generator's rows. stored: of the database, "-" for a figure that it did not return. error: how
    far the database's figure may be from the right one, because it adds fractions in another order. Each is a text of
    numbers, separated by blanks, so that whole numbers of any size stay exact.
    """

    table: int | None
    name: str
    right: str
    stored: str
    error: str


@dataclass(frozen=True, kw_only=True)
class RowsSummed:
    """The figures of the stored rows beside the right ones.

    figures: their names: rows, first, last and times (ns since the first timestamp of the load: the least, the greatest
    and their sum), steps (ns in which rows follow each other by at most one step); of a column, as COLUMN.values (that
    are not NULL), COLUMN.sum, COLUMN.least, COLUMN.greatest and COLUMN.timed (the sum of each value times the ms since
    the first timestamp). of_tables: tables of the load. each: tables compared one by one, if `tables` has
    not all of them, but some and those that differ. rows: those compared. note: why not all tables were compared,
    or none; "" if all were. wrong_tags: sentences about the first
    devices whose rows are stored with other tags. seconds: for all of it.
    """

    figures: tuple[str, ...] = ()
    tables: tuple[TableSums, ...] = ()
    of_tables: int = 0
    each: int = 0
    rows: int = 0
    note: str = ""
    wrong_tags: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def tables_compared(self) -> int:
        """Their number, without the entry of all tables together."""
        return self.each or sum(one.table is not None for one in self.tables)


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The database's own count: all rows, and a sentence about tables that lack rows.

    is_distinct: the database stores one row for each table and time, the last one. has_parts: a request that failed may
    have stored a part of its rows.
    """

    rows: int
    is_distinct: bool = False
    gaps: tuple[str, ...] = ()
    has_parts: bool = False
