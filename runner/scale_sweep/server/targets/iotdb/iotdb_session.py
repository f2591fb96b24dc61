"""A session with IoTDB: template, devices, settings, flushes, the count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scale_sweep.base.input_file import below
from scale_sweep.experiment.work.sums import column_types, together
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.kept_files import Content
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.loadgen.verbs import TABLES_S, create_tables
from scale_sweep.model.declared import Work
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import Cells, Drawn, Query
from scale_sweep.server.targets import Address, Counted, Part, series
from scale_sweep.server.targets.iotdb.iotdb_queries import (
    cells_of,
    figures_found,
    has_device_first,
    statements,
    times_first,
)
from scale_sweep.server.targets.java import effective as jvm
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_MEMORY, ON_DISK
from scale_sweep.server.targets.sql_dialect import signed_types
from scale_sweep.server.targets.statements import StatementSession

ROOT, DATA, WAL = "iotdb", "data", "wal"  # in the trial's directory, and on each disk
CONFIG_LOG, DATA_LOG, FLUSH_LOG = "config.log", "data.log", "flush.log"  # in ROOT

DATABASE, TEMPLATE = "root.scale", "measurement"
COLUMNS_AT_ONCE = 32  # of each device, in one statement
FIRST_DEVICE = f"{DATABASE}.first.d"
FIRST_PASSWORD = "root"
REGIONS = "default_data_region_group_num_per_database"
_AT_WORK = ("Running", "Leader")  # of a region that can be written and read
_VALUES = {"BOOLEAN": "true", "TEXT": "'a'", "BLOB": "X'00'"}  # of other types 1
FLUSHED = b"The compression ratio of tsfile"  # a memtable became a whole file
TYPES = signed_types(
    "BOOLEAN, INT32, INT32, INT32, INT64, FLOAT, DOUBLE, TIMESTAMP, TEXT", varbinary="BLOB", geometry="BLOB"
)


class IotdbSession(StatementSession):
    who = "IoTDB"

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address, settings)
        self._password = FIRST_PASSWORD if address.is_ours else address.secret or FIRST_PASSWORD

    def _door(self) -> dict[str, str]:
        return {"driver": "iotdb", "host": self._address.host, "port": str(self._address.port), "database": DATABASE}

    def _first_question(self) -> str:
        """A server of ours gets its password first."""
        if self._address.is_ours and self._address.secret and self._password != self._address.secret:
            self._rows(f"ALTER USER root SET PASSWORD '{self._address.secret}'")
            self._password = self._address.secret
        regions = self._rows("SHOW REGIONS")
        waiting = [f"region {row[0]} is {row[2]}, {row[10]}" for row in regions if (row[2], row[10]) != _AT_WORK]
        return ", ".join(waiting[:3])

    def version(self) -> str:
        return str(self._rows("SHOW VERSION")[0][0])

    def create_schema(self) -> None:
        columns = ", ".join(f"{n} {TYPES[kind]}" for n, kind in column_types(self._trial.work.data).items())
        aligned = " ALIGNED" if self._settings["aligned"] == "true" else ""
        self._rows(f"CREATE DATABASE {DATABASE}")
        self._rows(f"CREATE DEVICE TEMPLATE {TEMPLATE}{aligned} ({columns})")
        self._rows(f"SET DEVICE TEMPLATE {TEMPLATE} TO {DATABASE}")

    def create_tables(self) -> None:
        """Devices; then the data regions, which IoTDB makes for the first row: of a device that is not counted, because
        it is not directly below the database."""
        self.asking = "the making of its devices"
        spec = trial_spec(replace(self._trial, work=Work(data=self._trial.work.data)), self.load_spec())
        create_tables(loadgen_path(), spec, self._password, self.left_s(TABLES_S), self._children)
        self._rows(self.insertion(FIRST_DEVICE, self._trial.work.data.start_ms))

    def insertion(self, device: str, at_ms: int) -> str:
        name, kind = next(iter(column_types(self._trial.work.data).items()))
        value = _VALUES.get(TYPES[kind], "1")
        aligned = "ALIGNED " if self._settings["aligned"] == "true" else ""
        return f"INSERT INTO {device}(time, {name}) {aligned}VALUES ({at_ms}, {value})"

    def load_spec(self) -> Mapping[str, str]:
        aligned = "1" if self._settings["aligned"] == "true" else "0"
        return {**self._door(), "method": self._trial.subject.method, "aligned": aligned}

    def effective(self) -> Mapping[str, str]:
        """As both nodes wrote them at their start, and the JVM's."""
        reported = {**_reported(self._file(CONFIG_LOG)), **_reported(self._file(DATA_LOG))}
        settings = {name: reported[key] for name in self._settings for key in _keys_of(name) if key in reported}
        aligned = [str(row[1]) for row in self._rows(f"SHOW DEVICES {DATABASE}.d0")]
        regions = self._rows(f"SHOW DATA REGIONS OF DATABASE {DATABASE}")
        return {
            **settings,
            REGIONS: str(len(regions)),
            **({"aligned": aligned[0]} if aligned else {}),
            **jvm(self._address.data_dir),
            ACKNOWLEDGED: ON_DISK if reported.get("walmode") == "SYNC" else IN_MEMORY,
            COMPRESSION: "columns by device, encoded, LZ4",
        }

    def parts(self) -> tuple[Part, ...]:
        """Its folders: files are written into them in turn."""
        return tuple(
            Part(name=f"data folder {i + 1}", path=f"{path}/{DATA}", disk=i)
            for i, path in enumerate(self._address.disks)
        )

    def commit_cycles(self) -> int | None:
        """Memtables that became files, by its log."""
        path = self._file(FLUSH_LOG)
        return path.read_bytes().count(FLUSHED) if self._address.data_dir and path.exists() else None

    def flush(self) -> None:
        """Memtables become files, and all files are fsynced."""
        self._rows("FLUSH")
        folders = (self._address.data_dir, *self._address.disks) if self._address.data_dir else ()
        self._sync(path for folder in folders for path in below(folder))

    def count(self) -> Counted | None:
        """By device, as `series.counted`."""
        columns = list(column_types(self._trial.work.data))
        by_device = self._counted_by(columns[0]) if len(columns) > COLUMNS_AT_ONCE else self._counted_by_all(columns)
        return series.counted(by_device, self._trial.work.data, is_distinct=True)

    def _counted_by_all(self, columns: Sequence[str]) -> dict[str, tuple[int, float, float]]:
        rows: dict[Any, Any] = dict(self._rows(f"SELECT count_time(*) FROM {DATABASE}.* ALIGN BY DEVICE"))
        expressions = ", ".join(f"{what}({name})" for what in ("min_time", "max_time") for name in columns)
        by_device = {}
        for device, *times in self._rows(f"SELECT {expressions} FROM {DATABASE}.* ALIGN BY DEVICE"):
            first = [time for time in times[: len(columns)] if time is not None]
            last = [time for time in times[len(columns) :] if time is not None]
            if first and rows.get(device):
                by_device[str(device)] = (int(rows[device]), float(min(first)), float(max(last)))
        return by_device

    def _counted_by(self, column: str) -> dict[str, tuple[int, float, float]]:
        expressions = f"count({column}), min_time({column}), max_time({column})"
        counted = self._rows(f"SELECT {expressions} FROM {DATABASE}.* ALIGN BY DEVICE")
        return {str(name): (int(rows), float(first), float(last)) for name, rows, first, last in counted if rows}

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        data = self._trial.work.data
        by_device: dict[str, dict[str, Any]] = {}
        for names, statement in statements(data, devices, DATABASE):
            for device, *row in self._rows(statement):
                by_device.setdefault(str(device), {}).update(figures_found(names, row, data))
        with_rows = {device: figures for device, figures in by_device.items() if figures["rows"]}
        return with_rows if devices else {"": together(with_rows)}

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        kinds = column_types(self._trial.work.data)
        texts = [filled(text, one, names, str) for text, one in questions]
        return tuple(cells_of(text, rows, kinds) for text, rows in zip(texts, self._all(texts), strict=True))

    def rows_handed(
        self, query: Query, text: str, drawn: Drawn, names: Sequence[str], content: Content
    ) -> Sequence[Cells]:
        if has_device_first(text) and not isinstance(content, str):
            return times_first(content)
        return super().rows_handed(query, text, drawn, names, content)

    def drop_schema(self) -> None:
        self._rows(f"DELETE DATABASE {DATABASE}")
        self._rows(f"DROP DEVICE TEMPLATE {TEMPLATE}")

    def _file(self, name: str) -> Path:
        return Path(self._address.data_dir, ROOT, name)


def _reported(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return {name.lower(): value for name, value in re.findall(r"(?m)^\s*(\w+)=(.*);$", text)}


def _keys_of(name: str) -> Iterator[str]:
    for wanted in (name, name.removesuffix("_in_byte")):
        for part in (wanted, re.sub("^[cd]n_", "", wanted)):
            yield part.replace("_", "")
