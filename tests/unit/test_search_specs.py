"""The specs of a search: a closed loop first, whatever the arrivals, and random arrivals of each step's own."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from scale_sweep.judge.figures.searched import opening_of, step_of
from scale_sweep.loadgen.spec import search_spec, trial_spec
from scale_sweep.server.targets import load_facts
from scale_sweep.server.targets.null import SIMULATED, NullTarget
from scale_sweep.server.targets.planned import planned_spec
from tests.unit.factories import make_sweep, make_trial
from tests.unit.null_load import skip_without_loadgen
from tests.unit.test_loadgen import summary
from tests.unit.whole_commands import run

SEARCH = {"load__slo": "p99 < 20ms", "load__arrival": "poisson"}
LAST, NULL = summary([1.0], newest_row=99), {"driver": "null"}
SWEEP = ("plan", "cpu", "--cores", "1", "--target", "null", "--rows-per-request", "1")


@pytest.fixture
def trial():
    return make_trial(make_sweep(**SEARCH))


def test_a_search_with_random_arrivals_begins_with_a_closed_loop(trial):
    whole = trial_spec(trial, NULL)
    opening = search_spec(whole, opening_of(trial).load)
    assert (whole["arrival"], opening["arrival"], opening["rate"]) == ("constant", "constant", "0")
    step = search_spec(whole, step_of(trial, 700.0).load, LAST, 1)
    assert (step["arrival"], step["rate"]) == ("poisson", "700")
    rows, connections = trial.work.data.rows_per_request, trial.load.connections
    confirming = trial_spec(step_of(trial, 700.0), NULL)
    assert float(confirming["behind_s"]) == pytest.approx(2 * connections * rows / 700, rel=1e-4)  # an overload
    assert "behind_s" not in whole and "behind_s" not in step  # a step begins with an empty queue
    specs = [trial_spec(replace(trial, order=order), NULL) for order in range(3)]
    load = step_of(trial, 700.0).load
    steps = [search_spec(spec, load, LAST, number) for spec in specs for number in range(1, 15)]
    assert len({spec["arrival_seed"] for spec in (*specs, *steps)}) == 3 + 3 * 14  # no two have the same arrivals
    assert {spec["seed"] for spec in steps} == {specs[0]["seed"]}  # the rows are the same
    assert steps[0] == search_spec(specs[0], load, LAST, 1)  # the plan alone says what is drawn


def test_no_load_of_a_search_has_a_deadline_or_a_knob_that_the_driver_does_not_keep(trial):
    assert trial.load.request_timeout_s > 0
    whole = trial_spec(trial, NULL)
    kept = {key: value for key, value in whole.items() if key != "request_timeout_s"}
    opening, step = opening_of(trial).load, step_of(trial, 700.0).load
    for spec in (kept, whole):
        deadlines = [
            made.get("request_timeout_s") for made in (search_spec(spec, opening), search_spec(spec, step, LAST, 1))
        ]
        assert deadlines == [spec.get("request_timeout_s")] * 2
    target, knobs = NullTarget(load_facts("null")), {"null_servers": "4", "null_service_us": "4000"}
    assert not set(SIMULATED) & set(planned_spec(trial, target))
    spec = planned_spec(replace(trial, knobs={**knobs, "connections": "8"}), target)
    assert {name: spec[name] for name in SIMULATED if name in spec} == knobs  # as keys of the driver


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        (["null_servers=4", "null_service_us=4000", "null_law=exponential"], ""),
        (["null_law=pareto"], "null_law: 'pareto'"),
        (["null_servers=0"], "null_servers: '0'"),
        (["null_stall_us=5"], "null_stall_every_ms: null_stall_us"),
        (["null_server=5"], "null_server: null"),
    ],
)
def test_right_settings_of_the_simulated_server_are_accepted_and_wrong_ones_refused_by_name(tmp_path, knobs, words):
    skip_without_loadgen()
    given = [word for knob in knobs for word in ("--knob", knob)]
    ended = run(*SWEEP, *given, "--slo", "p99 < 20ms", "--arrival", "poisson", cwd=tmp_path, **os.environ)
    assert ended.code == (2 if words else 0), ended.stderr
    assert words in ended.stderr.replace("null-server:", "null_server:") and "Traceback" not in ended.stderr
    assert ended.stderr.count("scale: ") == bool(words)
