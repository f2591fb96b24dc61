"""Further functions of aggregates on real servers: each answer is the right one, of a range and of stretches of time."""

import os

import pytest

from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import VerdictKind
from scale_sweep.server.targets.postgres import queries
from tests.integration.real_server import required
from tests.unit.reading_trials import WRONG, answers_of, functions_order, reading_order
from tests.unit.trial_orders import here, result_of

SERVERS = {
    "postgres": {"median", "p95", "stddev", "stddev_samp", "count_distinct", "rate", "several"},
    "questdb": {"stddev", "stddev_samp", "count_distinct", "rate", "several"},
    "influxdb": {"median", "stddev_samp", "count_distinct", "several"},
    "victoriametrics": {"median", "p95", "stddev", "count_distinct", "rate"},
    "iotdb": {"stddev", "stddev_samp", "rate", "several"},
    "kairosdb": {"stddev_samp"},
    "opentsdb": {"median", "stddev"},
}
SLOW = ("iotdb", "kairosdb", "opentsdb")  # to start


@pytest.mark.parametrize("target", SERVERS)
def test_functions_are_answered_rightly(target, folder):
    required(target)
    if target in SLOW and not os.environ.get("SCALE_SLOW_TESTS"):
        pytest.skip("takes long: SCALE_SLOW_TESTS=1")
    column = "voltage" if target == "questdb" else "current"  # it counts no different fractions
    events = here(functions_order(folder, target, column=column))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == SERVERS[target] | {f"{name}_each" for name in SERVERS[target]}
    assert all(one["whole"] == 20 and not one["wrong"] for one in answers.values()), answers


@pytest.mark.parametrize(
    ("function", "right", "wrong"),
    [("stddev", "stddev_pop", "stddev_samp"), ("p95", "percentile_cont", "percentile_disc")],
)
def test_another_definition_is_found_out(folder, monkeypatch, function, right, wrong):
    rendered = queries.rendered
    monkeypatch.setattr(queries, "rendered", lambda *asked: rendered(*asked).replace(right, wrong))
    operation = ["aggregate.column=voltage", f"aggregate.function={function}"]
    order = reading_order(folder, "postgres", "aggregate", operation=operation)
    result = result_of(list(run_trial(order, Stop())))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    assert result.verdict.reasons[0].startswith("aggregate of device ")


def test_a_null_in_the_order_of_the_rows_is_named(folder, monkeypatch):
    rendered = queries.rendered
    null = 'SELECT time, nullif("voltage", "voltage") '
    monkeypatch.setattr(queries, "rendered", lambda *asked: rendered(*asked).replace('SELECT time, "voltage" ', null))
    operation = ["range.columns=voltage", "range.order=voltage desc", "range.limit=5"]
    order = reading_order(folder, "postgres", "range", operation=operation)
    result = result_of(list(run_trial(order, Stop())))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    assert "row 1 of 5 is NULL in voltage, by which the rows are ordered" in result.verdict.reasons[0]


def test_an_order_of_aggregates_without_a_value_is_not_compared(folder):
    asked = ["each=device", "devices=all", "top=3", "function=rate", "column=voltage"]
    operation = [*(f"aggregate.{one}" for one in asked), "aggregate.span=10s"]  # one row of each device
    operation += ["several.kind=aggregate", *(f"several.{one}" for one in asked), "several.span=1m"]
    events = here(reading_order(folder, "postgres", "aggregate,several", operation=operation))
    answers = answers_of(events)
    assert result_of(events).verdict.kind not in WRONG
    assert (answers["aggregate"]["whole"], answers["several"]["whole"]) == (0, 20)
    assert not answers["aggregate"]["wrong"]
