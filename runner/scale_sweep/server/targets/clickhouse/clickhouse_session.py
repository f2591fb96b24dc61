"""A session with ClickHouse over HTTP: queries, tables, settings, the fsync of its files, merges, the count."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from scale_sweep.base.errors import CannotAsk, TargetError
from scale_sweep.base.input_file import below, sync
from scale_sweep.model.declared import Workload
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import COUNTS, Query
from scale_sweep.server.targets import Address
from scale_sweep.server.targets.base import WITHIN_S
from scale_sweep.server.targets.clickhouse.clickhouse_facts import ASYNC, FSYNCED, SERVER, TABLES
from scale_sweep.server.targets.device_table import DEVICES, TABLE, DeviceTable, DeviceTableSession
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_FILES, ON_DISK
from scale_sweep.server.targets.sql_dialect import Dialect
from scale_sweep.server.targets.web import BASIC, SqlSession, basic

SQL = Dialect(
    aggregates={
        "count": "count({0})",
        "avg": "avg(toFloat64({0}))",
        "sum": "sum(toFloat64({0}))",
        "max": "max({0})",
        "min": "min({0})",
        "spread": "toFloat64(max({0})) - toFloat64(min({0}))",
        "first": "argMin({0}, time)",
        "last": "argMax({0}, time)",
        "percentile": "quantileExactInclusive({1} / 100.0)({0})",
        "stddev": "stddevPop(toFloat64({0}))",
        "stddev_samp": "stddevSamp(toFloat64({0}))",
        "count_distinct": "uniqExact({0})",
        "rate": "(toFloat64(argMax({0}, time)) - toFloat64(argMin({0}, time)))"
        " / nullIf((max(time) - min(time)) / 1000, 0)",
        "max_time": "maxIf(time, isNotNull({0}))",
        "min_time": "minIf(time, isNotNull({0}))",
    },
    time="time",
    column="`{0}`",
    bucket="intDiv(time, {0}) * {0}",  # the type of a remainder may be too small for it
    tag="toString({0})",
    double="toFloat64({0})",
    added_as_double=("float", "double", "bigint", "ubigint", "timestamp"),
)


def _newest(query: Query, cells: str, chosen: str) -> str:
    return f"SELECT {cells} FROM {TABLE}{chosen} ORDER BY device_id, time DESC LIMIT 1 BY device_id"


_TABLES = DeviceTable(
    title="ClickHouse",
    sql=SQL,
    newest=_newest,
    joined=f"{TABLE} ALL INNER JOIN {DEVICES} USING (device_id)",
    by_tag="{0}",
    by_time="SELECT DISTINCT * FROM ({0}) ORDER BY time",
    union="UNION ALL",
)


def rendered(query: Query, data: Workload, method: str) -> str:
    """The aggregate of no rows is 0 in ClickHouse and NULL in SQL, so there it returns no row. Raises CannotAsk."""
    text = _TABLES.rendered(query)
    if not query.is_one_aggregate or query.text:
        return text
    if not query.counts:
        return f"{text} HAVING count() > 0"
    if (query.bounds or query.conditions) and set(query.functions) - set(COUNTS):
        raise CannotAsk("ClickHouse has 0, and not NULL, for the aggregate of no rows beside their number")
    return text


USER, DATABASE = "scale", "scale"
USER_OF_SERVER = "default"  # of a server that is not ours
SQL_TYPES = {
    "bool": "UInt8",
    "tinyint": "Int8",
    "smallint": "Int16",
    "int": "Int32",
    "bigint": "Int64",
    "utinyint": "UInt8",
    "usmallint": "UInt16",
    "uint": "UInt32",
    "ubigint": "UInt64",
    "float": "Float32",
    "double": "Float64",
    "timestamp": "Int64",
    "binary": "String",
    "nchar": "String",
    "varbinary": "String",
}
_WITH_CODECS = 19  # the first version with codecs of columns
_ANSWER = {
    "default_format": "JSONCompact",
    "output_format_json_quote_64bit_integers": "0",
    "wait_end_of_query": "1",  # so that an error within an answer becomes its status
}


class ClickhouseSession(SqlSession, DeviceTableSession):
    who = "ClickHouse"
    ready_path = "/ping"
    member = "data"
    sql = SQL
    types = SQL_TYPES

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        self._user = address.user or (USER if address.is_ours else USER_OF_SERVER)
        super().__init__(trial, address, settings, basic(self._user, address.secret) if address.secret else "")
        self._named = {} if address.secret else {"user": self._user}
        self.reading = {"query_path": f"{self._path(DATABASE)}&query=", "answer_rows": self.member}
        self._known: frozenset[str] = frozenset()  # settings of queries in this version

    def _reply(self, statement: str, database: str = DATABASE, **more: Any) -> Any:
        self.asking = statement[:60]
        text = self._web.post(self._path(database), self.left_s(WITHIN_S), statement)
        return json.loads(text) if text.strip() else {self.member: []}

    def _path(self, database: str) -> str:
        return f"/?{urlencode({'database': database, **self._named, **_ANSWER})}"

    def _of_server(self, sql: str) -> list[list[Any]]:
        return self._rows(sql, database="system")

    def version(self) -> str:
        return str(self._of_server("SELECT version()")[0][0])

    def in_the_way(self) -> str:
        there = self._of_server(f"SELECT name FROM system.databases WHERE name = '{DATABASE}'")
        return f"ClickHouse has a database {DATABASE}, which a trial would make and remove" if there else ""

    def create_schema(self) -> None:
        """Its order keeps the rows of a device together. Raises TargetError if the method is async and the version has
        no async inserts."""
        self._known = frozenset(str(row[0]) for row in self._of_server("SELECT name FROM system.settings"))
        if self._trial.subject.method == ASYNC and "async_insert" not in self._known:
            raise TargetError(f"ClickHouse {self.version()} has no async inserts", remedy="--method native")
        if self._address.holds_data:
            return
        self._of_server(f"CREATE DATABASE {DATABASE}")
        codec = f" CODEC({codec})" if (codec := self._codec()) else ""
        self._rows(
            f"CREATE TABLE {TABLE} (device_id UInt32, time Int64{codec}{self._columns_sql()})"
            " ENGINE = MergeTree ORDER BY (device_id, time)"
        )

    def _codec(self) -> str:
        is_new = int(self.version().partition(".")[0]) >= _WITH_CODECS
        return self._trial.knobs["time_codec"] if is_new else ""

    def _make_devices(self, columns: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self._rows(f"CREATE TABLE {DEVICES} (device_id UInt32{columns}) ENGINE = MergeTree ORDER BY device_id")
        cells = (zip(names, (int(device), *tags), strict=True) for device, *tags in rows)
        lines = "\n".join(json.dumps({name: cell for name, cell in row if cell is not None}) for row in cells)
        self._rows(f"INSERT INTO {DEVICES} FORMAT JSONEachRow\n{lines}")

    def load_spec(self) -> Mapping[str, str]:
        """A body names its columns, so the statement does not. A setting that the version lacks is left out."""
        is_async = self._trial.subject.method == ASYNC
        wanted = {"async_insert": str(int(is_async)), **({"wait_for_async_insert": "1"} if is_async else {})}
        settings = {name: value for name, value in wanted.items() if name in self._known}
        statement = f"INSERT INTO {TABLE} FORMAT Native"
        path = f"/?{urlencode({'database': DATABASE, **self._named, **settings, 'query': statement})}"
        login = {"auth_scheme": BASIC} if self._address.secret else {}
        return self._spec("clickhouse", user=self._user, write_path=path, **login)

    def effective(self) -> Mapping[str, str]:
        """As the tables of the server report each group."""
        tables = {**group(self._settings, TABLES), FSYNCED.removeprefix(TABLES): ""}
        known = {
            **self._reported("settings", group(self._settings), ""),
            **self._reported("merge_tree_settings", tables, TABLES),
            **self._reported("server_settings", group(self._settings, SERVER), SERVER),
        }
        codec = f", times {codec}" if (codec := self._codec()) else ""
        terms = {
            ACKNOWLEDGED: ON_DISK if known.get(FSYNCED) == "1" else IN_FILES,
            COMPRESSION: f"columns by device and time, LZ4{codec}",
        }
        return {**known, **terms}

    def _reported(self, table: str, names: Mapping[str, str], prefix: str) -> dict[str, str]:
        quoted = ", ".join(f"'{name}'" for name in names)
        sql = f"SELECT name, value FROM system.{table} WHERE name IN ({quoted})"
        return {f"{prefix}{name}": str(value) for name, value in self._of_server(sql)} if names else {}

    def commit_cycles(self) -> int | None:
        """Begun merges of parts."""
        rows = self._of_server("SELECT toUInt64(value) FROM system.events WHERE event = 'Merge'")
        return int(rows[0][0]) if rows else 0

    def flush(self) -> None:
        """By default the server does not sync the files that it writes."""
        if self._address.data_dir:
            self.asking = "an fsync of its files"
            sync(path for path in below(Path(self._address.data_dir, "clickhouse", "data")) if not path.is_symlink())

    def settle(self) -> None:
        """One part, so that no merge competes with reads."""
        self._rows(f"OPTIMIZE TABLE {TABLE} FINAL")
        self.flush()

    def drop_schema(self) -> None:
        self._of_server(f"DROP DATABASE IF EXISTS {DATABASE}")


def group(settings: Mapping[str, str], prefix: str = "") -> dict[str, str]:
    """Settings with this prefix, without it; "": those of queries."""
    if not prefix:
        return {name: value for name, value in settings.items() if not name.startswith((TABLES, SERVER))}
    return {name.removeprefix(prefix): value for name, value in settings.items() if name.startswith(prefix)}
