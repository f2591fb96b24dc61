"""Rows and tags that are changed in databases behind the load: the trial is WRONG_ROWS or LOST_ROWS and names the devices."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.model.events import Event
from scale_sweep.model.measured import VerdictKind
from scale_sweep.server.targets import load_facts, series
from scale_sweep.server.targets.cassandra.cassandra_target import CassandraSession
from scale_sweep.server.targets.clickhouse.clickhouse_session import ClickhouseSession
from scale_sweep.server.targets.cratedb.cratedb_session import CratedbSession
from scale_sweep.server.targets.influxdb.influxdb_session import InfluxdbSession
from scale_sweep.server.targets.iotdb.iotdb_session import IotdbSession
from scale_sweep.server.targets.mariadb.mariadb_session import MariadbSession
from scale_sweep.server.targets.postgres.postgres_session import PostgresSession
from scale_sweep.server.targets.questdb.questdb_session import QuestdbSession
from scale_sweep.server.targets.victoriametrics.victoriametrics_target import VictoriametricsSession
from tests.integration import changing
from tests.integration.real_server import required, with_rows
from tests.unit.trial_orders import result_of, trial_order

STEP_MS = 10
FLAGS = {"load__rate": "20k", "workload__rows_per_request": "100", "workload__step_ms": str(STEP_MS)}
COLUMNS = "f:float,d:double,b:bool,s:smallint,i:int,u:uint"
ROW = 7  # of the device, in the order of time
Cells = dict[str, Any]


def post(session: Any, path: str, text: str) -> None:
    url = f"http://{session._address.host}:{session._address.port}{path}"
    with urllib.request.urlopen(urllib.request.Request(url, data=text.encode(), method="POST"), timeout=30) as answer:
        assert answer.status in (200, 204)


def at(session: Any, row: int = ROW) -> int:
    return int(session._trial.work.data.start_ms) + row * STEP_MS


class Rows:
    """Rows that are read, written and deleted by statements. Cells: texts in the order of the columns."""

    session: type[Any]

    def columns(self, session: Any) -> list[str]:
        return [column.partition(":")[0] for column in session._trial.work.data.columns]

    def times_1000(self, cells: Any) -> Any:
        return [cells[0], str(float(cells[1]) * 1000), *cells[2:]]

    def row(self, session: Any, device: str, row: int) -> Any:
        """As soon as it is stored."""
        columns, place = ", ".join(self.columns(session)), self.place(device, at(session, row))
        (found,) = changing.once_stored(lambda: session._rows(f"SELECT {columns} FROM {place}"))
        return [str(cell) for cell in found[-len(self.columns(session)) :]]

    def place(self, device: str, time_ms: int) -> str:
        raise NotImplementedError

    def write(self, session: Any, device: str, cells: Any, time_ms: int) -> None:
        raise NotImplementedError

    def remove(self, session: Any, device: str) -> None:
        session._rows(f"DELETE FROM {self.place(device, at(session))}")

    def delete(self, session: Any, device: str) -> None:
        self.row(session, device, ROW)
        self.remove(session, device)

    def multiplied(self, session: Any, device: str) -> None:
        self.write(session, device, self.times_1000(self.row(session, device, ROW)), at(session))

    def later(self, session: Any, device: str) -> None:
        cells = self.row(session, device, ROW)
        self.remove(session, device)
        self.write(session, device, cells, at(session) + 1)

    def copied(self, session: Any, device: str) -> None:
        self.row(session, device, ROW)
        self.write(session, device, self.row(session, device, ROW + 1), at(session))


class InInfluxdb(Rows):
    """Written as lines. Cells: tags and values by name."""

    session = InfluxdbSession

    def place(self, device: str, time_ms: int) -> str:
        return f"\"measurement\" WHERE device = '{device}' AND time = {time_ms}ms"

    def times_1000(self, cells: Any) -> Any:
        tags, values = cells
        return tags, {**values, "d": values["d"] * 1000}

    def row(self, session: InfluxdbSession, device: str, row: int) -> tuple[Cells, Cells]:
        (found,) = changing.once_stored(lambda: session._run(f"SELECT * FROM {self.place(device, at(session, row))}"))
        cells = dict(zip(found["columns"], found["values"][0], strict=True))
        columns = self.columns(session)
        tags = {name: cell for name, cell in cells.items() if name not in (*columns, "time")}
        return tags, {name: cells[name] for name in columns}

    def remove(self, session: InfluxdbSession, device: str) -> None:
        session._run(f"DELETE FROM {self.place(device, at(session))}")

    def write(self, session: InfluxdbSession, device: str, cells: tuple[Cells, Cells], time_ms: int) -> None:
        tags, values = cells
        kinds = dict(column.split(":") for column in session._trial.work.data.columns)
        labels = "".join(f",{name}={str(cell).replace(' ', chr(92) + ' ')}" for name, cell in tags.items())
        fields = ",".join(
            f"{name}={json.dumps(cell)}{'i' if 'int' in kinds[name] else ''}" for name, cell in values.items()
        )
        post(session, "/write?db=scale&precision=ms", f"measurement{labels} {fields} {time_ms}\n")


class InVictoriametrics:
    """The samples of a device are exported, its series deleted, and the changed samples imported: so after the load."""

    session = VictoriametricsSession

    def change(self, session: VictoriametricsSession, device: str, of_column: Callable[[Cells], None]) -> None:
        session._page("/internal/force_flush")
        match = f'{{device="{device}"}}'
        lines = session._web.post("/api/v1/export", 60, **{"match[]": match}).splitlines()
        session._web.post("/api/v1/admin/tsdb/delete_series", 60, **{"match[]": match})
        samples = [json.loads(line) for line in lines]
        for one in samples:
            of_column(one)
        post(session, "/api/v1/import", "".join(f"{json.dumps(one)}\n" for one in samples))

    def multiplied(self, session: VictoriametricsSession, device: str) -> None:
        def of_column(one: Cells) -> None:
            one["values"][ROW] *= 1000 if one["metric"]["__name__"] == "measurement_d" else 1

        self.change(session, device, of_column)

    def later(self, session: VictoriametricsSession, device: str) -> None:
        self.change(session, device, lambda one: one["timestamps"].insert(ROW, one["timestamps"].pop(ROW) + 1))

    def copied(self, session: VictoriametricsSession, device: str) -> None:
        self.change(session, device, lambda one: one["values"].__setitem__(ROW, one["values"][ROW + 1]))

    def delete(self, session: VictoriametricsSession, device: str) -> None:
        self.change(session, device, lambda one: (one["values"].pop(ROW), one["timestamps"].pop(ROW))[0])


class InIotdb(Rows):
    """Its first column is the time."""

    session = IotdbSession

    def place(self, device: str, time_ms: int) -> str:
        return f"root.scale.{device} WHERE time = {time_ms}"

    def remove(self, session: IotdbSession, device: str) -> None:
        session._rows(f"DELETE FROM root.scale.{device}.* WHERE time = {at(session)}")

    def write(self, session: IotdbSession, device: str, cells: list[str], time_ms: int) -> None:
        columns, values = ", ".join(self.columns(session)), ", ".join(cells)
        session._rows(f"INSERT INTO root.scale.{device}(time, {columns}) ALIGNED VALUES ({time_ms}, {values})")


class InCassandra(Rows):
    """A row of a device is written as a whole."""

    session = CassandraSession

    def place(self, device: str, time_ms: int) -> str:
        return f"scale.measurement WHERE device = '{device}' AND ts = {time_ms}"

    def write(self, session: CassandraSession, device: str, cells: list[str], time_ms: int) -> None:
        columns, values = ", ".join(self.columns(session)), ", ".join(cells)
        session._rows(f"INSERT INTO scale.measurement (device, ts, {columns}) VALUES ('{device}', {time_ms}, {values})")


DATABASES = {
    "influxdb": (InInfluxdb(), changing.changed_in_the_load),
    "victoriametrics": (InVictoriametrics(), changing.changed_before_the_count),
    "iotdb": (InIotdb(), changing.changed_in_the_load),
    "cassandra": (InCassandra(), changing.changed_in_the_load),
}

BY_HAND = pytest.mark.skipif(not os.environ.get("SCALE_SLOW_TESTS"), reason="10 to 20 CPU seconds for each start")
names = pytest.mark.parametrize(
    "name", ["influxdb", "victoriametrics", *(pytest.param(name, marks=BY_HAND) for name in ("iotdb", "cassandra"))]
)


def summed_trial(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, change: Any) -> list[Event]:
    """The events of a trial whose rows are changed by the function, which gets the database and a session."""
    database, changed = DATABASES[name]
    required(name)
    order = trial_order(folder, name, **FLAGS, workload__columns=COLUMNS)
    return changed(order, database.session, lambda session: change(database, session), monkeypatch)


def of_devices(events: list[Event]) -> set[str]:
    return {one.rpartition(".")[2] for one in changing.differing(events)}


@names
def test_changed_rows_are_found_in_their_devices_and_no_others(folder: Path, monkeypatch, name):
    def change(database: Any, session: Any) -> None:
        database.multiplied(session, "d1")
        database.later(session, "d2")
        database.copied(session, "d3")

    events = summed_trial(folder, monkeypatch, name, change)
    verdict = changing.verdict_of(events)
    assert verdict.kind is VerdictKind.WRONG_ROWS, verdict
    assert "d1: d: sum: stored " in verdict.reasons[0]
    assert of_devices(events) == {"d1", "d2", "d3"}, verdict
    measured, found = result_of(events).measurement, changing.summed(events)
    assert ("of 10 tables" in found["note"], len(found["tables"])) == (False, 10)
    assert measured.rows_compared == measured.rows_counted > 0


@names
def test_a_missing_row_is_lost(folder: Path, monkeypatch, name):
    events = summed_trial(folder, monkeypatch, name, lambda database, session: database.delete(session, "d4"))
    assert changing.verdict_of(events).kind is VerdictKind.LOST_ROWS, changing.verdict_of(events)
    assert of_devices(events) == {"d4"}


TAG_FLAGS = {"workload__rows_per_request": "100", "load__warmup": "0s"}
TAG, OTHER = "groupid", "77"


def in_influxdb(session: Any, devices: tuple[str, ...]) -> None:
    kinds: Mapping[str, str] = dict(column.split(":") for column in session._trial.work.data.columns)
    rows: list[Cells] = []
    for device in devices:
        (found,) = session._run(f"SELECT * FROM \"measurement\" WHERE device = '{device}'")
        rows += [dict(zip(found["columns"], cells, strict=True)) for cells in found["values"]]
    for device in devices:
        session._run(f"DELETE FROM \"measurement\" WHERE device = '{device}'")
    for row in rows:
        values, time_ms = {name: row.pop(name) for name in kinds}, row.pop("time")
        InInfluxdb().write(session, row["device"], ({**row, TAG: OTHER}, values), time_ms)


def in_victoriametrics(session: Any, devices: tuple[str, ...]) -> None:
    def of_column(one: Cells) -> None:
        one["metric"][TAG] = OTHER

    for device in devices:
        InVictoriametrics().change(session, device, of_column)


def in_questdb(session: Any, devices: tuple[str, ...]) -> None:
    quoted = ", ".join(f"'{device}'" for device in devices)
    session._apply_log()
    for table in series.part_names(session._trial):
        session._rows(f"UPDATE '{table}' SET {TAG} = '{OTHER}' WHERE device IN ({quoted})")


def in_device_table(session: Any, devices: tuple[str, ...]) -> None:
    session._rows(f"UPDATE device SET {TAG} = {OTHER} WHERE device_id IN ({numbers(devices)})")


def in_cratedb(session: Any, devices: tuple[str, ...]) -> None:
    in_device_table(session, devices)
    session._rows("REFRESH TABLE device")


def in_clickhouse(session: Any, devices: tuple[str, ...]) -> None:
    session._rows(f"ALTER TABLE device UPDATE {TAG} = {OTHER} WHERE device_id IN ({numbers(devices)})")
    changing.once_stored(lambda: session._rows(f"SELECT count() FROM device WHERE {TAG} = {OTHER}") == [[len(devices)]])


def numbers(devices: tuple[str, ...]) -> str:
    return ", ".join(device.removeprefix("d") for device in devices)


READS = {"mix": "write,point", "preload__rows": "1k", "knobs__connections": "2"}
CHANGES = {
    "influxdb": (InInfluxdb.session, in_influxdb),
    "victoriametrics": (InVictoriametrics.session, in_victoriametrics),
    "questdb": (QuestdbSession, in_questdb),
    "postgres": (PostgresSession, in_device_table),
    "mariadb": (MariadbSession, in_device_table),
    "cratedb": (CratedbSession, in_cratedb),
    "clickhouse": (ClickhouseSession, in_clickhouse),
}
NO_REGISTRY = pytest.mark.skipif(not os.environ.get("SCALE_CRATEDB_HOME"), reason="SCALE_CRATEDB_HOME names no CrateDB")
TARGETS = [pytest.param(name, marks=NO_REGISTRY) if name == "cratedb" else name for name in CHANGES]


def order_of(folder: Path, target: str) -> TrialOrder:
    """A trial of a thousand rows; of a database with a table of devices, one that also reads."""
    if not load_facts(target).has_device_table:
        return with_rows(trial_order(folder, target, **TAG_FLAGS), 1000)
    return trial_order(folder, target, **TAG_FLAGS, **READS)


@pytest.mark.parametrize("devices", [("d3",), tuple(f"d{n}" for n in range(10))], ids=["one", "all"])
@pytest.mark.parametrize("target", TARGETS)
def test_another_tag_is_found_and_no_tag_that_nobody_changed(folder, monkeypatch, target, devices):
    required(target)
    session, change = CHANGES[target]
    order = order_of(folder, target)
    events = changing.changed_before_the_count(order, session, lambda own: change(own, devices), monkeypatch)
    verdict, wrong = changing.verdict_of(events), changing.summed(events)["wrong_tags"]
    assert len(wrong) == min(3, len(devices))
    assert verdict.kind is VerdictKind.WRONG_ROWS, verdict
    assert f"{TAG}={OTHER}" in verdict.reasons[0] and verdict.reasons[0].startswith("device ")
    assert "tags: not compared" not in json.dumps(verdict.reasons)
