"""The job of a command of taosBenchmark, as all readers (options and JSON files) make it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from scale_sweep.base.errors import UsageError
from scale_sweep.base.texts import shortened
from scale_sweep.server.targets.tdengine.dialect import SCHEMALESS


@dataclass(frozen=True, kw_only=True)
class Connection:
    host: str
    port: int  # of the server, or of its adapter for the method rest
    user: str
    password: str = field(repr=False)
    client_config: str = ""  # the directory of the client's taos.cfg; "" leaves the choice to the client
    result_file: str = "./output.txt"
    ask: bool = False  # a person is asked first
    notes: tuple[str, ...] = ()  # sentences about what was accepted without effect or under another name


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    name: str
    kind: str
    length: int = 0  # of binary(n); 0 for types of a fixed length


@dataclass(frozen=True, kw_only=True)
class SampleRows:
    content: bytes = field(repr=False)  # as the load generator takes them
    rows: int  # in it
    period: int  # row n of a table is row n modulo the period, modulo the rows
    lines: int  # of the file
    has_times: bool  # the file has the rows' times


@dataclass(frozen=True, kw_only=True)
class SuperTable:
    """One load. step counts units of the database's precision."""

    name: str
    tables: int
    prefix: str
    normal: bool = False  # tables without a supertable
    exists: bool = False  # the tables exist already
    method: str
    columns: tuple[TableColumn, ...]
    tags: tuple[TableColumn, ...]
    rows_each: int
    rows_per_request: int
    interlace_rows: int
    start_ms: int
    step: int
    disorder_ratio: int
    disorder_range_ms: int
    interval_ms: int
    partial_columns: int
    partial_from: int = 0
    retries: int
    keep_going: bool = False  # a failed request is counted and the load continues
    values: str = "random"
    first: int = 0  # the number of the first table
    makes_tables: bool = False  # the insertions do, before the load nothing does
    text: str  # how texts are made
    sample: SampleRows | None = None  # the rows that repeat, from a file; None: rows are made
    tag_lines: bytes = field(default=b"", repr=False)  # the tags of the tables, from a file; empty: they are made
    files: Mapping[str, str] = field(default_factory=dict)  # keys of the load generator's spec that name such files

    @property
    def is_loaded(self) -> bool:
        """Whether it gets rows; else it is only made."""
        return self.rows_each > 0 and self.tables > 0

    @property
    def schemaless(self) -> bool:
        """Whether the rows create their tables."""
        return self.method in SCHEMALESS


@dataclass(frozen=True, kw_only=True)
class Database:
    name: str
    written: str  # its name as the user wrote it, for the output lines
    drop: bool
    create: bool
    precision: str
    options: tuple[tuple[str, str], ...]  # those of CREATE DATABASE, checked, without the precision
    tables: tuple[SuperTable, ...]


@dataclass(frozen=True, kw_only=True)
class Job(Connection):
    threads: int
    create_threads: int
    vgroups_auto: bool  # as many vgroups as CPUs, and one thread for each, as taosBenchmark does if neither is given
    aggregates: bool = False  # the load ends with common aggregates
    databases: tuple[Database, ...]


@dataclass(frozen=True, kw_only=True)
class FileQuery:
    text: str  # on one line
    result: str  # the file that its rows are appended to, with the thread's number; "" for none
    key: str  # its path in the file, for messages


@dataclass(frozen=True, kw_only=True)
class Asking:
    queries: tuple[FileQuery, ...]
    threads: int
    times: int
    interval_s: float  # from the beginning of one time to the next
    supertable: str = ""  # of whose subtables each gives its name for xxxx; "" where the statements name their tables
    mixed: bool = False  # each thread asks its share of the statements; else all of them, one after another


@dataclass(frozen=True, kw_only=True)
class QueryJob(Connection):
    database: str
    method: str  # sql or rest
    specified: Asking | None
    of_subtables: Asking | None
    before: str  # a statement before each query, "" for none
    keep_going: bool  # a failed query is counted, and the others are asked

    def queries(self) -> Iterator[FileQuery]:
        for asking in (self.specified, self.of_subtables):
            yield from asking.queries if asking else ()


@dataclass(frozen=True, kw_only=True)
class Topic:
    name: str
    statement: str  # it delivers the rows of


@dataclass(frozen=True, kw_only=True)
class Following:
    topics: tuple[Topic, ...]
    consumers: int
    settings: tuple[tuple[str, str], ...]  # those of libtaos; {worker} in a value becomes the consumer's number
    poll_ms: int  # a consumer ends when no message comes for so long; -1: it waits on
    expect_rows: int = 0  # it also ends with more rows than that; 0: not
    commits: bool = False  # each message is committed after it is read
    rows_file: str  # rows are appended to it, with the consumer's number; "" for none
    key: str  # its path in the file, for messages


@dataclass(frozen=True, kw_only=True)
class SubscribeJob(Connection):
    database: str  # "" where the topics name theirs
    followings: tuple[Following, ...]


@dataclass(frozen=True, kw_only=True)
class ScaleOptions:
    """Which taosBenchmark does not have."""

    placement: str = "stock"
    library: str = ""
    own_values: bool = False
    row_times: bool = False


class Remarks:
    """All mistakes, under the names that the user wrote, so that one error lists them, and what is noted."""

    def __init__(self) -> None:
        self.refused: list[tuple[str, str]] = []
        self.idle: list[tuple[str, str]] = []  # keys without an effect, each with its reason
        self.notes: list[str] = []

    def refuse(self, name: str, why: str) -> None:
        self.refused.append((shortened(name), shortened(why)))

    def taken(self, name: str, value: int, taken: int, why: str) -> None:
        if value != taken:
            self.notes.append(f"{name} is taken as {taken or 'off'}: {why}")

    def raise_any(self) -> None:
        """Raises UsageError."""
        if self.refused:
            lines = "".join(f"\n  {name}: {why}" for name, why in self.refused)
            what = "one thing is" if len(self.refused) == 1 else f"{len(self.refused)} things are"
            raise UsageError(
                f"{what} refused, nothing was started:{lines}",
                remedy="leave them out or change them; docs/taosbenchmark.md lists what is supported",
            )

    def all_notes(self) -> tuple[str, ...]:
        """With one sentence for all keys that have no effect for the same reason."""
        paths: dict[str, list[str]] = {}
        for path, why in self.idle:
            paths.setdefault(why, []).append(path)
        idle = (f"{', '.join(p)} {'has' if len(p) == 1 else 'have'} no effect: {why}" for why, p in paths.items())
        return (*self.notes, *idle)
