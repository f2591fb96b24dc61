"""Answers of a load over HTTP that a proxy falsifies, on real servers: the content that the load generator hands over
shows each falsification, and no other difference. A trial of them has the verdict WRONG_ANSWER."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import VerdictKind
from scale_sweep.server.targets.influxdb.influxdb_session import InfluxdbSession
from tests.integration.loaded_server import Loaded, loaded_server, send_loads_through
from tests.integration.real_server import required
from tests.loadgen.lying_http import HTTP_LIES, LyingHttp
from tests.unit.reading_trials import reading_order
from tests.unit.trial_orders import result_of


@pytest.fixture(scope="module", params=["influxdb", "victoriametrics", "questdb"])
def loaded(request, tmp_path_factory) -> Iterator[Loaded]:
    with loaded_server(required(request.param), tmp_path_factory.mktemp(request.param), "http") as server:
        yield server


@pytest.mark.parametrize("lie", [*HTTP_LIES, "nothing"])
def test_each_falsified_answer_of_the_load_is_found(loaded, lie):
    with LyingHttp(HTTP_LIES.get(lie, lambda answer: None)) as lying:
        loaded.assert_lies_are_found(lying, is_honest=lie == "nothing")


def test_a_server_that_lies_to_the_load_alone_is_found_out(folder, monkeypatch):
    """The answers before the load are right; between the load generator and the server, one cell is missing."""
    required("influxdb")
    with LyingHttp(HTTP_LIES["last cell NULL"], posted="/nothing") as lying:
        send_loads_through(lying, InfluxdbSession, monkeypatch)
        order = reading_order(folder, "influxdb", "range")
        load = replace(order.trial.load, warmup_s=0.2)
        result = result_of(list(run_trial(replace(order, trial=replace(order.trial, load=load)), Stop())))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    assert "while the load ran" in result.verdict.reasons[0]
