"""Rows that are loaded once, on a real TDengine: each trial starts a server on a copy of the files, warm or cold.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_data_sets.py
"""

from dataclasses import replace

import pytest

from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.executing.place import data_of_run
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import PhaseEntered
from scale_sweep.model.planned import Plan
from tests.contract.tdengine_contract import HOME, NEEDS_SERVER
from tests.unit.factories import make_sweep
from tests.unit.reading_trials import answers_of, reading_order
from tests.unit.trial_orders import result_of

pytestmark = list(NEEDS_SERVER)


@pytest.mark.parametrize("method", ["stmt", "ws"])
def test_trials_read_copies_of_the_same_rows(open_folder, method):
    """The files have the server's name and port, its password and the tables. Every answer is right on each copy."""
    order = reading_order(open_folder, "tdengine", "range,latest,write", load__method=method, preload__rows="200k")
    order = replace(order, home=str(HOME), client_home=str(HOME))
    plan = Plan(sweep=make_sweep(), trials=(order.trial,), confounds=(), notes=(), seconds_estimated=0.0)
    found, phases = {}, {}
    with data_of_run(plan, order.run_id) as data_set:
        for cache in ("as-is", "warm", "cold"):
            trial = replace(order.trial, work=replace(order.trial.work, cache=cache))
            events = list(run_trial(replace(order, trial=trial, data=data_set(trial)), Stop()))
            found[cache] = result_of(events).measurement
            phases[cache] = [e.phase for e in events if isinstance(e, PhaseEntered)]
            verdict = result_of(events).verdict
            assert verdict.kind not in ("ABORTED", "LOST_ROWS", "WRONG_ANSWER", "ERRORS"), verdict.reasons
            assert all(one["whole"] == 20 and not one["wrong"] for one in answers_of(events).values())
            assert found[cache].rows_counted == found[cache].rows_acked + 200_000
            assert found[cache].preload_copied in ("copy", "reflink")
    assert found["cold"].preload_s == found["warm"].preload_s == found["as-is"].preload_s
    assert found["cold"].preload_cached_percent < 60 < found["warm"].preload_cached_percent
    assert found["as-is"].preload_compression > 1
    assert phases["as-is"][:3] == ["preload", "provision", "ready"]
    assert phases["warm"][:2] == ["provision", "ready"]
    assert list(open_folder.iterdir()) == []
