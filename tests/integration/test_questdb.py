"""QuestDB as a real process: the contract of databases that take lines, and what it does with bad settings."""

from dataclasses import replace
from pathlib import Path

import pytest

from runner.model import VerdictKind
from runner.trial.placed import check_placement
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import real_server, required
from tests.unit.reading_trials import KINDS, MORE, WRONG, answers_of, reading_order
from tests.unit.trial_orders import here, result_of, trial_order


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


def test_reads_are_answered_rightly_beside_writes(target, folder):
    order = reading_order(folder, "questdb")
    events = here(order)
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == {*KINDS, *MORE}
    assert all(one["whole"] == 20 and not one["wrong"] for one in answers.values()), answers
    assert sum(one["counted"] for one in answers.values()) > 0
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000 > 20_000
