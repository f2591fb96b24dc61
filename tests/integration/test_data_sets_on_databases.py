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
from tests.integration.test_database_contract import found
from tests.unit.factories import make_sweep
from tests.unit.reading_trials import WRONG, answers_of, reading_order
from tests.unit.trial_orders import result_of

PRELOADED = {"influxdb": 100_000, "victoriametrics": 100_000, "mariadb": 30_000, "clickhouse": 30_000}
PRELOADED |= {"influxdb2": 100_000, "cratedb": 30_000}
SLOW = {"prometheus": 30_000, "questdb": 100_000, "cassandra": 20_000, "kairosdb": 4_000}


KNOBS = {"kairosdb": {"datastore": "h2"}}
ON_CASSANDRA = ("kairosdb", {"cassandra_heap": "512m"})


@pytest.mark.parametrize(
    ("name", "knobs"), [*((name, KNOBS.get(name, {})) for name in (*PRELOADED, *SLOW)), ON_CASSANDRA]
)
def test_a_copy_of_its_files_answers_rightly_warm_and_cold(name, knobs, folder, monkeypatch):
    if name in SLOW and not os.environ.get("SCALE_SLOW_TESTS"):
        pytest.skip("takes long: SCALE_SLOW_TESTS=1")
    found(name, monkeypatch)
    more, rows = ["range.columns=current"], (PRELOADED | SLOW)[name]
    # On a busy machine a server that has just started needs seconds for its first answer.
    duration = "20s" if name == "cratedb" else "8s"
    flags = {"preload__rows": str(rows), "load__duration": duration, "load__warmup": "0s"}
    order = reading_order(folder, name, "range,write", also=more, **flags)
    order = replace(order, trial=replace(order.trial, knobs={**order.trial.knobs, **knobs}))
    plan = Plan(sweep=make_sweep(), trials=(order.trial,), confounds=(), notes=(), seconds_estimated=0.0)
    seen, phases = {}, {}
    with data_of_run(plan, order.run_id) as data_set:
        for cache in ("warm", "cold"):
            trial = replace(order.trial, work=replace(order.trial.work, cache=cache))
            events = list(run_trial(replace(order, trial=trial, data=data_set(trial)), Stop()))
            result, seen[cache] = result_of(events), result_of(events).measurement
            phases[cache] = [e.phase for e in events if isinstance(e, PhaseEntered)]
            assert result.verdict.kind not in WRONG, result.verdict
            assert answers_of(events)["range"]["whole"] == 20
            assert seen[cache].rows_counted == seen[cache].rows_acked + rows
            assert seen[cache].preload_copied in ("copy", "reflink")
    assert seen["warm"].preload_s == seen["cold"].preload_s, "they were loaded once"
    assert (phases["warm"][0], phases["cold"][0]) == ("preload", "provision")
    assert phases["cold"].count("provision") == 2, "its server was started again, on files that were not in memory"
    assert seen["warm"].preload_cached_percent > 90
