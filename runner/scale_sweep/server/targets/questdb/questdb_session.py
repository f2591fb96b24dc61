"""A session with QuestDB over its REST interface: tables, settings, the applied log, a checkpoint, the count."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.base.units import counted
from scale_sweep.loadgen.content import Content
from scale_sweep.model import Cells, Drawn, Query, Trial
from scale_sweep.server.targets import Address, Counted, Part, Session, series
from scale_sweep.server.targets.java import effective as jvm
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.questdb.questdb_facts import PGWIRE
from scale_sweep.server.targets.questdb.questdb_queries import DIALECT, statements, timed
from scale_sweep.server.targets.records import (
    ACKNOWLEDGED,
    COMPRESSION,
    IN_LOG,
    NOWHERE,
    ON_DISK,
    Ms,
    moment_ms,
    parsed,
    tags_of,
)
from scale_sweep.server.targets.sql_dialect import in_ns
from scale_sweep.server.targets.web import Web

WITHIN_S = 3600.0
USER = "admin"
_LOGIN = ("pg.user", "pg.password")
_LINKED = " (->)"  # what QuestDB adds to the name of a folder that is a link
VOLUME = "volume"  # the folder on each disk, and with a number the name of the volume that it is
# The type of a column that lines create: an integer of any width is a long, and QuestDB refuses one that does not fit.
SQL_TYPES = {
    "bool": "BOOLEAN",
    "tinyint": "BYTE",
    "smallint": "SHORT",
    "int": "INT",
    "bigint": "LONG",
    "utinyint": "SHORT",
    "usmallint": "INT",
    "uint": "LONG",
    "float": "FLOAT",
    "double": "DOUBLE",
    "timestamp": "LONG",
    "binary": "VARCHAR",
    "nchar": "VARCHAR",
}


class QuestdbSession(Session):
    """Statements by GET /exec, one connection for each."""

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address)
        self._settings = settings
        self._web = Web(who="QuestDB", host=address.host, port=address.port)

    def _rows(self, sql: str) -> list[list[Any]]:
        self.asking = sql[:60]
        answer = self._web.get_json("/exec", self.left_s(WITHIN_S), query=sql)
        if "error" in answer:
            raise TargetError(f"QuestDB refused {sql[:60]!r}: {answer['error']}")
        rows: list[list[Any]] = answer.get("dataset", [])
        return rows

    def not_ready(self) -> str:
        """The server's message while it starts."""
        self.asking = "a first statement"
        try:
            self._web.get("/exec", self.left_s(10), query="SELECT 1")
        except TargetError as error:
            return error.message
        return ""

    def version(self) -> str:
        build = str(self._rows("SELECT build()")[0][0])
        match = re.search(r"QuestDB (\d+(?:\.\d+)*)", build)
        return match.group(1) if match else build

    def in_the_way(self) -> str:
        there = self._rows(f"SELECT table_name FROM tables() WHERE table_name LIKE '{series.MEASUREMENT}_p%'")
        return f"QuestDB has a table {there[0][0]}, which a trial would make and remove" if there else ""

    def create_schema(self) -> None:
        """Creates a table for each partition: device and tags as symbols, files by day; on disks in turn, each a volume
        with the table's files and its log."""
        disks = len(self._address.disks)
        tags = [tag.partition(":")[0] for tag in self._trial.work.data.tags]
        symbols = "".join(f', "{name}" SYMBOL' for name in tags)
        capacity = min(1 << 20, max(256, 2 * self._trial.work.data.tables // self._trial.load.partitions))
        columns = "".join(
            f', "{name}" {SQL_TYPES[kind]}' for name, kind in series.columns_of(self._trial.work.data).items()
        )
        for i, table in enumerate(series.part_names(self._trial)):
            where = f" IN VOLUME '{VOLUME}{i % disks + 1}'" if disks else ""
            self._rows(
                f'CREATE TABLE "{table}" ({series.DEVICE} SYMBOL CAPACITY {capacity}{symbols}{columns},'
                f" timestamp TIMESTAMP) TIMESTAMP(timestamp) PARTITION BY DAY WAL{where}"
            )

    def expected(self) -> Mapping[str, str]:
        """Everything that was set for the trial."""
        return self._settings

    def effective(self) -> Mapping[str, str]:
        """Every parameter that differs from its default, the existing tables, and the JVM's resources."""
        rows = self._rows("SELECT property_path, value, value_source FROM (SHOW PARAMETERS)")
        names = {
            str(name).replace(".", "_"): str(value)
            for name, value, source in rows
            if source != "default" and not name.endswith(("bind.to", "cairo.volumes")) and name not in _LOGIN
        }
        tables = self._rows(f"SELECT count() FROM tables() WHERE table_name LIKE '{series.MEASUREMENT}_p%'")[0][0]
        answered = ON_DISK if names.get("cairo_commit_mode") == "sync" else IN_LOG  # async only begins to write
        terms = {
            ACKNOWLEDGED: NOWHERE if self._trial.subject.method == series.TCP else answered,
            COMPRESSION: "columns, not compressed",
        }
        return {**names, **self._jvm(), "partitions": str(tables), **terms}

    def _jvm(self) -> Mapping[str, str]:
        return jvm(self._address.data_dir) if self._address.data_dir else {}

    def parts(self) -> tuple[Part, ...]:
        """The folder of each table, a link to its volume."""
        disks = len(self._address.disks)
        if not disks:
            return ()
        rows = self._rows(
            f"SELECT table_name, directoryName FROM tables() WHERE table_name LIKE '{series.MEASUREMENT}_p%'"
        )
        return tuple(
            Part(
                name=str(table),
                path=f"{self._address.data_dir}/questdb/db/{str(folder).removesuffix(_LINKED)}",
                disk=int(str(table).rpartition("_p")[2]) % disks,
            )
            for table, folder in sorted(rows)
        )

    def load_spec(self) -> Mapping[str, str]:
        """The driver of lines, or of INSERT; each device in one of the tables."""
        if self._trial.subject.method == PGWIRE:
            return {
                "driver": series.PGWIRE_DRIVER,
                "method": "insert",
                "host": self._address.host,
                "port": str(self._address.port + series.DOOR_OFFSET),
                "user": USER,
                "database": "qdb",
                "table": series.MEASUREMENT,
                "parted": "1",
            }
        if self._trial.subject.method == series.TCP:
            return series.tcp_spec(self._trial, self._address, parted=True)
        spec = series.load_spec(self._trial, self._address, "/write?precision=ms", parted=True)
        asking = {"query_path": "/exec?query=", "answer_rows": "dataset"}
        return {**spec, **asking} if self._trial.work.counts_requests else spec

    def commit_cycles(self) -> int | None:
        """Transactions of the log that were applied to their tables."""
        return int(self._rows("SELECT coalesce(sum(writerTxn), 0) FROM wal_tables()")[0][0])

    def flush(self) -> None:
        """Waits until the log is applied; then a checkpoint makes the file systems write (it calls sync)."""
        self._at_rest()
        self._rows("CHECKPOINT CREATE")
        self._rows("CHECKPOINT RELEASE")

    def _at_rest(self) -> None:
        """Waits until the log of each table is applied. Raises TargetError for a suspended table."""
        for table in series.part_names(self._trial):
            self._rows(f"SELECT wait_wal_table('{table}')")
        behind = self._rows(
            "SELECT name, errorMessage FROM wal_tables() WHERE suspended OR writerTxn <> sequencerTxn"
            " OR bufferedTxnSize > 0"
        )
        if behind:
            many = counted(len(behind), "table")
            raise TargetError(f"QuestDB did not apply the log of {many}; {behind[0]} is the first")

    def count(self) -> Counted | None:
        """The rows of each device, which must be consecutive from the first timestamp on. Times are in microseconds."""
        self._at_rest()
        by_device: dict[str, tuple[int, float, float]] = {}
        for table in series.part_names(self._trial):
            rows = self._rows(
                f"SELECT {series.DEVICE}, count(), min(timestamp)::long, max(timestamp)::long FROM '{table}'"
            )
            by_device |= {str(device): (int(n), int(first) / 1000, int(last) / 1000) for device, n, first, last in rows}
        return series.counted(by_device, self._trial.work.data)

    def stored_tags(self, names: Sequence[str]) -> Mapping[str, Set[tuple[str, ...]]]:
        """A statement for each table."""
        columns = ", ".join(f'"{name}"' for name in (series.DEVICE, *names))
        tables = series.part_names(self._trial)
        return tags_of(row for table in tables for row in self._rows(f"SELECT DISTINCT {columns} FROM '{table}'"))

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """One pass over each table, or over all together, for a statement's figures."""
        by_device: dict[str, dict[str, Any]] = {}
        for names, statement in statements(self._trial, devices):
            for device, *figures in self._rows(statement):
                by_device.setdefault(str(device), {}).update(in_ns(names, figures, DIALECT))
        return by_device

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        parts = self._trial.load.partitions
        came = ((text, self._rows(filled(text, one, names, str, lambda d: d % parts))) for text, one in questions)
        return tuple(tuple(_cells(text, rows)) for text, rows in came)

    def rows_handed(
        self, query: Query, text: str, drawn: Drawn, names: Sequence[str], content: Content
    ) -> Sequence[Cells]:
        return _cells(text, parsed(content)["dataset"])

    def drop_schema(self) -> None:
        for table in series.part_names(self._trial):
            self._rows(f"DROP TABLE '{table}'")


def _cells(text: str, rows: Sequence[Sequence[Any]]) -> list[Cells]:
    return [(_milliseconds(row[0]), *row[1:]) if timed(text) else tuple(row) for row in rows]


def _milliseconds(text: str) -> Ms:
    """The milliseconds of a time like 2017-07-14T02:40:00.000000Z, since 1970."""
    return moment_ms(datetime.datetime.fromisoformat(text))
