"""InfluxDB 2 as a real process: the contract of databases that take lines, its token, and what it does with bad
settings. No registry of packages has the server, so this runs where SCALE_INFLUXDB2_HOME names one."""

import json
import signal
from dataclasses import replace

import pytest

from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import from_elsewhere, real_server, with_rows
from tests.integration.short_trial import one_row_of_each_time_is_kept
from tests.integration.test_data_sets_on_databases import copies_answer_rightly
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order


@pytest.fixture
def target(monkeypatch):
    return from_elsewhere("influxdb2", "SCALE_INFLUXDB2_HOME", monkeypatch)


@pytest.fixture
def small_disk():
    return 16, 150_000


@pytest.fixture
def secret():
    return "made-for-this-test"


def test_nothing_is_written_or_read_without_the_token(target, tmp_path, secret):
    with real_server(target, tmp_path, secret) as server:
        session = server.start()
        session.create_schema()
        other = replace(server, address=replace(server.address, secret="another"))
        assert other.load(session, rows=100).returncode != 0
        assert session.count().rows == 0
        assert server.load(session, rows=100).returncode == 0
        assert session.count().rows == 100
        server.end()
        assert secret not in server.log() + " ".join((*server.spec.argv, *server.spec.env.values()))


def test_the_token_is_in_no_file_of_a_trial(target, folder, monkeypatch):
    monkeypatch.setattr("scale_sweep.measure.trial.provision._secret", lambda is_ours: "made-for-this-test")
    events = here(with_rows(trial_order(folder, "influxdb2", load__warmup="0s"), 1000))
    assert result_of(events).measurement.rows_counted == 1000
    assert "made-for-this-test" not in repr(events)


def test_it_stops_cleanly_and_keeps_its_rows(target, tmp_path, secret):
    with real_server(target, tmp_path, secret) as server:
        session = server.start()
        session.create_schema()
        assert server.load(session, rows=1000).returncode == 0
        assert server.end(signal.Signals[server.spec.stop_signal]) == 0
        assert "Stopping" in server.log() and target.suspicious(server.log()) == ()
        assert server.start().count().rows == 1000


def test_a_setting_that_it_does_not_know_is_refused_before_anything_starts(target, tmp_path):
    order = trial_order(tmp_path, "influxdb2")
    unknown = replace(order.trial, knobs={**order.trial.knobs, "storage_no_such_item": "1"})
    (finding,) = target.check_installed(order.home, unknown)
    assert finding.blocking and "storage-no-such-item" in finding.sentence
    assert target.check_installed(order.home, order.trial) == ()


def test_its_settings_are_read_back(target, folder):
    flags = {"knobs__other": ["storage_wal_fsync_delay=100ms", "shard_duration=1d"], "load__warmup": "0s"}
    events = here(with_rows(trial_order(folder, "influxdb2", **flags), 1000))
    said = result_of(events).effective
    assert json.loads(artifact_of(events, "facts.json"))["mismatches"] == []
    assert (said["storage_wal_fsync_delay"], said["shard_duration"]) == ("100ms", "24h0m0s")
    assert said["acknowledged"] == "in the log, not yet on disk"
    assert said["reporting_disabled"] == said["no_tasks"] == "true"
    assert said["server_version"].startswith("2.")


def test_of_rows_with_the_same_time_one_is_kept_and_counted(target, folder, rows):
    one_row_of_each_time_is_kept("influxdb2", folder, rows[1])


def test_a_copy_of_its_files_answers_rightly(target, folder):
    copies_answer_rightly("influxdb2", folder, 100_000, {})
