"""Cassandra: a device is a partition, written by unlogged batches of CQL."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scale_sweep.experiment.work.sums import column_types, together
from scale_sweep.loadgen.kept_files import Content
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import Cells, Drawn, Query
from scale_sweep.model.resources import LOOPBACK, ServerSpec, Site
from scale_sweep.server.targets import Address, Counted, Session, series
from scale_sweep.server.targets.base import ENVIRONMENT, WITHIN_S
from scale_sweep.server.targets.cassandra.cassandra_queries import (
    KEYSPACE,
    TABLE,
    TYPES,
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
from scale_sweep.server.targets.cassandra_node import DOUBTFUL, FLUSHED, JAR, Cql, Node, sync
from scale_sweep.server.targets.device_table import tables_of_load
from scale_sweep.server.targets.java import JavaTarget, java_settings, options
from scale_sweep.server.targets.java import effective as jvm
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_LOG, ON_DISK

ROOT = "cassandra"  # in the trial's directory
_NOT_ITEMS = {"connections", "heap"}


class CassandraSession(Session):
    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address, settings)
        self._cql = Cql(host=address.host, port=address.port)

    def _rows(self, statement: str) -> list[list[Any]]:
        self.asking = statement[:60]
        return self._cql.ask(statement, self.left_s(WITHIN_S))

    def _pending(self) -> str:
        self.asking = "a first statement"
        self._cql.ask("SELECT release_version FROM system.local", self.left_s(10))
        return ""

    def version(self) -> str:
        return str(self._rows("SELECT release_version FROM system.local")[0][0])

    def create_schema(self) -> None:
        """A keyspace without replicas, a table, and for reads indexes on tags."""
        replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
        self._rows(f"CREATE KEYSPACE {KEYSPACE} WITH replication = {replication}")
        self._rows(table(self._trial.work.data))
        for index in indexes(self._trial.work.data) if self._trial.work.counts_requests else ():
            self._rows(index)

    def create_tables(self) -> None:
        tags = self._trial.work.data.tags
        if stored_tags(tags):
            self.asking = "the names of its devices"
            for batch in tag_batches(tags, tables_of_load(self._trial, self.load_spec())):
                self._rows(batch)

    def effective(self) -> Mapping[str, str]:
        rows = self._rows("SELECT name, value FROM system_views.settings")
        reported = {str(name): str(value) for name, value in rows}
        is_synced = reported.get("commitlog_sync") in ("batch", "group")
        return {
            **{name: value for name, value in reported.items() if name in self._settings},
            **jvm(self._address.data_dir),
            ACKNOWLEDGED: ON_DISK if is_synced else IN_LOG,
            COMPRESSION: "rows by device, LZ4",
        }

    def load_spec(self) -> Mapping[str, str]:
        return self.spec_of("cassandra", table=TABLE)

    def commit_cycles(self) -> int | None:
        """Memtables of all tables that became files."""
        return int(self._rows(FLUSHED)[0][0])

    def flush(self) -> None:
        if self._address.data_dir:
            sync(Path(self._address.data_dir, ROOT))

    def count(self) -> Counted | None:
        """A device with only tags has no time."""
        rows = self._rows(f"SELECT device, count(ts), min(ts), max(ts) FROM {TABLE} GROUP BY device")
        by_device = {str(device): (int(n), float(first), float(last)) for device, n, first, last in rows if n}
        return series.counted(by_device, self._trial.work.data, is_distinct=True)

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        data = self._trial.work.data
        trues = {f"{name}.sum": 0 for name, kind in column_types(data).items() if kind == "bool"}
        by_device: dict[str, dict[str, Any]] = {}
        for names, statement in statements(data, devices):
            for device, *row in self._rows(statement):
                by_device.setdefault(str(device), {**trues}).update(figures_found(names, row, data))
        with_rows = {device: figures for device, figures in by_device.items() if figures.get("rows")}
        return with_rows if devices else {"": together(with_rows)}

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        statements_of = (self._filled(text, drawn, names) for text, drawn in questions)
        return tuple(self._unless_nothing(one, [tuple(row) for row in self._rows(one)]) for one in statements_of)

    def rows_handed(
        self, query: Query, text: str, drawn: Drawn, names: Sequence[str], content: Content
    ) -> Sequence[Cells]:
        rows = super().rows_handed(query, text, drawn, names, content)
        return self._unless_nothing(self._filled(text, drawn, names), rows)

    def _filled(self, text: str, drawn: Drawn, names: Sequence[str]) -> str:
        column = bound_column(text)
        if column and column_types(self._trial.work.data)[column] not in WITH_FRACTION:
            drawn = replace(drawn, value=float(math.floor(drawn.value)))
        return filled(text, drawn, [f"'{name}'" for name in names], str)

    def _unless_nothing(self, statement: str, rows: Sequence[Cells]) -> tuple[Cells, ...]:
        """None if they are the mean or the sum 0 of no rows."""
        is_0 = list(rows) == [(0,)] and counting(statement)
        return () if is_0 and self._rows(counting(statement)) == [[0]] else tuple(rows)

    def drop_schema(self) -> None:
        self._rows(f"DROP KEYSPACE {KEYSPACE}")


class CassandraTarget(JavaTarget):
    doubtful = DOUBTFUL
    types = TYPES
    session_type = CassandraSession
    jar = JAR

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        return {**java_settings(trial), **{k: v for k, v in trial.knobs.items() if k not in _NOT_ITEMS}}

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        settings = self.settings(trial, is_ours=True)
        root = f"{site.data_dir}/{ROOT}"
        host, clients = (LOOPBACK, site.bind_address) if site.in_image else (site.bind_address, "")
        node = Node(root=root, host=host, port=site.port, nodes_port=site.port + 1, clients_host=clients)
        flags = options(site.data_dir, settings["jvm_processors"], settings["jvm_heap"])
        return ServerSpec(
            folders=(f"{site.data_dir}/tmp",),
            argv=node.command(self.java(site), site.home, flags),
            env=ENVIRONMENT,
            files=node.files({name: value for name, value in settings.items() if not name.startswith("jvm_")}),
            ports=(site.port,) if site.in_image else (site.port, site.port + 1),
            stop_timeout_s=60.0,
        )
