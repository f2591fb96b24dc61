"""Reads on a real TDengine: the same operations on the same rows as on PostgreSQL, and the same right answers.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_reads.py
"""

from dataclasses import replace

import pytest

from scale_sweep.base.interrupts import Stop
from scale_sweep.experiment.work import queries_of
from scale_sweep.measure.trial.run import run_trial
from tests.contract.tdengine_contract import HOME, NEEDS_SERVER
from tests.unit.reading_trials import (
    FILLED,
    GROUPED,
    KINDS,
    MORE,
    SHAPES,
    WRONG,
    answers_of,
    filled_order,
    functions_order,
    grouped_order,
    reading_order,
    shapes_order,
)
from tests.unit.test_tsbs_devops import devops
from tests.unit.trial_orders import result_of, trial_order

pytestmark = list(NEEDS_SERVER)


@pytest.mark.parametrize("method", ["stmt", "ws"])
def test_every_kind_is_answered_rightly_beside_writes(open_folder, method):
    order = reading_order(open_folder, "tdengine", load__method=method)
    events = list(run_trial(replace(order, home=str(HOME), client_home=str(HOME)), Stop()))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == {*KINDS, *MORE}
    assert all(one["whole"] == 20 and not one["wrong"] for one in answers.values())
    assert all(answers[name]["compared"] for name in ("point", "range", "aggregate", "group_by_time", "set"))
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000
    assert result.measurement.requests_per_s > 0


@pytest.mark.parametrize("method", ["stmt", "ws"])
def test_groups_of_devices_are_answered_rightly(open_folder, method):
    order = grouped_order(open_folder, "tdengine", sets=False, load__method=method)
    events = list(run_trial(replace(order, home=str(HOME), client_home=str(HOME)), Stop()))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == {*GROUPED, "every", "some"}
    assert all(one["whole"] == 20 and one["compared"] and not one["wrong"] for one in answers.values())


def test_bounds_orders_and_groups_are_answered_rightly(open_folder):
    order = shapes_order(open_folder, "tdengine")
    events = list(run_trial(replace(order, home=str(HOME), client_home=str(HOME)), Stop()))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == set(SHAPES)
    assert all(one["whole"] and not one["wrong"] for one in answers.values()), answers


def test_all_queries_of_tsbs_devops_are_answered_rightly(open_folder):
    flags = {"workload__name": "tsbs-devops", "workload__tables": "10", "preload__rows": "45k"}
    order = trial_order(open_folder, "tdengine", load__duration="3s", **flags)
    events = list(run_trial(replace(order, home=str(HOME), client_home=str(HOME)), Stop()))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == set(queries_of(devops().work))
    assert all(one["whole"] and not one["wrong"] for one in answers.values()), answers
    assert all(answers[name]["compared"] for name in ("high-cpu-1", "single-groupby-5-8-1")), answers


@pytest.mark.parametrize("method", ["stmt", "ws"])
def test_functions_are_answered_rightly(open_folder, method):
    columns = {"workload__columns": "current:double,voltage:int"}  # its deviation of a float is refused
    order = functions_order(open_folder, "tdengine", load__method=method, **columns)
    events = list(run_trial(replace(order, home=str(HOME), client_home=str(HOME)), Stop()))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == {
        f"{one}{each}" for one in ("median", "p95", "stddev", "rate", "several") for each in ("", "_each")
    }
    assert all(one["whole"] == 20 and not one["wrong"] for one in answers.values()), answers


@pytest.mark.parametrize(("method", "half"), [("stmt", 0), ("stmt", 1), ("ws", 1)])
def test_stretches_without_rows_are_filled_rightly(open_folder, method, half):
    asked = [name for name in FILLED if name != "previous_newest"][half::2]
    order = filled_order(open_folder, "tdengine", asked, load__method=method)
    events = list(run_trial(replace(order, home=str(HOME), client_home=str(HOME)), Stop()))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == set(asked)
    assert all(one["whole"] == 20 and one["compared"] and not one["wrong"] for one in answers.values()), answers
