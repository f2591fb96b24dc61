"""InfluxDB as a real process: the contract of databases that take lines, and what it does with bad settings."""

import json
from dataclasses import replace

import pytest

from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import required
from tests.integration.short_trial import one_row_of_each_time_is_kept
from tests.unit.trial_orders import artifact_of, here, trial_order


@pytest.fixture(scope="module")
def target():
    return required("influxdb")


@pytest.fixture
def small_disk():
    return 16, 150_000  # it goes on, slowly: each request that fails takes a second


def test_a_setting_that_it_does_not_say_it_has_is_no_valid_number(target, folder):
    order = trial_order(folder, "influxdb")
    unknown = replace(order.trial, knobs={**order.trial.knobs, "data_no_such_item": "1"})
    facts = json.loads(artifact_of(here(replace(order, trial=unknown)), "facts.json"))
    assert facts["mismatches"] == ["data_no_such_item was to be 1, the server does not report it"]


def test_settings_are_read_back_in_the_words_of_the_server(target, folder):
    knobs = {"shard_precreation_check_interval": "5m", "subscriber_enabled": "false", "shard_duration": "90m"}
    knobs |= {"data_cache_snapshot_memory_size": "10m", "data_cache_snapshot_write_cold_duration": "90s"}
    order = trial_order(folder, "influxdb")
    order = replace(order, trial=replace(order.trial, knobs={**order.trial.knobs, **knobs}))
    facts = json.loads(artifact_of(here(order), "facts.json"))
    assert facts["mismatches"] == []


def test_of_rows_with_the_same_time_one_is_kept_and_counted(target, folder, rows):
    one_row_of_each_time_is_kept("influxdb", folder, rows[1])
