"""IoTDB as two real processes: the contract of databases of series, and what it does with bad settings.

It takes about 20 CPU seconds for each start: one short trial runs everywhere, the others with SCALE_SLOW_TESTS=1.
"""

import json
from collections.abc import Iterator
from dataclasses import replace

import psutil
import pytest

from scale_sweep.model import VerdictKind
from scale_sweep.server.targets.iotdb.iotdb_session import IotdbSession
from tests.integration.by_hand import by_hand
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.leftovers import ours_running
from tests.integration.loaded_server import Loaded, loaded_server, send_loads_through
from tests.integration.real_server import real_server, required, with_rows
from tests.integration.short_trial import short_trial
from tests.loadgen.lying_iotdb import IOTDB_LIES, LyingIotdb
from tests.unit.reading_trials import reading_order
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order

skipped = by_hand("20 CPU seconds for each start", but=("test_a_short_trial_counts_what_was_acknowledged",))


@pytest.fixture(scope="module")
def target():
    return required("iotdb")


@pytest.fixture(scope="module")
def loaded(target, tmp_path_factory) -> Iterator[Loaded]:
    with loaded_server(target, tmp_path_factory.mktemp("iotdb")) as server:
        yield server


@pytest.fixture
def small_disk():
    return 220, 2_000_000


@pytest.fixture
def rows():
    return 300_000, 100_000


@pytest.fixture
def write_late():
    def write(server, session):
        session._rows(session.insertion("root.scale.d0", server.trial.work.data.start_ms + 86_400_000))

    return write


def test_a_setting_that_it_cannot_use_ends_the_trial_in_its_words(target, folder):
    order = trial_order(folder, "iotdb")
    wrong = replace(order.trial, knobs={**order.trial.knobs, "wal_mode": "SOMETIMES"})
    result = result_of(here(replace(order, trial=wrong)))
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "SOMETIMES" in result.verdict.reasons[0] + result.log_tail


def test_one_node_that_is_killed_takes_the_other_along(target, tmp_path):
    with real_server(target, tmp_path) as server:
        server.start()
        assert server.process is not None
        nodes = [node for node in psutil.Process(server.process.pid).children() if node.name() == "java"]
        assert len(nodes) == 2
        nodes[0].kill()
        server.process.wait(60)
    assert ours_running(tmp_path) == []


def test_its_write_ahead_log_can_be_on_disk_before_each_answer(target, folder):
    order = trial_order(folder, "iotdb", load__warmup="0s", load__method="tablets")
    knobs = {**order.trial.knobs, "wal_mode": "SYNC", "aligned": "false"}
    events = here(with_rows(replace(order, trial=replace(order.trial, knobs=knobs)), 20_000))
    result = result_of(events)
    assert result.measurement is not None, result.verdict
    assert result.measurement.rows_counted == result.measurement.rows_acked == 20_000, result.verdict
    assert json.loads(artifact_of(events, "facts.json"))["mismatches"] == []
    assert (result.effective["wal_mode"], result.effective["aligned"]) == ("SYNC", "false")
    assert result.effective["acknowledged"].startswith("on disk")


def test_devices_are_aligned_or_not_by_each_method(target, tmp_path):
    with real_server(target, tmp_path) as server:
        server.start()
        for aligned in ("true", "false"):
            trial = replace(server.trial, knobs={**server.trial.knobs, "aligned": aligned})
            session = target.session(trial, server.address)
            for method in target.facts.methods:
                session.create_schema()
                session.create_tables()
                loaded = server.load(session, rows=20_000, method=method, interlace_rows=10)
                assert loaded.returncode == 0, loaded.stderr
                assert_none_missing(session.count(), 20_000)  # noqa: F405
                assert {row[1] for row in session._rows("SHOW DEVICES root.scale.d*")} == {aligned}
                session.drop_schema()


def test_a_short_trial_counts_what_was_acknowledged(target, folder):
    short_trial(target, folder, 5_000)


@pytest.mark.parametrize("lie", [*IOTDB_LIES, "nothing"])
def test_each_falsified_answer_of_the_load_is_found(loaded, lie):
    with LyingIotdb(IOTDB_LIES.get(lie, lambda answer: answer.rows)) as lying:
        loaded.assert_lies_are_found(lying, is_honest=lie == "nothing")


def test_a_server_that_lies_to_the_load_alone_is_found_out(target, folder, monkeypatch):
    """The answers before the load are right; between the load generator and the server, one cell becomes NULL."""
    with LyingIotdb(IOTDB_LIES["last cell NULL"]) as lying:
        send_loads_through(lying, IotdbSession, monkeypatch)
        result = result_of(here(reading_order(folder, "iotdb", "range")))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    assert "while the load ran" in result.verdict.reasons[0]
