"""The job of a query file, in our words. Refuses to read, to print and to know the load generator's spelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class FileQuery:
    """One statement, on one line."""

    text: str
    result: str  # the file that its rows are appended to, with the thread's number; "" for none
    key: str  # its path in the file, for messages


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Statements that each of some threads asks `times` times."""

    queries: tuple[FileQuery, ...]
    threads: int
    times: int
    interval_s: float  # from the beginning of one time to the next
    supertable: str = ""  # of whose subtables each gives its name for xxxx; "" where the statements name their tables
    mixed: bool = False  # each thread asks its share of the statements; else all of them, one after another


@dataclass(frozen=True, kw_only=True)
class QueryJob:
    """Everything that a query file does."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    database: str
    method: str  # sql or rest
    specified: Asking | None
    of_subtables: Asking | None
    before: str  # a statement before each query, "" for none
    keep_going: bool  # a failed query is counted, and the others are asked
    result_file: str
    client_config: str = ""
    notes: tuple[str, ...] = ()  # sentences about what was accepted without effect or under another name

    def queries(self) -> Iterator[FileQuery]:
        """All statements."""
        for asking in (self.specified, self.of_subtables):
            yield from asking.queries if asking else ()
