"""A session with MariaDB: queries, table, devices, variables, flushes, the count."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import Cells, Drawn, Query
from scale_sweep.server.targets import series
from scale_sweep.server.targets.device_table import DEVICES, TABLE, DeviceTable, DeviceTableSession
from scale_sweep.server.targets.mariadb.mariadb_facts import AT_COMMIT
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
from scale_sweep.server.targets.sql_dialect import Dialect
from scale_sweep.server.targets.statements import StatementSession

SQL = Dialect(
    aggregates={
        "count": "count({0})",
        "avg": "avg({0} + 0e0)",
        "sum": "sum({0} + 0e0)",
        "max": "max({0})",
        "min": "min({0})",
        "spread": "max({0}) + 0e0 - min({0})",
        "stddev": "stddev_pop({0} + 0e0)",
        "stddev_samp": "stddev_samp({0} + 0e0)",
        "count_distinct": "count(DISTINCT {0})",
    },
    time="time",
    column="`{0}`",
    bucket="time - time % {0}",
    double="({0} + 0e0)",  # a sum of whole numbers is a decimal, which is exact
)


def _newest(query: Query, cells: str, chosen: str) -> str:
    newest = f"SELECT device_id, max(time) AS time FROM {TABLE}{chosen} GROUP BY device_id"
    return f"SELECT {cells} FROM {TABLE} JOIN ({newest}) AS newest USING (device_id, time)"


_TABLES = DeviceTable(title="MariaDB", sql=SQL, newest=_newest)


def rendered(query: Query, data: Workload, method: str) -> str:
    """With placeholders. Raises CannotAsk."""
    return _TABLES.rendered(query)


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


class MariadbSession(StatementSession, DeviceTableSession):
    who = "MariaDB"
    sql = SQL
    types = SQL_TYPES
    is_distinct = True

    def _door(self) -> dict[str, str]:
        address = self._address
        server = {"driver": "mariadb", "host": address.host, "port": str(address.port)}
        return {**server, "user": USER, "database": DATABASE}

    def _first_question(self) -> str:
        self._rows("SELECT 1")
        return ""

    def version(self) -> str:
        numbers = re.match(r"\d+(?:\.\d+)*", str(self._rows("SELECT VERSION()")[0][0]))
        return numbers.group(0) if numbers else ""

    def create_schema(self) -> None:
        """The primary key keeps the rows of a device together, in the order of time."""
        if not self._address.holds_data:
            self._rows(
                f"CREATE TABLE {TABLE} (device_id INT UNSIGNED NOT NULL, time BIGINT NOT NULL{self._columns_sql()}, "
                f"PRIMARY KEY (device_id, time)) ENGINE=InnoDB "
                f"PARTITION BY HASH (device_id) PARTITIONS {self._trial.knobs['partitions']}"
            )

    def _make_devices(self, columns: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        statements = [f"CREATE TABLE {DEVICES} (device_id INT UNSIGNED PRIMARY KEY{columns})"]
        for part in series.in_parts(rows, DEVICES_AT_ONCE):
            values = ", ".join(f"({', '.join(map(_literal, row))})" for row in part)
            statements.append(f"INSERT INTO {DEVICES} VALUES {values}")
        self._all(statements)

    def load_spec(self) -> Mapping[str, str]:
        return {**self._door(), "method": self._trial.subject.method, "table": TABLE}

    def effective(self) -> Mapping[str, str]:
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
        """Changed pages are written and fsynced before the first statement returns."""
        self._rows(f"FLUSH TABLES {TABLE} FOR EXPORT", "UNLOCK TABLES")

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


def _time(text: str, cell: Any) -> Any:
    is_time = text.startswith(("SELECT time,", "SELECT time ")) or " AS bucket" in text
    return exact_ms(cell, NS_PER_MS) if is_time and isinstance(cell, int) else cell


def _literal(cell: Any) -> str:
    if cell is None:
        return "NULL"
    text = str(cell).replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'"
