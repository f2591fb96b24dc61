"""InfluxDB as a real process: the contract of databases that take lines, and what it does with bad settings."""

import json
from dataclasses import replace

import pytest

from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import required
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
    assert facts["mismatches"] == ["data_no_such_item was to be 1, the server says nothing"]
