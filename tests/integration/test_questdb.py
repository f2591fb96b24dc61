"""QuestDB as a real process: the contract of databases that take lines, and what it does with bad settings."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scale_sweep.measure.trial import stored_rows as summed_trial
from scale_sweep.measure.trial.disks import check_placement
from scale_sweep.model import Event, VerdictKind
from scale_sweep.server.targets.questdb.questdb_session import QuestdbSession
from tests.integration.changing import changed_in_the_load, once_stored
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import real_server, required, with_rows
from tests.unit.reading_trials import WRONG
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order


@pytest.fixture(scope="module")
def target():
    return required("questdb")


@pytest.fixture
def small_disk():
    return 256, 600_000


def test_a_setting_that_it_does_not_know_ends_the_trial_in_its_words(target, folder):
    order = trial_order(folder, "questdb")
    unknown = replace(order.trial, knobs={**order.trial.knobs, "no_such_item": "1"})
    verdict = result_of(here(replace(order, trial=unknown))).verdict
    assert verdict.kind is VerdictKind.ABORTED
    assert "no.such.item" in verdict.reasons[0]


def test_tables_and_their_logs_lie_on_the_disks_in_turn(target, tmp_path):
    disks = (str(tmp_path / "1"), str(tmp_path / "2"))
    with real_server(target, tmp_path / "server", disks=disks) as server:
        session = server.start()
        session.create_schema()
        assert server.load(session, rows=100_000).returncode == 0
        session.flush()
        counted = session.count()
        assert (counted.rows, counted.gaps) == (100_000, ())
        parts = session.parts()
        assert len(parts) == server.trial.load.partitions
        half = len(parts) // 2
        assert check_placement(parts, (), disks) == {"parts_per_disk": f"{half},{half}"}
        for disk in disks:
            files = [path for path in Path(disk).rglob("*") if path.is_file() and path.stat().st_size]
            assert any("/wal" in str(path) for path in files)
            assert any(path.name.startswith("current.d") and "/wal" not in str(path) for path in files)
        assert session.effective()["partitions"] == str(len(parts))
        server.end()


TYPES = "a:bool,b:tinyint,c:smallint,d:int,e:bigint,f:utinyint,g:usmallint,h:uint,j:float,k:double,l:binary(20)"
CHANGE = "UPDATE measurement_p0 SET k = k + 1 WHERE device = '{device}' AND timestamp = {start}000"


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, method: str, change: str) -> list[Event]:
    """The events of a trial that writes 40,000 rows, some of each table; another session changes one of them while it runs."""
    flags: dict[str, Any] = {"workload__columns": TYPES, "load__rate": "20k", "workload__rows_per_request": "100"}
    order = with_rows(trial_order(folder, "questdb", load__method=method, **flags), 40_000)

    def changed(session: QuestdbSession) -> None:
        ((device,),) = once_stored(lambda: session._rows("SELECT device FROM measurement_p0 LIMIT 1"))
        session._rows(change.format(device=device, start=order.trial.work.data.start_ms))

    return changed_in_the_load(order, QuestdbSession, changed if change else None, monkeypatch)


def test_rows_that_nobody_changed_are_right(folder, monkeypatch):
    events = written(folder, monkeypatch, "http", "")
    result, summed = result_of(events), json.loads(artifact_of(events, "facts.json"))["summed"]
    assert ("of 10 tables" in summed["note"], len(summed["tables"])) == (False, 10), result.log_tail
    assert result.verdict.kind not in WRONG, result.verdict
    assert result.measurement.rows_compared == result.measurement.rows_counted > 0


def test_drawn_tables_and_all_together_are_right_with_pgwire(folder, monkeypatch):
    monkeypatch.setattr(summed_trial, "TABLES_MAX", 5)
    monkeypatch.setattr(summed_trial, "DRAWN", 4)
    monkeypatch.setattr(summed_trial, "EACH_MAX", 0)
    events = written(folder, monkeypatch, "pgwire", "")
    result, summed = result_of(events), json.loads(artifact_of(events, "facts.json"))["summed"]
    assert [one["table"] is None for one in summed["tables"]] == [False] * 4 + [True], summed["note"]
    assert result.verdict.kind not in WRONG, result.verdict
    assert result.measurement.rows_compared == result.measurement.rows_counted > 0


def test_a_changed_row_is_found(folder, monkeypatch):
    result = result_of(written(folder, monkeypatch, "http", CHANGE))
    assert result.verdict.kind is VerdictKind.WRONG_ROWS, result.verdict
    assert "k: sum: stored" in result.verdict.reasons[0]
    assert "(1 of 10 tables compared differ)" in result.verdict.reasons[0]
