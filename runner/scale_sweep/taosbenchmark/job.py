"""The data classes of a load, which both readers (options and JSON file) make and everything else uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from scale_sweep.base.errors import UsageError
from scale_sweep.base.texts import shortened
from scale_sweep.server.targets.tdengine.dialect import SCHEMALESS


class Reachable(Protocol):
    """The address and the account of the server."""

    @property
    def host(self) -> str:
        """Its name or address."""

    @property
    def port(self) -> int:
        """The port of the server, or of its adapter for the method rest."""

    @property
    def user(self) -> str:
        """The account."""

    @property
    def client_config(self) -> str:
        """Directory of the client's taos.cfg, "" for the client's own choice."""


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """A column or tag."""

    name: str
    kind: str
    length: int = 0  # of binary(n); 0 for types of a fixed length


@dataclass(frozen=True, kw_only=True)
class SampleRows:
    """Rows of a file."""

    content: bytes = field(repr=False)  # as the load generator takes them
    rows: int  # in it
    period: int  # row n of a table is row n modulo the period, modulo the rows
    lines: int  # of the file
    has_times: bool  # the file has the rows' times


@dataclass(frozen=True, kw_only=True)
class SuperTable:
    """One load: the tables of a supertable, and their rows. step counts units of the database's precision. All other
    times are in milliseconds."""

    name: str
    tables: int
    prefix: str
    normal: bool  # tables without a supertable
    exists: bool  # the tables exist already
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
    partial_from: int
    retries: int
    keep_going: bool  # a failed request is counted and the load continues
    values: str
    first: int  # the number of the first table
    makes_tables: bool  # the insertions do, before the load nothing does
    text: str  # how texts are made
    sample: SampleRows | None  # the rows that repeat, from a file; None: rows are made
    tag_lines: bytes = field(repr=False)  # the tags of the tables, from a file; empty: they are made
    files: Mapping[str, str]  # keys of the load generator's spec that name such files

    @property
    def schemaless(self) -> bool:
        """Whether the rows create their tables."""
        return self.method in SCHEMALESS


@dataclass(frozen=True, kw_only=True)
class Database:
    """A database and its loads."""

    name: str
    written: str  # its name as the user wrote it, for the output lines
    drop: bool
    create: bool
    precision: str
    options: tuple[tuple[str, str], ...]  # those of CREATE DATABASE, checked, without the precision
    tables: tuple[SuperTable, ...]


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that `scale load` does."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    threads: int
    create_threads: int
    result_file: str
    client_config: str = ""  # the directory of the client's taos.cfg; "" leaves the choice to the client
    vgroups_auto: bool  # as many vgroups as CPUs, and one thread for each, as taosBenchmark does if neither is given
    ask: bool
    aggregates: bool = False  # the load ends with common aggregates
    databases: tuple[Database, ...]
    notes: tuple[str, ...]  # sentences about options that were accepted without effect, each shown once


@dataclass(frozen=True, kw_only=True)
class ScaleOptions:
    """The options that `scale load` has and taosBenchmark does not."""

    placement: str = "stock"
    library: str = ""
    own_values: bool = False
    row_times: bool = False


class Refusals:
    """Collects all mistakes, under the names that the user wrote, so that one error lists them."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, str]] = []

    def add(self, name: str, why: str) -> None:
        self.entries.append((shortened(name), shortened(why)))

    def raise_any(self) -> None:
        """Raises UsageError with all refusals, if there are any."""
        if self.entries:
            lines = "".join(f"\n  {name}: {why}" for name, why in self.entries)
            what = "one thing is" if len(self.entries) == 1 else f"{len(self.entries)} things are"
            raise UsageError(
                f"{what} refused, nothing was started:{lines}",
                remedy="leave them out or change them; docs/taosbenchmark.md lists what is supported",
            )
