"""Rows that are stored with other tags than those that were sent, all of one device or all of all: the trial is
WRONG_ROWS and names the device."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.model import VerdictKind
from scale_sweep.server.targets import load_facts, series
from scale_sweep.server.targets.clickhouse.clickhouse_session import ClickhouseSession
from scale_sweep.server.targets.cratedb.cratedb_session import CratedbSession
from scale_sweep.server.targets.mariadb.mariadb_session import MariadbSession
from scale_sweep.server.targets.postgres.postgres_session import PostgresSession
from scale_sweep.server.targets.questdb.questdb_session import QuestdbSession
from tests.integration.changing import changed_before_the_count, once_stored, summed, verdict_of
from tests.integration.real_server import required, with_rows
from tests.integration.test_changed_rows_of_series import Cells, InInfluxdb, InVictoriametrics
from tests.unit.trial_orders import trial_order

FLAGS = {"workload__rows_per_request": "100", "load__warmup": "0s"}
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
        InInfluxdb().write(session, row["device"], {**row, TAG: OTHER}, values, time_ms)


def in_victoriametrics(session: Any, devices: tuple[str, ...]) -> None:
    def of_column(one: Cells) -> None:
        one["metric"][TAG] = OTHER

    for device in devices:
        InVictoriametrics().change(session, device, of_column)


def in_questdb(session: Any, devices: tuple[str, ...]) -> None:
    quoted = ", ".join(f"'{device}'" for device in devices)
    session._at_rest()
    for table in series.part_names(session._trial):
        session._rows(f"UPDATE '{table}' SET {TAG} = '{OTHER}' WHERE device IN ({quoted})")


def in_device_table(session: Any, devices: tuple[str, ...]) -> None:
    session._rows(f"UPDATE device SET {TAG} = {OTHER} WHERE device_id IN ({numbers(devices)})")


def in_cratedb(session: Any, devices: tuple[str, ...]) -> None:
    in_device_table(session, devices)
    session._rows("REFRESH TABLE device")


def in_clickhouse(session: Any, devices: tuple[str, ...]) -> None:
    session._rows(f"ALTER TABLE device UPDATE {TAG} = {OTHER} WHERE device_id IN ({numbers(devices)})")
    once_stored(lambda: session._rows(f"SELECT count() FROM device WHERE {TAG} = {OTHER}") == [[len(devices)]])


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
        return with_rows(trial_order(folder, target, **FLAGS), 1000)
    return trial_order(folder, target, **FLAGS, **READS)


@pytest.mark.parametrize("devices", [("d3",), tuple(f"d{number}" for number in range(10))], ids=["one", "all"])
@pytest.mark.parametrize("target", TARGETS)
def test_another_tag_is_found(folder, monkeypatch, target, devices):
    required(target)
    session, change = CHANGES[target]
    order = order_of(folder, target)
    events = changed_before_the_count(order, session, lambda own: change(own, devices), monkeypatch)
    verdict = verdict_of(events)
    assert verdict.kind is VerdictKind.WRONG_ROWS, verdict
    assert f"{TAG}={OTHER}" in verdict.reasons[0] and verdict.reasons[0].startswith("device ")
    assert len(summed(events)["wrong_tags"]) == min(3, len(devices))


@pytest.mark.parametrize("target", TARGETS)
def test_tags_that_nobody_changed_are_right(folder, monkeypatch, target):
    required(target)
    order = order_of(folder, target)
    events = changed_before_the_count(order, CHANGES[target][0], None, monkeypatch)
    assert summed(events)["wrong_tags"] == []
    assert verdict_of(events).kind is not VerdictKind.WRONG_ROWS
    assert "tags: not compared" not in json.dumps(verdict_of(events).reasons)
