"""Answers of a load over HTTP that a proxy falsifies, on real servers: the content that the load generator hands over
shows each falsification, and no other difference. A trial of them has the verdict WRONG_ANSWER."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.measured import VerdictKind
from scale_sweep.server.targets.influxdb.influxdb_session import InfluxdbSession
from scale_sweep.server.targets.iotdb.iotdb_session import IotdbSession
from tests.integration.loaded_server import Loaded, loaded_server, send_loads_through
from tests.integration.real_server import required
from tests.loadgen.lying_http import HTTP_LIES, LyingHttp
from tests.loadgen.lying_iotdb import IOTDB_LIES, LyingIotdb
from tests.unit.reading_trials import reading_order
from tests.unit.trial_orders import result_of

IOTDB = pytest.param("iotdb", marks=pytest.mark.skipif(not os.environ.get("SCALE_SLOW_TESTS"), reason="starts long"))


@pytest.fixture(scope="module", params=["influxdb", "victoriametrics", "questdb", IOTDB])
def loaded(request, tmp_path_factory) -> Iterator[Loaded]:
    with loaded_server(
        required(request.param), tmp_path_factory.mktemp(request.param), "" if request.param == "iotdb" else "http"
    ) as server:
        yield server


@pytest.mark.parametrize("lie", [*{**HTTP_LIES, **IOTDB_LIES}, "nothing"])
def test_each_falsified_answer_of_the_load_is_found(loaded, lie):
    is_iotdb = loaded.server.target.facts.name == "iotdb"
    lies = IOTDB_LIES if is_iotdb else HTTP_LIES
    if lie not in (*lies, "nothing"):
        pytest.skip("a lie of another protocol")
    honest = (lambda answer: answer.rows) if is_iotdb else (lambda answer: None)
    with (LyingIotdb if is_iotdb else LyingHttp)(lies.get(lie, honest)) as lying:
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


@pytest.mark.skipif(not os.environ.get("SCALE_SLOW_TESTS"), reason="IoTDB starts long: SCALE_SLOW_TESTS=1")
def test_an_iotdb_that_lies_to_the_load_alone_is_found_out(folder, monkeypatch):
    """One cell becomes NULL."""
    required("iotdb")
    with LyingIotdb(IOTDB_LIES["last cell NULL"]) as lying:
        send_loads_through(lying, IotdbSession, monkeypatch)
        result = result_of(list(run_trial(reading_order(folder, "iotdb", "range"), Stop())))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    assert "while the load ran" in result.verdict.reasons[0]
