"""A session with PostgreSQL: schema, settings, checkpoint, waits, the count."""

from __future__ import annotations

import datetime
import importlib.util
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg

from scale_sweep.base.errors import TargetError
from scale_sweep.base.units import counted
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.verbs import run_verb
from scale_sweep.model.declared import Tls
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import Cells, Drawn
from scale_sweep.server.targets import Address, Counted, Part
from scale_sweep.server.targets.certificates import VERIFYING, root_file
from scale_sweep.server.targets.device_table import DEVICES, TABLE, DeviceTableSession
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.postgres.postgres_facts import FACTS, JSONB, REPLACING, SUMS
from scale_sweep.server.targets.postgres.postgres_queries import METRICS, SQL, SQL_OF_JSON
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_MEMORY, ON_DISK, moment_ms
from scale_sweep.server.targets.sql_dialect import signed_types

USER, DATABASE = "scale", "postgres"
USER_OF_SERVER = "postgres"  # of one that is not ours
OF_TABLES = ("partitions", "chunk_interval", "space_partitions", "compress")  # knobs that a running server takes
SPACE = "space"  # a tablespace's directory on its disk
SQL_TYPES = signed_types(
    "boolean, smallint, smallint, integer, bigint, real, double precision, timestamptz, text",
    ubigint="numeric",
    varbinary="bytea",
)


_VERIFIED = dict.fromkeys(VERIFYING, "certificate verified") | {"verify-full": "certificate and host name verified"}
_CONNECT_S = 60.0
_NO_FILE = "/nonexistent"  # for the certificates that libpq would take from the environment or the home
_OLD_COUNTS = "checkpoints_timed + checkpoints_req"
_LOCKS = ("Lock", "LWLock", "BufferPin")
_WAITS = (
    "SELECT wait_event_type, wait_event, count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    " AND state = 'active' AND pid <> pg_backend_pid() AND coalesce(wait_event_type, '') <> 'Client' GROUP BY 1, 2"
)


class PostgresSession(DeviceTableSession):
    types = SQL_TYPES
    types_of_tags: Mapping[str, str] = {kind: name for kind, name in SQL_TYPES.items() if kind != "varbinary"}
    figures = SUMS

    def __init__(self, trial: Trial, address: Address, libpq: str) -> None:
        super().__init__(trial, address)
        self.sql = SQL_OF_JSON if trial.subject.method == JSONB else SQL
        self._libpq = (_libpq_with_tls() or libpq) if trial.subject.tls else libpq
        self._user = address.user or (USER if address.is_ours else USER_OF_SERVER)
        self._connection: psycopg.Connection | None = None
        self._watching: psycopg.Connection | None = None

    def not_ready(self) -> str:
        self.asking = "a connection"
        try:
            self._connection = self._connected()
        except psycopg.Error as error:
            return str(error).strip()
        return ""

    def _connected(self) -> psycopg.Connection:
        return psycopg.connect(
            host=self._address.host,
            port=self._address.port,
            user=self._user,
            password=self._address.secret,
            dbname=self._address.database or DATABASE,
            autocommit=True,
            **_tls_words(self._trial.subject.tls),
            connect_timeout=5,
        )

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        if self._connection is None:
            raise TargetError("PostgreSQL: no connection yet")
        self.asking = _question(sql)
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql.encode())
                return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            raise TargetError(f"PostgreSQL refused {_question(sql)!r}: {error}".strip()) from None

    def version(self) -> str:
        return str(self._rows("SHOW server_version")[0][0])

    def in_the_way(self) -> str:
        there = [name for name in (TABLE, DEVICES) if self._rows(f"SELECT to_regclass('{name}')")[0][0] is not None]
        return f"PostgreSQL has a table {there[0]}, which a trial would make and remove" if there else ""

    def create_schema(self) -> None:
        """The table and its hash partitions, with tsdbperf's two indexes; on disks in tablespaces, round robin."""
        disks = self._address.disks
        for i, path in enumerate(disks):
            self._rows(f"CREATE TABLESPACE d{i + 1} LOCATION '{path}/{SPACE}'")
        partitions = int(self._trial.knobs["partitions"])
        self._create_table(" PARTITION BY HASH (device_id)")
        for i in range(partitions):
            where = f" TABLESPACE d{i % len(disks) + 1}" if disks else ""
            self._rows(
                f"CREATE TABLE {TABLE}_p{i} PARTITION OF {TABLE} "
                f"FOR VALUES WITH (MODULUS {partitions}, REMAINDER {i}){where}"
            )
            for index in self._indexes(f"{TABLE}_p{i}") if disks else ():
                self._rows(f"{index}{where}")
        for index in self._indexes(TABLE):  # attaches those of the partitions
            self._rows(index)

    def _indexes(self, table: str) -> tuple[str, str]:
        return self._device_index(table), f"CREATE INDEX ON {table} (time DESC)"

    def _device_index(self, table: str) -> str:
        """INSERT ... ON CONFLICT needs a unique one."""
        unique = "UNIQUE " if self._trial.subject.method in REPLACING else ""
        return f"CREATE {unique}INDEX ON {table} (device_id, time DESC)"

    def _make_devices(self, columns: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self._rows(f"CREATE TABLE {DEVICES} (device_id integer PRIMARY KEY{columns})")
        if self._connection is not None:
            with self._connection.cursor() as cursor, cursor.copy(f"COPY {DEVICES} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        self._rows(f"ANALYZE {DEVICES}")

    def _create_table(self, more: str) -> None:
        columns = f", {METRICS} jsonb NOT NULL" if self._trial.subject.method == JSONB else self._columns_sql()
        self._rows(f"CREATE TABLE {TABLE} (time timestamptz NOT NULL, device_id integer NOT NULL{columns}){more}")

    def expected(self) -> Mapping[str, str]:
        """Settings and knobs; of a server that is not ours, those of its tables."""
        if not self._address.is_ours:
            return {name: value for name, value in self._trial.knobs.items() if name in OF_TABLES}
        named = FACTS.set_of_settings(self._trial.settings)
        return dict(named) | {k: v for k, v in self._trial.knobs.items() if k != "connections"}

    def effective(self) -> Mapping[str, str]:
        count = self._rows(f"SELECT count(*) FROM pg_inherits WHERE inhparent = '{TABLE}'::regclass")[0][0]
        rows = self._rows(
            "SELECT name, current_setting(name) FROM pg_settings WHERE source <> 'default'"
            " AND name NOT LIKE '%file%' AND name NOT LIKE '%directory%'"
        )
        reported = {str(n): str(v) for n, v in rows}
        terms = {
            ACKNOWLEDGED: IN_MEMORY if reported.get("synchronous_commit") == "off" else ON_DISK,
            COMPRESSION: "rows, not compressed",
        }
        if not self._address.is_ours:
            terms["encryption"] = self._encryption()
        return {**reported, "partitions": str(count), **terms}

    def _encryption(self) -> str:
        """The version of TLS of the load's connections, as their library reports it, and what was verified."""
        self.asking = "a connection of the load generator"
        spec = {"protocol": "1", **self.load_spec()}
        lines = run_verb(loadgen_path(), "sql", spec, "SELECT 1\n", self._address.secret, _CONNECT_S)
        version = next((line["tls"] for line in lines if line.get("event") == "connected"), "")
        tls = self._trial.subject.tls
        return f"{version}, {_VERIFIED.get(tls.sslmode if tls else '', 'server not verified')}" if version else "none"

    def parts(self) -> tuple[Part, ...]:
        """Files of partitions and their indexes."""
        disks = self._address.disks
        if not disks:
            return ()
        rows = self._rows(
            "SELECT c.relname, pg_relation_filepath(c.oid), coalesce(t.relname, c.relname) FROM pg_class c"
            " LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid"
            f" WHERE c.relkind IN ('r', 'i') AND c.relname LIKE '{TABLE}_p%' ORDER BY 1"
        )
        return tuple(
            Part(
                name=str(name),
                path=f"{self._address.data_dir}/pg/{path}",
                disk=int(str(table).rpartition("_p")[2]) % len(disks),
            )
            for name, path, table in rows
        )

    def load_spec(self) -> Mapping[str, str]:
        database = self._address.database or DATABASE
        own = {"user": self._user, "database": database, "table": TABLE, "library": self._libpq}
        return self.spec_of("postgres", **own, **_tls_words(self._trial.subject.tls))

    def commit_cycles(self) -> int | None:
        """Finished checkpoints (the view has another name since PostgreSQL 17)."""
        new = self._rows("SELECT count(*) FROM pg_views WHERE viewname = 'pg_stat_checkpointer'")[0][0]
        counts, view = ("num_timed + num_requested", "checkpointer") if new else (_OLD_COUNTS, "bgwriter")
        return int(self._rows(f"SELECT {counts} FROM pg_stat_{view}")[0][0])

    def wait_events(self) -> Mapping[str, int]:
        """On its own connection. Lightweight locks and buffer pins are locks too; those that wait for clients are no
        work."""
        if self._watching is None:
            self._watching = self._connected()
        with self._watching.cursor() as cursor:
            cursor.execute(_WAITS)
            waits = cursor.fetchall()
        return {_wait_name(kind, event): int(count) for kind, event, count in waits}

    def flush(self) -> None:
        """Every dirty page is written and fsynced."""
        self._rows("CHECKPOINT")

    def count(self) -> Counted | None:
        w = self._trial.work.data
        rows, faulty, first = self._rows(
            "SELECT coalesce(sum(n), 0), count(*) FILTER (WHERE faulty), min(device_id) FILTER (WHERE faulty) FROM ("
            f"SELECT device_id, count(*) n, (extract(epoch FROM min(time)) * 1000)::bigint <> {w.start_ms} OR "
            f"(extract(epoch FROM max(time) - min(time)) * 1000)::bigint + {w.step_ms} <> count(*) * {w.step_ms} "
            f"faulty FROM {TABLE} GROUP BY device_id) device"
        )[0]
        where = f"{counted(faulty, 'device')}; device {first} is the first"
        sentence = f"rows between the first and the last are missing in {where}"
        is_distinct = self._trial.subject.method in REPLACING
        return Counted(rows=int(rows), is_distinct=is_distinct, gaps=(sentence,) if faulty else ())

    def settle(self) -> None:
        """VACUUM sets marks that a row's first reader would have to set."""
        self._rows(f"VACUUM (ANALYZE) {TABLE}")
        self._rows("CHECKPOINT")

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        came = (self._rows(filled(text, drawn, names, _timestamp)) for text, drawn in questions)
        return tuple(tuple(tuple(_plain(cell) for cell in row) for row in rows) for rows in came)

    def close(self) -> None:
        for connection in (self._connection, self._watching):
            if connection is not None:
                connection.close()


def _tls_words(tls: Tls | None) -> dict[str, Any]:
    """Parameters that libpq then does not take from the environment. With TLS there is no encryption by Kerberos."""
    root = root_file(tls) if tls and tls.sslrootcert else _NO_FILE
    gss = {"gssencmode": "disable"} if tls else {}
    return {"sslmode": tls.sslmode if tls else "prefer", "sslrootcert": root, **gss}


def _libpq_with_tls() -> str:
    """That of the checks, which has TLS; "" if psycopg takes the system's."""
    spec = importlib.util.find_spec("psycopg_binary")
    places = spec.submodule_search_locations if spec else None
    return next((str(path) for place in places or () for path in Path(f"{place}.libs").glob("libpq-*.so*")), "")


def _question(sql: str) -> str:
    return sql.split("(", maxsplit=1)[0].strip()[:60]


def _timestamp(ms: int) -> str:
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=ms)
    return f"timestamptz '{moment.isoformat(sep=' ', timespec='milliseconds')}+00'"


def _plain(cell: Any) -> Any:
    if isinstance(cell, datetime.datetime):
        return moment_ms(cell)
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    return cell


def _wait_name(kind: str | None, event: str | None) -> str:
    if kind is None:
        return ""
    return f"lock: {event}" if kind in _LOCKS else f"{kind}: {event}"
