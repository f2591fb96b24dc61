"""The database's own count of rows, which the load generator's count is compared with. Data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The database's own count: all rows, and a sentence about tables that lack rows.

    is_distinct: the database stores one row for each table and time, the last one.
    """

    rows: int
    is_distinct: bool = False
    gaps: tuple[str, ...] = ()
