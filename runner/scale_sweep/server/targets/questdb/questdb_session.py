"""A session with QuestDB over HTTP: tables, settings, the applied log, a checkpoint, the count."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.base.units import counted
from scale_sweep.experiment.work.sums import column_types
from scale_sweep.model.questions import Cells, Drawn
from scale_sweep.server.targets import Counted, Part, series
from scale_sweep.server.targets.base import WITHIN_S
from scale_sweep.server.targets.java import effective as jvm
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.questdb.questdb_facts import PGWIRE
from scale_sweep.server.targets.questdb.questdb_queries import SQL, statements, timed
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_LOG, NOWHERE, ON_DISK, moment_ms, tags_of
from scale_sweep.server.targets.sql_dialect import signed_types
from scale_sweep.server.targets.web import SqlSession

USER = "admin"
_LOGIN = ("pg.user", "pg.password")
_LINKED = " (->)"  # behind the name of a folder that is a link
_OURS = f"FROM tables() WHERE table_name LIKE '{series.MEASUREMENT}_p%'"
VOLUME = "volume"  # a folder on each disk, with a number the name of a volume
# Lines alone would create a long for each integer, and QuestDB refuses one that does not fit.
SQL_TYPES = signed_types("BOOLEAN, BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, LONG, VARCHAR")


class QuestdbSession(SqlSession):
    who = "QuestDB"
    ready_path = "/exec?query=SELECT+1"
    member = "dataset"
    reading: Mapping[str, str] = {"query_path": "/exec?query=", "answer_rows": member}

    def _reply(self, statement: str, **more: Any) -> Any:
        self.asking = statement[:60]
        answer = self._web.get_json("/exec", self.left_s(WITHIN_S), query=statement)
        if "error" in answer:
            raise TargetError(f"QuestDB refused {statement[:60]!r}: {answer['error']}")
        return answer

    def _cells(self, statement: str, answer: Any) -> Sequence[Cells]:
        rows = answer.get(self.member, [])
        return [(milliseconds(row[0]), *row[1:]) if timed(statement) else tuple(row) for row in rows]

    def _filled(self, text: str, drawn: Drawn, names: Sequence[str]) -> str:
        return filled(text, drawn, names, str, lambda device: device % self._trial.load.partitions)

    def version(self) -> str:
        build = str(self._rows("SELECT build()")[0][0])
        match = re.search(r"QuestDB (\d+(?:\.\d+)*)", build)
        return match.group(1) if match else build

    def in_the_way(self) -> str:
        there = self._rows(f"SELECT table_name {_OURS}")
        return f"QuestDB has a table {there[0][0]}, which a trial would make and remove" if there else ""

    def create_schema(self) -> None:
        """A table for each partition: device and tags as symbols, files by day; in volumes on the disks in turn."""
        data, disks = self._trial.work.data, len(self._address.disks)
        symbols = "".join(f', "{tag.partition(":")[0]}" SYMBOL' for tag in data.tags)
        capacity = min(1 << 20, max(256, 2 * data.tables // self._trial.load.partitions))
        columns = "".join(f', "{name}" {SQL_TYPES[kind]}' for name, kind in column_types(data).items())
        for i, table in enumerate(series.part_names(self._trial)):
            where = f" IN VOLUME '{VOLUME}{i % disks + 1}'" if disks else ""
            self._rows(
                f'CREATE TABLE "{table}" ({series.DEVICE} SYMBOL CAPACITY {capacity}{symbols}{columns},'
                f" timestamp TIMESTAMP) TIMESTAMP(timestamp) PARTITION BY DAY WAL{where}"
            )

    def effective(self) -> Mapping[str, str]:
        rows = self._rows("SELECT property_path, value, value_source FROM (SHOW PARAMETERS)")
        names = {
            str(name).replace(".", "_"): str(value)
            for name, value, source in rows
            if source != "default" and not name.endswith(("bind.to", "cairo.volumes")) and name not in _LOGIN
        }
        answered = ON_DISK if names.get("cairo_commit_mode") == "sync" else IN_LOG  # async only begins to write
        return {
            **names,
            **(jvm(self._address.data_dir) if self._address.data_dir else {}),
            "partitions": str(self._rows(f"SELECT count() {_OURS}")[0][0]),
            ACKNOWLEDGED: NOWHERE if self._trial.subject.method == series.TCP else answered,
            COMPRESSION: "columns, not compressed",
        }

    def parts(self) -> tuple[Part, ...]:
        """Folders of tables, links to volumes."""
        disks = len(self._address.disks)
        rows = self._rows(f"SELECT table_name, directoryName {_OURS}") if disks else []
        return tuple(
            Part(
                name=str(table),
                path=f"{self._address.data_dir}/questdb/db/{str(folder).removesuffix(_LINKED)}",
                disk=int(str(table).rpartition("_p")[2]) % disks,
            )
            for table, folder in sorted(rows)
        )

    def load_spec(self) -> Mapping[str, str]:
        method, door = self._trial.subject.method, str(self._address.port + series.DOOR_OFFSET)
        parted = {"table": series.MEASUREMENT, "parted": "1"}
        if method == PGWIRE:
            return self.spec_of("pgwire", **parted, method="insert", port=door, user=USER, database="qdb")
        if method == series.TCP:
            return self.spec_of(series.DRIVER, **parted, port=door, precision="ns")
        return self._spec(series.DRIVER, **parted, write_path="/write?precision=ms")

    def commit_cycles(self) -> int | None:
        """Transactions of the log that were applied."""
        return int(self._rows("SELECT coalesce(sum(writerTxn), 0) FROM wal_tables()")[0][0])

    def flush(self) -> None:
        """The log is applied; then a checkpoint calls sync."""
        self._apply_log()
        self._rows("CHECKPOINT CREATE")
        self._rows("CHECKPOINT RELEASE")

    def _apply_log(self) -> None:
        """Raises TargetError for a suspended table."""
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
        """By device, as `series.counted`. Times are in microseconds."""
        self._apply_log()
        by_device: dict[str, tuple[int, float, float]] = {}
        for table in series.part_names(self._trial):
            rows = self._rows(
                f"SELECT {series.DEVICE}, count(), min(timestamp)::long, max(timestamp)::long FROM '{table}'"
            )
            by_device |= {str(device): (int(n), int(first) / 1000, int(last) / 1000) for device, n, first, last in rows}
        return series.counted(by_device, self._trial.work.data)

    def stored_tags(self, names: Sequence[str]) -> Mapping[str, Set[tuple[str, ...]]]:
        columns = ", ".join(f'"{name}"' for name in (series.DEVICE, *names))
        tables = series.part_names(self._trial)
        return tags_of(row for table in tables for row in self._rows(f"SELECT DISTINCT {columns} FROM '{table}'"))

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        by_device: dict[str, dict[str, Any]] = {}
        for names, statement in statements(self._trial, devices):
            for device, *figures in self._rows(statement):
                by_device.setdefault(str(device), {}).update(SQL.in_ns(names, figures))
        return by_device

    def drop_schema(self) -> None:
        for table in series.part_names(self._trial):
            self._rows(f"DROP TABLE '{table}'")


def milliseconds(text: str) -> Any:
    """text: like 2017-07-14T02:40:00.000000Z."""
    return moment_ms(datetime.datetime.fromisoformat(text))
