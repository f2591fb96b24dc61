"""Rows that are loaded once and copied for each trial, on the real server of every database that keeps its data.

PostgreSQL and its containers have a file of their own. Servers that take long to start run with SCALE_SLOW_TESTS=1.
"""

import os
from dataclasses import replace

import pytest

from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.executing.run_setup import data_of_run
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import PhaseEntered, Plan
from tests.integration.real_server import required
from tests.unit.factories import make_sweep
from tests.unit.reading_trials import WRONG, answers_of, reading_order
from tests.unit.trial_orders import result_of

PRELOADED = {"influxdb": 100_000, "victoriametrics": 100_000}
SLOW = {"prometheus": 30_000, "questdb": 100_000, "cassandra": 20_000, "kairosdb": 4_000}


KNOBS = {"kairosdb": {"datastore": "h2"}}
ON_CASSANDRA = ("kairosdb", {"cassandra_heap": "512m"})


@pytest.mark.parametrize(
    ("name", "knobs"), [*((name, KNOBS.get(name, {})) for name in (*PRELOADED, *SLOW)), ON_CASSANDRA]
)
def test_a_copy_of_its_files_answers_rightly_warm_and_cold(name, knobs, folder):
    if name in SLOW and not os.environ.get("SCALE_SLOW_TESTS"):
        pytest.skip("takes long: SCALE_SLOW_TESTS=1")
    rows = (PRELOADED | SLOW)[required(name).facts.name]
    copies_answer_rightly(name, folder, rows, knobs)


def copies_answer_rightly(name, folder, rows, knobs, duration="8s"):
    """A warm and a cold trial on copies of one data set of these rows. duration: on a busy machine a server in Java
    that has just started needs seconds for its first answer."""
    more = ["range.columns=current"]
    flags = {"preload__rows": str(rows), "load__duration": duration, "load__warmup": "0s"}
    order = reading_order(folder, name, "range,write", also=more, **flags)
    order = replace(order, trial=replace(order.trial, knobs={**order.trial.knobs, **knobs}))
    plan = Plan(sweep=make_sweep(), trials=(order.trial,), confounds=(), notes=(), seconds_estimated=0.0)
    found, phases = {}, {}
    with data_of_run(plan, order.run_id) as data_set:
        for cache in ("warm", "cold"):
            trial = replace(order.trial, work=replace(order.trial.work, cache=cache))
            events = list(run_trial(replace(order, trial=trial, data=data_set(trial)), Stop()))
            result, found[cache] = result_of(events), result_of(events).measurement
            phases[cache] = [e.phase for e in events if isinstance(e, PhaseEntered)]
            assert result.verdict.kind not in WRONG, result.verdict
            assert answers_of(events)["range"]["whole"] == 20
            assert found[cache].rows_counted == found[cache].rows_acked + rows
            assert found[cache].preload_copied in ("copy", "reflink")
    assert found["warm"].preload_s == found["cold"].preload_s, "they were loaded once"
    assert (phases["warm"][0], phases["cold"][0]) == ("preload", "provision")
    assert phases["cold"].count("provision") == 2, "its server was started again, on files that were not in memory"
    assert found["warm"].preload_cached_percent > 90
