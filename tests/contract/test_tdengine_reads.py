"""Reads on a real TDengine: the same operations on the same rows as on PostgreSQL, and the same right answers.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_reads.py
"""

from dataclasses import replace

import pytest

from scale_sweep.base.interrupts import Stop
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
from tests.unit.test_tsbs_devops import DEVOPS
from tests.unit.trial_orders import result_of, trial_order

pytestmark = list(NEEDS_SERVER)
METHODS = ("stmt", "ws")
FUNCTIONS = {f"{one}{each}" for one in ("median", "p95", "stddev", "rate", "several") for each in ("", "_each")}
DEVOPS_FLAGS = {"workload__name": "tsbs-devops", "workload__tables": "10", "preload__rows": "45k"}


def answered(order, names, compared, whole=20):
    """The result of the trial, all of whose queries were answered rightly. whole: answers of each; None for any."""
    events = list(run_trial(replace(order, home=str(HOME), client_home=str(HOME)), Stop()))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == set(names)
    assert all(one["whole"] == (whole or one["whole"]) > 0 and not one["wrong"] for one in answers.values()), answers
    assert all(answers[name]["compared"] for name in compared), answers
    return result


@pytest.mark.parametrize("method", METHODS)
def test_every_kind_is_answered_rightly_beside_writes(open_folder, method):
    order = reading_order(open_folder, "tdengine", load__method=method)
    result = answered(order, [*KINDS, *MORE], ("point", "range", "aggregate", "group_by_time", "set"))
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000
    assert result.measurement.requests_per_s > 0


@pytest.mark.parametrize("method", METHODS)
def test_groups_of_devices_are_answered_rightly(open_folder, method):
    names = [*GROUPED, "every", "some"]
    answered(grouped_order(open_folder, "tdengine", sets=False, load__method=method), names, names)


def test_bounds_orders_and_groups_are_answered_rightly(open_folder):
    answered(shapes_order(open_folder, "tdengine"), SHAPES, (), whole=None)


def test_all_queries_of_tsbs_devops_are_answered_rightly(open_folder):
    order = trial_order(open_folder, "tdengine", load__duration="3s", **DEVOPS_FLAGS)
    answered(order, DEVOPS, ("high-cpu-1", "single-groupby-5-8-1"), whole=None)


@pytest.mark.parametrize("method", METHODS)
def test_functions_are_answered_rightly(open_folder, method):
    columns = {"workload__columns": "current:double,voltage:int"}  # its deviation of a float is refused
    answered(functions_order(open_folder, "tdengine", load__method=method, **columns), FUNCTIONS, ())


@pytest.mark.parametrize(("method", "half"), [("stmt", 0), ("stmt", 1), ("ws", 1)])
def test_stretches_without_rows_are_filled_rightly(open_folder, method, half):
    asked = [name for name in FILLED if name != "previous_newest"][half::2]
    answered(filled_order(open_folder, "tdengine", asked, load__method=method), asked, asked)
