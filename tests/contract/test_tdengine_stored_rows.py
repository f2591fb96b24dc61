"""Rows stored by a real TDengine beside those that were sent: all methods are right, and a changed row is found.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_stored_rows.py
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scale_sweep.measure.trial import stored_rows as summed_trial
from scale_sweep.model.events import Event
from scale_sweep.model.measured import VerdictKind
from scale_sweep.server.targets.tdengine.tdengine_session import TdengineSession
from tests.contract.tdengine_contract import HOME, NEEDS_SERVER
from tests.integration.changing import changed_in_the_load, once_stored
from tests.unit.trial_orders import artifact_of, result_of, trial_order

pytestmark = list(NEEDS_SERVER)
TYPES = "b:bool,t:tinyint,s:smallint,i:int,l:bigint,ut:utinyint,us:usmallint,ui:uint,ul:ubigint,f:float,d:double,x:binary(20)"
CHANGE = "INSERT INTO scale.d3 (ts, f) VALUES ({start}, 1000.0)"


def events_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch, change: str = "", precision: str = "ms", **flags: Any
) -> list[Event]:
    """The events of a trial of writes, in which another session changes a row after the first thousands."""
    order = trial_order(folder, "tdengine", load__rate="20k", workload__rows_per_request="100", **flags)
    trial = replace(order.trial, knobs={**order.trial.knobs, "precision": precision})
    order = replace(order, trial=trial, home=str(HOME), client_home=str(HOME))

    def changed(session: TdengineSession) -> None:
        once_stored(lambda: session._rows("SELECT ts FROM scale.d3 LIMIT 1"))
        session._rows(change.format(start=trial.work.data.start_ms))

    return changed_in_the_load(order, TdengineSession, changed if change else None, monkeypatch)


@pytest.mark.parametrize(
    ("method", "change", "columns"),
    [
        ("stmt", CHANGE, TYPES),
        ("sql", "", TYPES),
        ("sml-line", "", TYPES),
        ("sml-telnet", "", "f:float"),
        ("sml-json", "", "f:float"),
        ("rest", "", TYPES),
        ("ws", "", TYPES),
    ],
    ids=["stmt changed", "sql", "sml-line", "sml-telnet", "sml-json", "rest", "ws"],
)
def test_stored_rows_are_compared(open_folder, monkeypatch, method, change, columns):
    events = events_of(open_folder, monkeypatch, change, method=method, workload__columns=columns)
    result = result_of(events)
    assert result.measurement is not None, f"{result.verdict}\n{result.log_tail}"
    summed = json.loads(artifact_of(events, "facts.json"))["summed"]
    assert ("of 10 tables" in summed["note"], len(summed["tables"])) == (False, 10)
    assert result.measurement.rows_compared == result.measurement.rows_counted > 0
    assert (result.verdict.kind is VerdictKind.WRONG_ROWS) == bool(change), result.verdict
    if change:
        assert "device d3: f: sum: stored" in result.verdict.reasons[0], result.verdict
        assert "(1 of 10 tables compared differ)" in result.verdict.reasons[0]


def test_drawn_tables_and_all_together_are_right_in_nanoseconds(open_folder, monkeypatch):
    monkeypatch.setattr(summed_trial, "TABLES_MAX", 5)
    monkeypatch.setattr(summed_trial, "DRAWN", 4)
    monkeypatch.setattr(summed_trial, "EACH_MAX", 0)
    events = events_of(open_folder, monkeypatch, method="stmt", workload__columns=TYPES, precision="ns")
    result, summed = result_of(events), json.loads(artifact_of(events, "facts.json"))["summed"]
    assert [one["table"] is None for one in summed["tables"]] == [False] * 4 + [True], summed["note"]
    assert result.verdict.kind is not VerdictKind.WRONG_ROWS, result.verdict
    assert result.measurement.rows_compared == result.measurement.rows_counted > 0
