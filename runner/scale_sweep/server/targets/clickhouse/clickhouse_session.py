"""A session with ClickHouse over HTTP: tables, settings, the fsync of its files as the flush, merges, the count."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from scale_sweep.base.errors import TargetError
from scale_sweep.base.input_file import below, sync
from scale_sweep.experiment.work.sums import ALL, figures_of
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.content import Content
from scale_sweep.loadgen.rows import tables_of
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.model import Cells, Drawn, Query, Trial, Work
from scale_sweep.server.targets import Address, Counted, Session, series
from scale_sweep.server.targets.clickhouse.clickhouse_facts import ASYNC, FSYNCED, SERVER, TABLES
from scale_sweep.server.targets.clickhouse.clickhouse_queries import DIALECT
from scale_sweep.server.targets.device_table import DEVICES, TABLE, of_device_table, tags_in_table
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_FILES, ON_DISK, parsed
from scale_sweep.server.targets.sql_dialect import in_ns
from scale_sweep.server.targets.web import BASIC, Web, basic

WITHIN_S = 3600.0
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
_WITH_CODECS = 19  # the first version that has codecs of columns
_ANSWER = {
    "default_format": "JSONCompact",
    "output_format_json_quote_64bit_integers": "0",
    "wait_end_of_query": "1",  # so that an error within an answer becomes its status
}


class ClickhouseSession(Session):
    """Statements by POST, one connection for each."""

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address)
        self._settings = settings
        self._user = address.user or (USER if address.is_ours else USER_OF_SERVER)
        login = basic(self._user, address.secret) if address.secret else ""
        self._web = Web(who="ClickHouse", host=address.host, port=address.port, authorization=login)
        self._named = {} if address.secret else {"user": self._user}
        self._known: frozenset[str] = frozenset()  # settings of queries in this version, once it was asked

    def _rows(self, sql: str, database: str = DATABASE) -> list[list[Any]]:
        """The rows of the answer; none of a statement without one."""
        self.asking = sql[:60]
        text = self._web.post_text(self._path(database), self.left_s(WITHIN_S), sql)
        rows: list[list[Any]] = json.loads(text)["data"] if text.strip() else []
        return rows

    def _path(self, database: str) -> str:
        return f"/?{urlencode({'database': database, **self._named, **_ANSWER})}"

    def _of_server(self, sql: str) -> list[list[Any]]:
        return self._rows(sql, "system")

    def not_ready(self) -> str:
        """The server's message while it starts."""
        self.asking = "/ping"
        return self._web.refusal("/ping", self.left_s(10))

    def version(self) -> str:
        return str(self._of_server("SELECT version()")[0][0])

    def in_the_way(self) -> str:
        there = self._of_server(f"SELECT name FROM system.databases WHERE name = '{DATABASE}'")
        return f"ClickHouse has a database {DATABASE}, which a trial would make and remove" if there else ""

    def create_schema(self) -> None:
        """One table, whose order keeps the rows of a device together. Raises TargetError if this version has no async
        inserts and the trial's method is that."""
        self._known = frozenset(str(row[0]) for row in self._of_server("SELECT name FROM system.settings"))
        if self._trial.subject.method == ASYNC and "async_insert" not in self._known:
            raise TargetError(f"ClickHouse {self.version()} has no async inserts", remedy="--method native")
        if self._address.holds_data:
            return
        self._of_server(f"CREATE DATABASE {DATABASE}")
        codec = self._codec()
        columns = "".join(
            f", `{name}` {SQL_TYPES[kind]}" for name, kind in series.columns_of(self._trial.work.data).items()
        )
        self._rows(
            f"CREATE TABLE {TABLE} (device_id UInt32, time Int64{f' CODEC({codec})' if codec else ''}{columns})"
            " ENGINE = MergeTree ORDER BY (device_id, time)"
        )

    def _codec(self) -> str:
        is_new = int(self.version().partition(".")[0]) >= _WITH_CODECS
        return self._trial.knobs["time_codec"] if is_new else ""

    def create_tables(self) -> None:
        """Where reads may ask for them, the tags of each device."""
        if not self._trial.work.counts_requests or self._address.holds_data:
            return
        tags = (tag.partition(":") for tag in self._trial.work.data.tags)
        kinds = {name: SQL_TYPES.get(kind.partition("(")[0]) for name, _, kind in tags}
        kept = {name: kind for name, kind in kinds.items() if kind}
        columns = "".join(f", `{name}` {kind}" for name, kind in kept.items())
        self._rows(f"CREATE TABLE {DEVICES} (device_id UInt32{columns}) ENGINE = MergeTree ORDER BY device_id")
        lines = "\n".join(self._device_lines(list(kept)))
        self._rows(f"INSERT INTO {DEVICES} FORMAT JSONEachRow\n{lines}")

    def _device_lines(self, tags: Sequence[str]) -> Iterator[str]:
        writing = replace(self._trial, work=Work(data=self._trial.work.data))
        tables = tables_of(loadgen_path(), trial_spec(writing, self.load_spec()), self._address.secret)
        for name, *values in zip(tables.names, *(tables.tags[tag] for tag in tags), strict=True):
            cells = {"device_id": int(name), **dict(zip(tags, values, strict=True))}
            yield json.dumps({key: value for key, value in cells.items() if value is not None})

    def load_spec(self) -> Mapping[str, str]:
        """A body has the names of its columns, so the statement has none. A setting that the version lacks is left
        out."""
        is_async = self._trial.subject.method == ASYNC
        wanted = {"async_insert": str(int(is_async)), **({"wait_for_async_insert": "1"} if is_async else {})}
        settings = {name: value for name, value in wanted.items() if name in self._known}
        statement = f"INSERT INTO {TABLE} FORMAT Native"
        spec = {
            "driver": "clickhouse",
            "method": self._trial.subject.method,
            "host": self._address.host,
            "port": str(self._address.port),
            "user": self._user,
            "write_path": f"/?{urlencode({'database': DATABASE, **self._named, **settings, 'query': statement})}",
            **({"auth_scheme": BASIC} if self._address.secret else {}),
        }
        return {**spec, **self._asking()} if self._trial.work.counts_requests else spec

    def _asking(self) -> dict[str, str]:
        return {"query_path": f"{self._path(DATABASE)}&query=", "answer_rows": "data"}

    def expected(self) -> Mapping[str, str]:
        """Everything that was set for the trial."""
        return self._settings

    def effective(self) -> Mapping[str, str]:
        """The settings of the trial, as the tables of the server report each group, and where its rows are."""
        tables = {**of_tables(self._settings), FSYNCED.removeprefix(TABLES): ""}
        known = {
            **self._reported("settings", of_queries(self._settings), ""),
            **self._reported("merge_tree_settings", tables, TABLES),
            **self._reported("server_settings", of_server(self._settings), SERVER),
        }
        terms = {
            ACKNOWLEDGED: ON_DISK if known.get(FSYNCED) == "1" else IN_FILES,
            COMPRESSION: "columns by device and time, LZ4" + (f", times {codec}" if (codec := self._codec()) else ""),
        }
        return {**known, **terms}

    def _reported(self, table: str, names: Mapping[str, str], prefix: str) -> dict[str, str]:
        if not names:
            return {}
        quoted = ", ".join(f"'{name}'" for name in names)
        rows = self._of_server(f"SELECT name, value FROM system.{table} WHERE name IN ({quoted})")
        return {f"{prefix}{name}": str(value) for name, value in rows}

    def commit_cycles(self) -> int | None:
        """Merges of parts that have begun."""
        rows = self._of_server("SELECT toUInt64(value) FROM system.events WHERE event = 'Merge'")
        return int(rows[0][0]) if rows else 0

    def flush(self) -> None:
        """Syncs all files of the table: the server writes them, and does not sync them by default."""
        if self._address.data_dir:
            self.asking = "an fsync of its files"
            sync(path for path in below(Path(self._address.data_dir, "clickhouse", "data")) if not path.is_symlink())

    def settle(self) -> None:
        """Merges all parts of the table into one, so that no merge competes with reads."""
        self._rows(f"OPTIMIZE TABLE {TABLE} FINAL")
        self.flush()

    def count(self) -> Counted | None:
        """The rows of each device, which must be consecutive from the first timestamp on."""
        rows = self._rows(f"SELECT device_id, count(), min(time), max(time) FROM {TABLE} GROUP BY device_id")
        by_device = {f"d{device}": (int(n), float(first), float(last)) for device, n, first, last in rows}
        return series.counted(by_device, self._trial.work.data)

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
        return [tuple(row) for row in parsed(content)["data"]]

    def drop_schema(self) -> None:
        self._of_server(f"DROP DATABASE IF EXISTS {DATABASE}")


def of_tables(settings: Mapping[str, str]) -> dict[str, str]:
    return _with_prefix(settings, TABLES)


def of_server(settings: Mapping[str, str]) -> dict[str, str]:
    return _with_prefix(settings, SERVER)


def of_queries(settings: Mapping[str, str]) -> dict[str, str]:
    """All others."""
    return {name: value for name, value in settings.items() if not name.startswith((TABLES, SERVER))}


def _with_prefix(settings: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in settings.items() if name.startswith(prefix)}
