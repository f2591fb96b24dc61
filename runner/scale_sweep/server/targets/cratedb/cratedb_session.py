"""A session with CrateDB over HTTP: table, settings, the flush of its shards, the count."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.experiment.work.sums import ALL, figures_of
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.content import Content
from scale_sweep.loadgen.rows import tables_of
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.model import Cells, Drawn, Query, Trial, Work
from scale_sweep.server.targets import Address, Counted, Part, Session, series
from scale_sweep.server.targets.cratedb.cratedb_facts import DURABILITY, OF_TABLE, PGWIRE
from scale_sweep.server.targets.cratedb.cratedb_queries import DIALECT
from scale_sweep.server.targets.cratedb.settings import as_set, items
from scale_sweep.server.targets.device_table import DEVICES, TABLE, of_device_table, tags_in_table
from scale_sweep.server.targets.java import effective as jvm
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_LOG, ON_DISK, parsed
from scale_sweep.server.targets.sql_dialect import in_ns
from scale_sweep.server.targets.web import Web

WITHIN_S = 3600.0
ROOT, DATA, NAME = "cratedb", "crate", "scale"  # folders of its files and of its shards; of cluster and node
PATH = "/_sql"
USER, SCHEMA = "crate", "doc"  # the superuser that each CrateDB has, and the schema of statements that name none
PGWIRE_OFFSET = 2  # of its port, from that of HTTP on
SQL_TYPES = {
    "bool": "BOOLEAN",
    "tinyint": "SMALLINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "utinyint": "SMALLINT",
    "usmallint": "INTEGER",
    "uint": "BIGINT",
    "float": "REAL",
    "double": "DOUBLE PRECISION",
    "timestamp": "BIGINT",
    "binary": "TEXT",
    "nchar": "TEXT",
}
_DEVICES_AT_ONCE = 5000
_SHARDS = f"FROM sys.shards WHERE table_name = '{TABLE}'"


class CratedbSession(Session):
    """Statements by POST, one connection for each."""

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address)
        self._settings = settings
        self._web = Web(who="CrateDB", host=address.host, port=address.port)

    def _rows(self, sql: str, **arguments: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The rows of the answer; none of a statement without one."""
        self.asking = sql[:60]
        answer = self._web.ask_json(PATH, self.left_s(WITHIN_S), json.dumps({"stmt": sql, **arguments}))
        rows: list[list[Any]] = answer.get("rows", [])
        return rows

    def not_ready(self) -> str:
        """The server's message while it starts. On files of an earlier start, it has its tables after its first
        answer, and their shards later."""
        self.asking = "/"
        if why := self._web.refusal("/", self.left_s(10)):
            return why
        try:
            return self._shards_pending()
        except TargetError as error:
            return error.message

    def _shards_pending(self) -> str:
        states = [state for (state,) in self._rows(f"SELECT state {_SHARDS} AND primary")]
        waiting = len(states) - states.count("STARTED")
        return f"{waiting} of {len(states)} shards have not started" if waiting else ""

    def version(self) -> str:
        return str(self._rows("SELECT version['number'] FROM sys.nodes")[0][0])

    def in_the_way(self) -> str:
        there = self._rows(
            f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{SCHEMA}'"
            f" AND table_name IN ('{TABLE}', '{DEVICES}')"
        )
        return f"CrateDB has a table {there[0][0]}, which a trial would make and remove" if there else ""

    def create_schema(self) -> None:
        """One table, whose rows of a device are in one shard."""
        if self._address.holds_data:
            return
        columns = "".join(
            f', "{name}" {SQL_TYPES[kind]}' for name, kind in series.columns_of(self._trial.work.data).items()
        )
        settings = {"number_of_replicas": "0", **self._of_table()}
        listed = ", ".join(f"\"{name}\" = '{value}'" for name, value in settings.items())
        self._rows(
            f"CREATE TABLE {TABLE} (device_id INTEGER, time TIMESTAMP WITH TIME ZONE{columns})"
            f" CLUSTERED BY (device_id) INTO {int(self._trial.knobs['partitions'])} SHARDS WITH ({listed})"
        )

    def _of_table(self) -> dict[str, str]:
        return {k.removeprefix(OF_TABLE): v for k, v in self._settings.items() if k.startswith(OF_TABLE)}

    def schema_pending(self) -> str:
        """A shard that has not started."""
        return self._shards_pending()

    def create_tables(self) -> None:
        """Where reads may ask for them, the tags of each device."""
        if not self._trial.work.counts_requests or self._address.holds_data:
            return
        tags = (tag.partition(":") for tag in self._trial.work.data.tags)
        kinds = {name: SQL_TYPES.get(kind.partition("(")[0]) for name, _, kind in tags}
        kept = {name: kind for name, kind in kinds.items() if kind}
        columns = "".join(f', "{name}" {kind}' for name, kind in kept.items())
        self._rows(
            f"CREATE TABLE {DEVICES} (device_id INTEGER PRIMARY KEY{columns}) CLUSTERED INTO 1 SHARDS"
            " WITH (number_of_replicas = 0)"
        )
        marks = ", ".join("?" for _ in range(1 + len(kept)))
        rows = list(self._device_rows(list(kept)))
        for first in range(0, len(rows), _DEVICES_AT_ONCE):
            self._rows(f"INSERT INTO {DEVICES} VALUES ({marks})", bulk_args=rows[first : first + _DEVICES_AT_ONCE])
        self._rows(f"REFRESH TABLE {DEVICES}")

    def _device_rows(self, tags: Sequence[str]) -> Iterator[list[Any]]:
        writing = replace(self._trial, work=Work(data=self._trial.work.data))
        tables = tables_of(loadgen_path(), trial_spec(writing, self.load_spec()), self._address.secret)
        for name, *values in zip(tables.names, *(tables.tags[tag] for tag in tags), strict=True):
            yield [int(name), *values]

    def load_spec(self) -> Mapping[str, str]:
        """The driver of its endpoint for SQL, or of arrays by the protocol of PostgreSQL."""
        if self._trial.subject.method == PGWIRE:
            return {
                "driver": "pgarrays",
                "method": "arrays",
                "host": self._address.host,
                "port": str(self._address.port + PGWIRE_OFFSET),
                "user": USER,
                "database": SCHEMA,
                "table": TABLE,
            }
        spec = {
            "driver": "cratedb",
            "method": self._trial.subject.method,
            "host": self._address.host,
            "port": str(self._address.port),
            "table": TABLE,
            "write_path": PATH,
        }
        asking = {"query_path": PATH, "query_posted": "1", "query_member": "stmt", "answer_rows": "rows"}
        return {**spec, **asking} if self._trial.work.counts_requests else spec

    def expected(self) -> Mapping[str, str]:
        """Everything that was set for the trial."""
        return self._settings

    def effective(self) -> Mapping[str, str]:
        """The settings of the table and of the cluster that the trial names, the shards, and the JVM's resources."""
        cluster, processors, version = self._rows(
            "SELECT (SELECT settings FROM sys.cluster), os_info['available_processors'], os_info['jvm']['version']"
            " FROM sys.nodes"
        )[0]
        table, shards = self._rows(
            f"SELECT settings, number_of_shards FROM information_schema.tables WHERE table_name = '{TABLE}'"
        )[0]
        named = {**{OF_TABLE + name: value for name, value in items(table)}, **dict(items(cluster))}
        known = {name: as_set(value, named[name]) for name, value in self._settings.items() if name in named}
        return {
            **known,
            "partitions": str(shards),
            "java": str(version),
            **(jvm(self._address.data_dir) if self._address.data_dir else {}),
            "jvm_processors": str(processors),
            ACKNOWLEDGED: ON_DISK if named.get(DURABILITY) == "REQUEST" else IN_LOG,
            COMPRESSION: "columns and rows by shard, LZ4",
        }

    def parts(self) -> tuple[Part, ...]:
        """The folder of each shard. The server chooses its disk."""
        if not self._address.disks:
            return ()
        rows = self._rows(f"SELECT id, path {_SHARDS} ORDER BY id")
        return tuple(Part(name=f"shard {number}", path=str(path), disk=None) for number, path in rows)

    def commit_cycles(self) -> int | None:
        """Flushes of shards: commits of their files, after which a shard begins a new log."""
        return int(self._rows(f"SELECT coalesce(sum(flush_stats['count']), 0) {_SHARDS}")[0][0])

    def flush(self) -> None:
        """Commits the files of every shard, with an fsync, so that none of its rows is in the log only."""
        self._rows(f"REFRESH TABLE {TABLE}")
        self._rows(f"OPTIMIZE TABLE {TABLE} WITH (only_expunge_deletes = true, flush = true)")

    def settle(self) -> None:
        """Merges the files of each shard into one, so that no merge competes with reads."""
        self._rows(f"REFRESH TABLE {TABLE}")
        self._rows(f"OPTIMIZE TABLE {TABLE} WITH (max_num_segments = 1, flush = true)")

    def count(self) -> Counted | None:
        """The rows of each device, which must be consecutive from the first timestamp on. Statements are no
        transactions, so that one which failed may have stored some of its rows."""
        self._rows(f"REFRESH TABLE {TABLE}")
        rows = self._rows(f"SELECT device_id, count(*), min(time), max(time) FROM {TABLE} GROUP BY device_id")
        by_device = {f"d{device}": (int(n), float(first), float(last)) for device, n, first, last in rows}
        return replace(series.counted(by_device, self._trial.work.data), has_parts=True)

    def stored_tags(self, names: Sequence[str]) -> Mapping[str, Set[tuple[str, ...]]] | None:
        return tags_in_table(self._trial.work.data.tags, self._rows)

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """One pass over the table."""
        names = figures_of(self._trial.work.data, ALL)
        rows = self._rows(of_device_table(self._trial, devices, ALL, DIALECT))
        return {str(device): in_ns(names, figures, DIALECT) for device, *figures in rows}

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        return tuple(
            tuple(tuple(row) for row in self._rows(filled(text, drawn, names, str))) for text, drawn in questions
        )

    def rows_handed(
        self, query: Query, text: str, drawn: Drawn, names: Sequence[str], content: Content
    ) -> Sequence[Cells]:
        return [tuple(row) for row in parsed(content)["rows"]]

    def drop_schema(self) -> None:
        for table in (TABLE, DEVICES):
            self._rows(f"DROP TABLE IF EXISTS {table}")
