"""Rows that a second connection changes in the server while the load runs: the trial is WRONG_ROWS, and the comparison
names the tables that were changed and no other."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from scale_sweep.experiment.work.sums import figures_of
from scale_sweep.model.events import Event
from scale_sweep.model.measured import VerdictKind
from scale_sweep.server.targets.postgres.postgres_facts import SUMS
from scale_sweep.server.targets.postgres.postgres_session import PostgresSession
from tests.integration import changing
from tests.integration.cli import assert_measured, run
from tests.integration.real_server import with_rows
from tests.unit.trial_orders import result_of, trial_order

ROW = "SELECT ctid FROM measurement WHERE device_id = {device} ORDER BY time OFFSET {n} LIMIT 1"
AT = f"WHERE device_id = {{device}} AND ctid = ({ROW.replace('{n}', '7')})"
NEXT = "SELECT time, current, voltage, phase FROM measurement WHERE device_id = {device} ORDER BY time OFFSET 8 LIMIT 1"
CHANGES = (  # of the devices 1, 2, 3, ...
    f"UPDATE measurement SET current = current * 1000 {AT}",
    f"UPDATE measurement SET time = time + interval '1 millisecond' {AT}",
    f"UPDATE measurement SET (time, current, voltage, phase) = ({NEXT}) {AT}",
    "UPDATE measurement SET current = NULL, voltage = NULL, phase = NULL WHERE device_id = {device}",
    f"UPDATE measurement SET voltage = voltage + 1 {AT}",
    f"UPDATE measurement SET phase = NULL {AT}",
)


def changed_trial(folder: Path, changes: list[str], monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """The events of a trial of one second, in which another connection changes rows as soon as each table has some."""

    def change(session: PostgresSession) -> None:
        with session._connected() as second:
            for statement in changes:
                changing.once_stored(lambda statement=statement: second.execute(statement.encode()).rowcount)

    order = trial_order(folder, "postgres", load__rate="50k", workload__rows_per_request="100")
    events = changing.changed_in_the_load(order, PostgresSession, change, monkeypatch)
    found = changing.summed(events)
    assert (found["note"], found["of_tables"], len(found["tables"])) == ("", 10, 10)
    return events


def test_changed_rows_are_found_in_their_tables(folder, monkeypatch):
    changes = [change.format(device=device) for device, change in enumerate(CHANGES, 1)]
    events = changed_trial(folder, changes, monkeypatch)
    result = result_of(events)
    assert result.verdict.kind is VerdictKind.WRONG_ROWS, result.verdict
    assert result.verdict.reasons[0].startswith("device 1: current: sum: stored ")
    assert "(6 of 10 tables compared differ)" in result.verdict.reasons[0]
    assert changing.differing(events) == set("123456")


def test_a_row_of_one_of_many_tables_is_found_in_its_table(folder, monkeypatch):
    def change(session: PostgresSession) -> None:
        with session._connected() as second:
            assert second.execute(CHANGES[1].format(device=7).encode()).rowcount == 1

    flags = {"workload__tables": "1200", "workload__rows_per_request": "50", "load__warmup": "0s"}
    order = with_rows(trial_order(folder, "postgres", **flags), 120_000)
    events = changing.changed_before_the_count(order, PostgresSession, change, monkeypatch)
    assert changing.verdict_of(events).kind is VerdictKind.WRONG_ROWS
    assert changing.differing(events) == {"7"}
    assert changing.summed(events)["each"] == 1200 and len(changing.summed(events)["tables"]) <= 201


def test_rows_that_two_of_many_devices_exchanged_are_found(folder, monkeypatch):
    """Their sums over all tables are right."""

    def change(session: PostgresSession) -> None:
        with session._connected() as second:
            second.execute("UPDATE measurement SET device_id = 15 - device_id WHERE device_id IN (7, 8)")

    flags = {"workload__tables": "1200", "workload__rows_per_request": "50", "load__warmup": "0s"}
    order = with_rows(trial_order(folder, "postgres", **flags), 12_000)
    events = changing.changed_before_the_count(order, PostgresSession, change, monkeypatch)
    assert changing.verdict_of(events).kind is VerdictKind.WRONG_ROWS
    assert changing.differing(events) == {"7", "8"}


def test_a_sweep_of_many_tables_compares_all_and_keeps_some(tmp_path, data_dir):
    words = ("sweep", "cpu", "--cores", "1", "--target", "postgres", "--runtime", "process", "--replicates", "1")
    many = ("--tables", "1200", "--rows", "120k", "--rows-per-request", "50", "--warmup", "0s")
    where = ("--results", "r", "--data-dir", str(data_dir), "--no-metrics", "--json", "-y")
    done = run(*words, *many, *where, cwd=tmp_path)
    assert_measured(done)
    path = tmp_path / json.loads(done.stdout)["path"]
    (row,) = csv.DictReader((path / "points.csv").read_text().splitlines())
    assert (row["rows_compared"], row["rows_counted"], row["tables_compared"]) == ("120000", "120000", "1200"), row
    (facts,) = path.glob("trials/*/facts.json")
    found = json.loads(facts.read_text())["summed"]
    assert found["note"] == ""
    assert len(found["tables"]) == 200
    assert changing.differing_in(found) == set()


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_server_that_answers_texts_for_sums_has_wrong_rows(folder, monkeypatch, is_whole):
    """A text for each figure, or one text only."""

    def told(session: PostgresSession, devices: Sequence[str]) -> str:
        figures = len(figures_of(session._trial.work.data, SUMS)) if is_whole else 1
        return "SELECT '1'" + ", 'many'" * figures

    monkeypatch.setattr(PostgresSession, "_sums_statement", told)
    result = result_of(changed_trial(folder, [], monkeypatch))
    assert result.verdict.kind is VerdictKind.WRONG_ROWS, result.verdict
    assert "number of rows: stored no number" in result.verdict.reasons[0]
