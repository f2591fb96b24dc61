"""Rows that a second connection changes in the server while the load runs: the trial is WRONG_ROWS, and the comparison
names the tables that were changed and no other."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from runner.interrupts import current
from runner.model import Event, IntervalSeen, Trial, VerdictKind
from runner.targets.postgres import session
from runner.targets.postgres.session import PostgresSession
from runner.targets.postgres.sums import SUMS
from runner.trial.run import run_trial
from runner.work.sums import figures_of
from tests.unit.trial_orders import artifact_of, result_of, trial_order

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
    sessions: list[PostgresSession] = []
    not_ready = PostgresSession.not_ready
    monkeypatch.setattr(PostgresSession, "not_ready", lambda self: (sessions.append(self), not_ready(self))[1])
    order = trial_order(folder, "postgres", load__rate="50k", workload__rows_per_request="100")
    events: list[Event] = []
    changed: list[int] = []
    for event in run_trial(order, current()):
        events.append(event)
        if isinstance(event, IntervalSeen) and changes and not changed:
            with sessions[-1]._connected() as second:
                changed = [until_done(second, change) for change in changes]
    assert all(changed) and len(changed) == len(changes), changed
    return events


def until_done(second: Any, change: str) -> int:
    """How many rows it changes, once there are any: the load goes on meanwhile."""
    deadline = time.monotonic() + 60
    while not (rows := second.execute(change.encode()).rowcount) and time.monotonic() < deadline:
        time.sleep(0.05)
    return int(rows)


def differing(events: list[Event]) -> set[str]:
    """The tables with a figure that is further from the right one than it may be."""
    summed: dict[str, Any] = json.loads(artifact_of(events, "facts.json"))["summed"]
    assert (summed["note"], summed["of_tables"], len(summed["tables"])) == ("", 10, 10)
    found = set()
    for one in summed["tables"]:
        figures = zip(*(one[name].split() for name in ("right", "stored", "error")), strict=True)
        if any("-" in (r, s) or abs(float(r) - float(s)) > float(e) for r, s, e in figures):
            found.add(one["name"])
    return found


def test_changed_rows_are_found_in_their_tables(folder, monkeypatch):
    changes = [change.format(device=device) for device, change in enumerate(CHANGES, 1)]
    events = changed_trial(folder, changes, monkeypatch)
    result = result_of(events)
    assert result.verdict.kind is VerdictKind.WRONG_ROWS, result.verdict
    assert result.verdict.reasons[0].startswith("device 1: current: sum: stored ")
    assert "(6 of 10 tables compared differ)" in result.verdict.reasons[0]
    assert differing(events) == set("123456")


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_server_that_answers_texts_for_sums_has_wrong_rows(folder, monkeypatch, is_whole):
    """A text for each figure, or one text only."""

    def told(trial: Trial, devices: Sequence[str]) -> str:
        figures = len(figures_of(trial.work.data, SUMS)) if is_whole else 1
        return "SELECT '1'" + ", 'many'" * figures

    monkeypatch.setattr(session, "sums_statement", told)
    result = result_of(changed_trial(folder, [], monkeypatch))
    assert result.verdict.kind is VerdictKind.WRONG_ROWS, result.verdict
    assert "number of rows: stored what is no number" in result.verdict.reasons[0]


def test_rows_that_nobody_changed_are_right(folder, monkeypatch):
    events = changed_trial(folder, [], monkeypatch)
    result = result_of(events)
    assert result.verdict.kind is not VerdictKind.WRONG_ROWS and differing(events) == set()
    assert result.measurement is not None
    assert result.measurement.rows_compared == result.measurement.rows_counted > 0
    assert result.measurement.tables_compared == 10
