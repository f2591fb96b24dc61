"""A session with MariaDB: table, devices, variables, flushes, the count."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.experiment.work.sums import ALL, figures_of
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.rows import tables_of
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.loadgen.verbs import run_statements
from scale_sweep.model import Cells, Drawn, Trial, Work
from scale_sweep.server.targets import Address, Counted, Session, series
from scale_sweep.server.targets.device_table import DEVICES, TABLE, of_device_table, tags_in_table
from scale_sweep.server.targets.mariadb.mariadb_facts import AT_COMMIT
from scale_sweep.server.targets.mariadb.mariadb_queries import DIALECT
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.records import (
    ACKNOWLEDGED,
    COMPRESSION,
    IN_LOG,
    IN_MEMORY,
    NS_PER_MS,
    ON_DISK,
    exact_ms,
)
from scale_sweep.server.targets.sql_dialect import in_ns

WITHIN_S = 3600.0
USER, DATABASE = "scale", "scale"
DEVICES_AT_ONCE = 500  # of a statement
SQL_TYPES = {
    "bool": "TINYINT",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INT",
    "bigint": "BIGINT",
    "utinyint": "TINYINT UNSIGNED",
    "usmallint": "SMALLINT UNSIGNED",
    "uint": "INT UNSIGNED",
    "ubigint": "BIGINT UNSIGNED",
    "float": "FLOAT",
    "double": "DOUBLE",
    "timestamp": "BIGINT",
    "binary": "VARCHAR({0}) CHARACTER SET utf8mb4",
    "nchar": "VARCHAR({0}) CHARACTER SET utf8mb4",
    "varbinary": "VARBINARY({0})",
}
_ACKNOWLEDGED = {"0": IN_MEMORY, "1": ON_DISK, "2": IN_LOG}


class MariadbSession(Session):
    """A process of the load generator for each question."""

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address)
        self._settings = settings
        self._children: set[subprocess.Popen[str]] = set()

    def give_up(self) -> None:
        """The load generator would wait until its own deadline."""
        for child in tuple(self._children):
            child.kill()

    def _rows(self, *statements: str) -> tuple[tuple[Any, ...], ...]:
        return self._all(statements)[-1]

    def _all(self, statements: Sequence[str]) -> list[tuple[tuple[Any, ...], ...]]:
        self.asking = statements[0][:80]
        within = self.left_s(WITHIN_S)
        spec = {"protocol": "1", **self._door(), "statement_timeout_s": f"{within:.0f}"}
        answers = run_statements(loadgen_path(), spec, statements, self._address.secret, within, self._children)
        for statement, answer in zip(statements, answers, strict=True):
            if not answer.ok:
                raise TargetError(f"MariaDB refused {statement[:80]!r}: {answer.message} (code {answer.code})")
        return [answer.rows for answer in answers]

    def _door(self) -> dict[str, str]:
        return {
            "driver": "mariadb",
            "host": self._address.host,
            "port": str(self._address.port),
            "user": USER,
            "database": DATABASE,
        }

    def not_ready(self) -> str:
        """The server's message while it starts."""
        self.asking = "a connection"
        try:
            socket.create_connection((self._address.host, self._address.port), timeout=self.left_s(5)).close()
            self._rows("SELECT 1")
        except OSError as error:
            return f"MariaDB does not listen yet: {error.strerror or error}"
        except TargetError as error:
            return error.message
        return ""

    def version(self) -> str:
        numbers = re.match(r"\d+(?:\.\d+)*", str(self._rows("SELECT VERSION()")[0][0]))
        return numbers.group(0) if numbers else ""

    def create_schema(self) -> None:
        """One table of all devices. Its primary key keeps the rows of a device together, in the order of time."""
        if self._address.holds_data:
            return
        columns = "".join(f", `{name}` {_sql_type(kind)}" for name, kind in _columns(self._trial.work.data.columns))
        self._rows(
            f"CREATE TABLE {TABLE} (device_id INT UNSIGNED NOT NULL, time BIGINT NOT NULL{columns}, "
            f"PRIMARY KEY (device_id, time)) ENGINE=InnoDB "
            f"PARTITION BY HASH (device_id) PARTITIONS {self._trial.knobs['partitions']}"
        )

    def create_tables(self) -> None:
        """Where reads may ask for them, the tags of each device."""
        if not self._trial.work.counts_requests or self._address.holds_data:
            return
        kept = [(name, kind) for name, kind in _columns(self._trial.work.data.tags) if _base(kind) in SQL_TYPES]
        columns = "".join(f", `{name}` {_sql_type(kind)}" for name, kind in kept)
        self._rows(f"CREATE TABLE {DEVICES} (device_id INT UNSIGNED PRIMARY KEY{columns})")
        statements = list(self._device_rows([name for name, _ in kept]))
        if statements:
            self._all(statements)

    def _device_rows(self, tags: Sequence[str]) -> Iterator[str]:
        writing = replace(self._trial, work=Work(data=self._trial.work.data))
        tables = tables_of(loadgen_path(), trial_spec(writing, self.load_spec()), self._address.secret)
        rows = list(zip(tables.names, *(tables.tags[name] for name in tags), strict=True))
        for at in range(0, len(rows), DEVICES_AT_ONCE):
            values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows[at : at + DEVICES_AT_ONCE])
            yield f"INSERT INTO {DEVICES} VALUES {values}"

    def load_spec(self) -> Mapping[str, str]:
        return {**self._door(), "method": self._trial.subject.method, "table": TABLE}

    def expected(self) -> Mapping[str, str]:
        """Everything that was set for the trial."""
        return self._settings

    def effective(self) -> Mapping[str, str]:
        """The variables that were set, and the partitions in the catalogue."""
        variables = {str(row[0]): str(row[1]) for row in self._rows("SHOW GLOBAL VARIABLES")}
        partitions = self._rows(
            "SELECT count(*) FROM information_schema.partitions WHERE partition_name IS NOT NULL"
            f" AND table_schema = '{DATABASE}' AND table_name = '{TABLE}'"
        )
        return {
            **{name: variables[name] for name in self._settings if name in variables},
            "partitions": str(partitions[0][0]),
            ACKNOWLEDGED: _ACKNOWLEDGED.get(variables.get(AT_COMMIT, ""), ON_DISK),
            COMPRESSION: "rows by primary key, not compressed",
        }

    def flush(self) -> None:
        """Every changed page of the table is written and fsynced before the first statement returns."""
        self._rows(f"FLUSH TABLES {TABLE} FOR EXPORT", "UNLOCK TABLES")

    def count(self) -> Counted | None:
        """The rows of each device, which must be consecutive from the first timestamp on."""
        rows = self._rows(f"SELECT device_id, count(*), min(time) + 0, max(time) + 0 FROM {TABLE} GROUP BY device_id")
        by_device = {f"d{row[0]}": (int(row[1]), float(row[2]), float(row[3])) for row in rows}
        return series.counted(by_device, self._trial.work.data, is_distinct=True)

    def stored_tags(self, names: Sequence[str]) -> Mapping[str, Set[tuple[str, ...]]] | None:
        return tags_in_table(self._trial.work.data.tags, self._rows, "`{0}`")

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """One pass over the table."""
        names = figures_of(self._trial.work.data, ALL)
        rows = self._rows(of_device_table(self._trial, devices, ALL, DIALECT))
        return {str(device): in_ns(names, figures, DIALECT) for device, *figures in rows}

    def settle(self) -> None:
        """ANALYZE updates the planner's statistics."""
        self._rows(f"ANALYZE TABLE {TABLE}")
        self.flush()

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        came = self._all([filled(text, drawn, names, str) for text, drawn in questions]) if questions else []
        return tuple(
            tuple((_time(text, row[0]), *row[1:]) for row in rows)
            for (text, _), rows in zip(questions, came, strict=True)
        )

    def drop_schema(self) -> None:
        self._rows(f"DROP TABLE IF EXISTS {TABLE}, {DEVICES}")


def _time(text: str, cell: Any) -> Any:
    is_time = text.startswith(("SELECT time,", "SELECT time ")) or " AS bucket" in text
    return exact_ms(cell, NS_PER_MS) if is_time and isinstance(cell, int) else cell


def _columns(listing: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, kind) for name, _, kind in (column.partition(":") for column in listing)]


def _base(kind: str) -> str:
    return kind.partition("(")[0]


def _sql_type(kind: str) -> str:
    return SQL_TYPES[_base(kind)].format(kind.partition("(")[2].rstrip(")") or "64")


def _literal(cell: Any) -> str:
    if cell is None:
        return "NULL"
    text = str(cell).replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'"
