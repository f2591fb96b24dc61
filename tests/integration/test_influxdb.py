"""InfluxDB as a real process: the contract of databases that take lines, and what it does with bad settings."""

import json
from dataclasses import replace

import pytest

from runner.model import VerdictKind
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import required, with_rows
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order


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


def test_of_rows_with_the_same_time_one_is_kept_and_counted(target, folder, rows):
    order = {"workload__disorder": "poisson", "workload__disorder_ratio": "50%", "load__warmup": "0s"}
    delays = {"workload__disorder_lambda": "40", "workload__disorder_max_k": "100"}
    events = here(with_rows(trial_order(folder, "influxdb", **order, **delays), rows[1]))
    facts, result = json.loads(artifact_of(events, "facts.json")), result_of(events)
    kept = json.loads(artifact_of(events, "loadgen.jsonl").splitlines()[-1])["rows_distinct"]
    assert result.measurement.rows_acked == rows[1]
    assert facts["counted"]["rows"] == kept == pytest.approx(0.7 * rows[1], rel=0.05)
    assert result.verdict.kind not in (VerdictKind.LOST_ROWS, VerdictKind.ABORTED, VerdictKind.ERRORS), result.verdict
