"""A session with Cassandra: keyspace and table, settings, flushes, the count. Its commit log is synced from outside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.experiment.work.sums import together
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.content import Content
from scale_sweep.loadgen.rows import tables_of
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.model import Cells, Drawn, Query, Trial, Work
from scale_sweep.server.targets import Address, Counted, Session, series
from scale_sweep.server.targets.cassandra.cassandra_queries import (
    KEYSPACE,
    TABLE,
    WITH_FRACTION,
    bound_column,
    counting,
    figures_found,
    indexes,
    statements,
    stored_tags,
    table,
    tag_batches,
)
from scale_sweep.server.targets.cassandra_node import FLUSHED, Cql, sync
from scale_sweep.server.targets.java import effective as jvm
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_LOG, ON_DISK

WITHIN_S = 3600.0
ROOT = "cassandra"  # in the trial's directory


class CassandraSession(Session):
    """Statements of CQL, one connection for each."""

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address)
        self._settings = settings
        self._cql = Cql(host=address.host, port=address.port)

    def _rows(self, statement: str) -> list[list[Any]]:
        self.asking = statement[:60]
        return self._cql.ask(statement, self.left_s(WITHIN_S))

    def not_ready(self) -> str:
        """The server's message while it starts."""
        self.asking = "a first statement"
        try:
            self._cql.ask("SELECT release_version FROM system.local", self.left_s(10))
        except TargetError as error:
            return error.message
        return ""

    def version(self) -> str:
        return str(self._rows("SELECT release_version FROM system.local")[0][0])

    def create_schema(self) -> None:
        """Creates a keyspace without replicas, a table of all devices, and for reads, indexes on their tags."""
        replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
        self._rows(f"CREATE KEYSPACE {KEYSPACE} WITH replication = {replication}")
        self._rows(table(self._trial.work.data))
        for index in indexes(self._trial.work.data) if self._trial.work.counts_requests else ():
            self._rows(index)

    def create_tables(self) -> None:
        """The tags of each device."""
        data = self._trial.work.data
        if not stored_tags(data.tags):
            return
        writing = replace(self._trial, work=Work(data=data))
        self.asking = "the names of its devices"
        for batch in tag_batches(data.tags, tables_of(loadgen_path(), trial_spec(writing, self.load_spec()), "")):
            self._rows(batch)

    def expected(self) -> Mapping[str, str]:
        """Everything that was set for the trial."""
        return self._settings

    def effective(self) -> Mapping[str, str]:
        """The server's report of its settings, and the JVM's resources."""
        reported = {
            str(name): str(value) for name, value in self._rows("SELECT name, value FROM system_views.settings")
        }
        is_synced = reported.get("commitlog_sync") in ("batch", "group")
        terms = {ACKNOWLEDGED: ON_DISK if is_synced else IN_LOG, COMPRESSION: "rows by device, LZ4"}
        settings = {name: value for name, value in reported.items() if name in self._settings}
        return {**settings, **jvm(self._address.data_dir), **terms}

    def load_spec(self) -> Mapping[str, str]:
        """The driver of prepared INSERT statements in batches."""
        return {
            "driver": "cassandra",
            "method": self._trial.subject.method,
            "host": self._address.host,
            "port": str(self._address.port),
            "table": TABLE,
        }

    def commit_cycles(self) -> int | None:
        """Memtables that became files, of the load's table and of all others, since the server was started."""
        return int(self._rows(FLUSHED)[0][0])

    def flush(self) -> None:
        """Returns when the commit log has marked what was acknowledged, and its files are fsynced."""
        if self._address.data_dir:
            sync(Path(self._address.data_dir, ROOT))

    def count(self) -> Counted | None:
        """The rows of each device, which must be consecutive from the first timestamp on. A device with only tags has
        no time."""
        rows = self._rows(f"SELECT device, count(ts), min(ts), max(ts) FROM {TABLE} GROUP BY device")
        by_device = {str(device): (int(n), float(first), float(last)) for device, n, first, last in rows if n}
        return series.counted(by_device, self._trial.work.data, is_distinct=True)

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """By device, from which those of all together are added up."""
        data = self._trial.work.data
        trues = {f"{name}.sum": 0 for name, kind in series.columns_of(data).items() if kind == "bool"}
        by_device: dict[str, dict[str, Any]] = {}
        for names, statement in statements(data, devices):
            for device, *row in self._rows(statement):
                by_device.setdefault(str(device), {**trues}).update(figures_found(names, row, data))
        held = {device: figures for device, figures in by_device.items() if figures.get("rows")}
        return held if devices else {"": together(held)}

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        texts = [f"'{name}'" for name in names]
        return tuple(self._answer(filled(text, self._bound(text, one), texts, str)) for text, one in questions)

    def rows_handed(
        self, query: Query, text: str, drawn: Drawn, names: Sequence[str], content: Content
    ) -> Sequence[Cells]:
        rows = super().rows_handed(query, text, drawn, names, content)
        statement = filled(text, self._bound(text, drawn), [f"'{name}'" for name in names], str)
        return () if self._is_nothing(statement, rows) else rows

    def _bound(self, text: str, drawn: Drawn) -> Drawn:
        column = bound_column(text)
        is_whole = column and series.columns_of(self._trial.work.data)[column] not in WITH_FRACTION
        return replace(drawn, value=float(math.floor(drawn.value))) if is_whole else drawn

    def _answer(self, text: str) -> tuple[Cells, ...]:
        rows = tuple(tuple(row) for row in self._rows(text))
        return () if self._is_nothing(text, rows) else rows

    def _is_nothing(self, text: str, rows: Sequence[Cells]) -> bool:
        """Whether a mean or a sum of 0 is of no rows."""
        is_0 = list(rows) == [(0,)] and counting(text)
        return bool(is_0 and self._rows(counting(text)) == [[0]])

    def drop_schema(self) -> None:
        self._rows(f"DROP KEYSPACE {KEYSPACE}")
