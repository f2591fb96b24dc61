"""A session with CrateDB over HTTP: queries, table, settings, the flush of its shards, the count."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import Query
from scale_sweep.server.targets import Counted, Part, series
from scale_sweep.server.targets.cratedb.cratedb_facts import DURABILITY, OF_TABLE, PGWIRE, UNNEST
from scale_sweep.server.targets.device_table import DEVICES, TABLE, DeviceTable, DeviceTableSession
from scale_sweep.server.targets.java import effective as jvm
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_LOG, ON_DISK
from scale_sweep.server.targets.sql_dialect import Dialect, listed, signed_types
from scale_sweep.server.targets.web import SqlSession


def _summed(name: str, kind: str) -> str:
    return f'CASE "{name}" WHEN true THEN 1 WHEN false THEN 0 END' if kind == "bool" else f'"{name}"'


SQL = Dialect(
    aggregates={
        "count": "count({0})",
        "avg": "avg({0}::double precision)",
        "sum": "sum({0}::double precision)",
        "max": "max({0})",
        "min": "min({0})",
        "spread": "max({0})::double precision - min({0})::double precision",
        "first": "min_by({0}, time)",
        "last": "max_by({0}, time)",
        "stddev": "stddev_pop({0}::double precision)",
        "stddev_samp": "stddev_samp({0}::double precision)",
        "count_distinct": "count(DISTINCT {0})",
        "rate": "(max_by({0}, time)::double precision - min_by({0}, time)::double precision)"
        " / nullif((max(time)::bigint - min(time)::bigint) / 1000.0, 0)",
        "max_time": "max(time) FILTER (WHERE {0} IS NOT NULL)",
        "min_time": "min(time) FILTER (WHERE {0} IS NOT NULL)",
    },
    time="time",
    bucket="date_bin('{0} milliseconds'::interval, time, 0)",
    value="{0}::double precision",
    tag="{0}::text",
    summed=_summed,
    double="({0})::double precision",
    added_as_double=("float", "double", "bigint", "uint", "timestamp"),
)


def _newest(query: Query, cells: str, chosen: str) -> str:
    rank = "row_number() OVER (PARTITION BY device_id ORDER BY time DESC)"
    columns = listed(("time", "device_id", *SQL.columns(query)))
    ranked = f"SELECT {columns}, {rank} AS place FROM {TABLE}{chosen}"
    return f"SELECT {cells} FROM ({ranked}) ranked WHERE place = 1 ORDER BY device_id"


_TABLES = DeviceTable(title="CrateDB", sql=SQL, newest=_newest, by_time="SELECT * FROM ({0}) both_sets ORDER BY time")


def rendered(query: Query, data: Workload, method: str) -> str:
    """With placeholders. Raises CannotAsk."""
    if method == PGWIRE:
        raise CannotAsk("CrateDB is asked over HTTP, not by its protocol of PostgreSQL", remedy=f"--method {UNNEST}")
    if query.sets and query.sets != "union" and not query.text:
        raise CannotAsk(f"CrateDB has no {query.sets.upper()}", remedy="set = union")
    return replace(_TABLES, joined=_joined(query)).rendered(query)


def _joined(query: Query) -> str:
    named = (query.tag, query.each_tag, query.with_tag[0] if query.with_tag else "")
    tags = listed(SQL.column.format(tag) for tag in dict.fromkeys(filter(None, named)))
    tagged = f"SELECT device_id AS tagged_id, {tags} FROM {DEVICES}"
    return f"{TABLE} JOIN ({tagged}) tagged ON device_id = tagged_id" if tags else TABLE


PATH = "/_sql"
USER, SCHEMA = "crate", "doc"  # its superuser, and the schema of statements that name none
PGWIRE_OFFSET = 2  # from the port of HTTP on
SQL_TYPES = signed_types("BOOLEAN, SMALLINT, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE PRECISION, BIGINT, TEXT")
_DEVICES_AT_ONCE = 5000
_SHARDS = f"FROM sys.shards WHERE table_name = '{TABLE}'"
_TIMES = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_FACTORS = {**_TIMES, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30}
_AMOUNT = re.compile(r"(\d+)\s*([a-z]+)")


class CratedbSession(SqlSession, DeviceTableSession):
    who = "CrateDB"
    ready_path = "/"
    member = "rows"
    reading: Mapping[str, str] = {
        "query_path": PATH,
        "query_posted": "1",
        "query_member": "stmt",
        "answer_rows": member,
    }
    sql = SQL
    types = SQL_TYPES

    def _reply(self, statement: str, **arguments: Any) -> Any:
        return self._posted(statement[:60], PATH, json.dumps({"stmt": statement, **arguments}))

    def _pending(self) -> str:
        """On files of an earlier start, tables come after its first answer, and their shards later."""
        return super()._pending() or self.schema_pending()

    def schema_pending(self) -> str:
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
        if self._address.holds_data:
            return
        of_table = {k.removeprefix(OF_TABLE): v for k, v in self._settings.items() if k.startswith(OF_TABLE)}
        settings = {"number_of_replicas": "0", **of_table}
        listed = ", ".join(f"\"{name}\" = '{value}'" for name, value in settings.items())
        self._rows(
            f"CREATE TABLE {TABLE} (device_id INTEGER, time TIMESTAMP WITH TIME ZONE{self._columns_sql()})"
            f" CLUSTERED BY (device_id) INTO {int(self._trial.knobs['partitions'])} SHARDS WITH ({listed})"
        )

    def _make_devices(self, columns: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self._rows(
            f"CREATE TABLE {DEVICES} (device_id INTEGER PRIMARY KEY{columns}) CLUSTERED INTO 1 SHARDS"
            " WITH (number_of_replicas = 0)"
        )
        insert = f"INSERT INTO {DEVICES} VALUES ({', '.join('?' for _ in names)})"
        cells = [[int(device), *tags] for device, *tags in rows]
        for part in series.in_parts(cells, _DEVICES_AT_ONCE):
            self._rows(insert, bulk_args=part)
        self._rows(f"REFRESH TABLE {DEVICES}")

    def load_spec(self) -> Mapping[str, str]:
        if self._trial.subject.method == PGWIRE:
            port = str(self._address.port + PGWIRE_OFFSET)
            return self.spec_of("pgarrays", method="arrays", port=port, user=USER, database=SCHEMA, table=TABLE)
        return self._spec("cratedb", table=TABLE, write_path=PATH)

    def effective(self) -> Mapping[str, str]:
        """Settings of table and cluster, the shards, the JVM's resources."""
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
        """Folders of shards: the server chooses their disks."""
        rows = self._rows(f"SELECT id, path {_SHARDS} ORDER BY id") if self._address.disks else []
        return tuple(Part(name=f"shard {number}", path=str(path), disk=None) for number, path in rows)

    def commit_cycles(self) -> int | None:
        """Flushes of shards: commits of their files, each with a new log."""
        return int(self._rows(f"SELECT coalesce(sum(flush_stats['count']), 0) {_SHARDS}")[0][0])

    def flush(self) -> None:
        """Commits the files of every shard, with an fsync."""
        self._rows(f"REFRESH TABLE {TABLE}")
        self._rows(f"OPTIMIZE TABLE {TABLE} WITH (only_expunge_deletes = true, flush = true)")

    def settle(self) -> None:
        """One file for each shard, so that no merge competes with reads."""
        self._rows(f"REFRESH TABLE {TABLE}")
        self._rows(f"OPTIMIZE TABLE {TABLE} WITH (max_num_segments = 1, flush = true)")

    def count(self) -> Counted | None:
        """Statements are no transactions: one that failed may have stored some rows."""
        self._rows(f"REFRESH TABLE {TABLE}")
        counted = super().count()
        return replace(counted, has_parts=True) if counted else None


def items(tree: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Settings of a tree, by names with points."""
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from items(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", str(value).lower() if isinstance(value, bool) else str(value)


def as_set(value: str, reported: str) -> str:
    """Reported as it was set if it is the same: "5s" for 5000 or "5000ms"."""
    return value if _plain(value) == _plain(reported) else reported


def _plain(text: str) -> str:
    """In ms or bytes, without a unit."""
    match = _AMOUNT.fullmatch(text.lower())
    factor = _FACTORS.get(match.group(2)) if match else None
    return str(int(match.group(1)) * factor) if match and factor else text.lower()
