"""Rows that are changed in databases of series behind the load: the trial is WRONG_ROWS and names the devices, or
LOST_ROWS if rows are missing. IoTDB and Cassandra take 10 to 20 CPU seconds to start: with SCALE_SLOW_TESTS=1."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scale_sweep.model import VerdictKind
from scale_sweep.server.targets.cassandra.cassandra_session import CassandraSession
from scale_sweep.server.targets.influxdb.influxdb_session import InfluxdbSession
from scale_sweep.server.targets.iotdb.iotdb_session import IotdbSession
from scale_sweep.server.targets.victoriametrics.victoriametrics_session import VictoriametricsSession
from tests.integration.changing import (
    changed_before_the_count,
    changed_in_the_load,
    differing,
    once_stored,
    summed,
    verdict_of,
)
from tests.integration.real_server import required
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


class InInfluxdb:
    """Rows are read and deleted by statements, and written as lines."""

    session = InfluxdbSession

    def row(self, session: InfluxdbSession, device: str, row: int) -> tuple[Cells, Cells]:
        """Tags and values."""
        where = f"device = '{device}' AND time = {at(session, row)}ms"
        (found,) = once_stored(lambda: session._run(f'SELECT * FROM "measurement" WHERE {where}'))
        cells = dict(zip(found["columns"], found["values"][0], strict=True))
        columns = [column.partition(":")[0] for column in session._trial.work.data.columns]
        tags = {name: cell for name, cell in cells.items() if name not in (*columns, "time")}
        return tags, {name: cells[name] for name in columns}

    def delete(self, session: InfluxdbSession, device: str) -> None:
        self.row(session, device, ROW)
        session._run(f"DELETE FROM \"measurement\" WHERE device = '{device}' AND time = {at(session)}ms")

    def write(self, session: InfluxdbSession, device: str, tags: Cells, values: Cells, time_ms: int) -> None:
        kinds = dict(column.split(":") for column in session._trial.work.data.columns)
        labels = "".join(f",{name}={str(cell).replace(' ', chr(92) + ' ')}" for name, cell in tags.items())
        fields = ",".join(
            f"{name}={json.dumps(cell)}{'i' if 'int' in kinds[name] else ''}" for name, cell in values.items()
        )
        post(session, "/write?db=scale&precision=ms", f"measurement{labels} {fields} {time_ms}\n")

    def multiplied(self, session: InfluxdbSession, device: str) -> None:
        tags, values = self.row(session, device, ROW)
        self.write(session, device, tags, {**values, "d": values["d"] * 1000}, at(session))

    def later(self, session: InfluxdbSession, device: str) -> None:
        tags, values = self.row(session, device, ROW)
        self.delete(session, device)
        self.write(session, device, tags, values, at(session) + 1)

    def copied(self, session: InfluxdbSession, device: str) -> None:
        self.row(session, device, ROW)
        tags, values = self.row(session, device, ROW + 1)
        self.write(session, device, tags, values, at(session))


class InVictoriametrics:
    """The samples of a device are exported, its series deleted, and the changed samples imported: so after the load."""

    session = VictoriametricsSession

    def change(self, session: VictoriametricsSession, device: str, of_column: Callable[[Cells], None]) -> None:
        session._get("/internal/force_flush")
        match = f'{{device="{device}"}}'
        lines = session._web.post("/api/v1/export", 60, **{"match[]": match}).splitlines()
        session._web.post("/api/v1/admin/tsdb/delete_series", 60, **{"match[]": match})
        samples = [json.loads(line) for line in lines]
        for one in samples:
            of_column(one)
        post(session, "/api/v1/import", "".join(f"{json.dumps(one)}\n" for one in samples))

    def multiplied(self, session: VictoriametricsSession, device: str) -> None:
        def of_column(one: Cells) -> None:
            if one["metric"]["__name__"] == "measurement_d":
                one["values"][ROW] *= 1000

        self.change(session, device, of_column)

    def later(self, session: VictoriametricsSession, device: str) -> None:
        def of_column(one: Cells) -> None:
            one["timestamps"][ROW] += 1

        self.change(session, device, of_column)

    def copied(self, session: VictoriametricsSession, device: str) -> None:
        def of_column(one: Cells) -> None:
            one["values"][ROW] = one["values"][ROW + 1]

        self.change(session, device, of_column)

    def delete(self, session: VictoriametricsSession, device: str) -> None:
        def of_column(one: Cells) -> None:
            del one["values"][ROW], one["timestamps"][ROW]

        self.change(session, device, of_column)


class InIotdb:
    """Statements of IoTDB."""

    session = IotdbSession

    def row(self, session: IotdbSession, device: str, row: int) -> list[str]:
        columns = ", ".join(column.partition(":")[0] for column in session._trial.work.data.columns)
        statement = f"SELECT {columns} FROM root.scale.{device} WHERE time = {at(session, row)}"
        ((_, *cells),) = once_stored(lambda: session._rows(statement))
        return [str(cell) for cell in cells]

    def write(self, session: IotdbSession, device: str, cells: list[str], time_ms: int) -> None:
        columns = ", ".join(column.partition(":")[0] for column in session._trial.work.data.columns)
        values = ", ".join(cells)
        session._rows(f"INSERT INTO root.scale.{device}(time, {columns}) ALIGNED VALUES ({time_ms}, {values})")

    def multiplied(self, session: IotdbSession, device: str) -> None:
        value = float(self.row(session, device, ROW)[1]) * 1000
        session._rows(f"INSERT INTO root.scale.{device}(time, d) ALIGNED VALUES ({at(session)}, {value})")

    def later(self, session: IotdbSession, device: str) -> None:
        cells = self.row(session, device, ROW)
        self.delete(session, device)
        self.write(session, device, cells, at(session) + 1)

    def copied(self, session: IotdbSession, device: str) -> None:
        self.write(session, device, self.row(session, device, ROW + 1), at(session))

    def delete(self, session: IotdbSession, device: str) -> None:
        self.row(session, device, ROW)
        session._rows(f"DELETE FROM root.scale.{device}.* WHERE time = {at(session)}")


class InCassandra:
    """Statements of CQL. A row of a device is written as a whole."""

    session = CassandraSession

    def row(self, session: CassandraSession, device: str, row: int) -> list[str]:
        columns = ", ".join(column.partition(":")[0] for column in session._trial.work.data.columns)
        where = f"device = '{device}' AND ts = {at(session, row)}"
        (cells,) = once_stored(lambda: session._rows(f"SELECT {columns} FROM scale.measurement WHERE {where}"))
        return [str(cell) for cell in cells]

    def write(self, session: CassandraSession, device: str, cells: list[str], time_ms: int) -> None:
        columns = ", ".join(column.partition(":")[0] for column in session._trial.work.data.columns)
        values = ", ".join(cells)
        session._rows(f"INSERT INTO scale.measurement (device, ts, {columns}) VALUES ('{device}', {time_ms}, {values})")

    def multiplied(self, session: CassandraSession, device: str) -> None:
        cells = self.row(session, device, ROW)
        self.write(session, device, [cells[0], str(float(cells[1]) * 1000), *cells[2:]], at(session))

    def later(self, session: CassandraSession, device: str) -> None:
        cells = self.row(session, device, ROW)
        self.delete(session, device)
        self.write(session, device, cells, at(session) + 1)

    def copied(self, session: CassandraSession, device: str) -> None:
        self.row(session, device, ROW)
        self.write(session, device, self.row(session, device, ROW + 1), at(session))

    def delete(self, session: CassandraSession, device: str) -> None:
        self.row(session, device, ROW)
        session._rows(f"DELETE FROM scale.measurement WHERE device = '{device}' AND ts = {at(session)}")


DATABASES = {
    "influxdb": (InInfluxdb(), changed_in_the_load),
    "victoriametrics": (InVictoriametrics(), changed_before_the_count),
    "iotdb": (InIotdb(), changed_in_the_load),
    "cassandra": (InCassandra(), changed_in_the_load),
}

BY_HAND = pytest.mark.skipif(not os.environ.get("SCALE_SLOW_TESTS"), reason="10 to 20 CPU seconds for each start")
names = pytest.mark.parametrize(
    "name", ["influxdb", "victoriametrics", *(pytest.param(name, marks=BY_HAND) for name in ("iotdb", "cassandra"))]
)


@names
def test_changed_rows_are_found_in_their_devices(folder: Path, monkeypatch, name):
    database, changed = DATABASES[name]
    required(name)

    def change(session: Any) -> None:
        database.multiplied(session, "d1")
        database.later(session, "d2")
        database.copied(session, "d3")

    order = trial_order(folder, name, **FLAGS, workload__columns=COLUMNS)
    events = changed(order, database.session, change, monkeypatch)
    verdict = verdict_of(events)
    assert verdict.kind is VerdictKind.WRONG_ROWS, verdict
    assert "d1: d: sum: stored " in verdict.reasons[0]
    assert {one.rpartition(".")[2] for one in differing(events)} == {"d1", "d2", "d3"}, verdict


@names
def test_a_missing_row_is_lost(folder: Path, monkeypatch, name):
    database, changed = DATABASES[name]
    required(name)
    order = trial_order(folder, name, **FLAGS, workload__columns=COLUMNS)
    events = changed(order, database.session, lambda session: database.delete(session, "d4"), monkeypatch)
    assert verdict_of(events).kind is VerdictKind.LOST_ROWS, verdict_of(events)
    assert {one.rpartition(".")[2] for one in differing(events)} == {"d4"}


@names
def test_rows_that_nobody_changed_are_right(folder: Path, monkeypatch, name):
    database, changed = DATABASES[name]
    required(name)
    order = trial_order(folder, name, **FLAGS, workload__columns=COLUMNS)
    events = changed(order, database.session, None, monkeypatch)
    verdict, found = verdict_of(events), summed(events)
    assert verdict.kind not in (VerdictKind.WRONG_ROWS, VerdictKind.LOST_ROWS), verdict
    assert (differing(events), "of 10 tables" in found["note"], len(found["tables"])) == (set(), False, 10)
    measured = result_of(events).measurement
    assert measured.rows_compared == measured.rows_counted > 0
