"""Answers of a load over HTTP that a proxy falsifies, on real servers: the content that the load generator hands over
shows each falsification, and no other difference. A trial of them has the verdict WRONG_ANSWER."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from runner.interrupts import Stop
from runner.loadgen.content import content_of
from runner.loadgen.process import LoadProcesses
from runner.loadgen.protocol import Asked
from runner.loadgen.rows import rows_of, tables_of
from runner.loadgen.spec import preload_of, spec_text, told_texts, trial_spec
from runner.model import Drawn, VerdictKind
from runner.targets import Session
from runner.targets.influxdb.session import InfluxdbSession
from runner.trial.run import run_trial
from runner.trial.within import Within
from runner.work import queries_of
from runner.work.answers import right_answer, stretches
from tests.integration.real_server import RealServer, real_server, required
from tests.loadgen.lying_http import HTTP_LIES, LyingHttp
from tests.unit.reading_trials import reading_order
from tests.unit.trial_orders import result_of

ASKED = 20
FLAGS = {
    "mix": "range",
    "operation": ["range.span=2m"],
    "preload__rows": "2k",
    "workload__step_ms": "10000",
    "knobs__write_threads": "2",
}


@dataclass
class Loaded:
    """A server with the rows of a trial's preload, and what its load is told."""

    server: RealServer
    session: Session
    spec: Mapping[str, str]
    text: str

    def answers(self, **more: str) -> list[Asked]:
        """All that a load reports, of which the proxy is on the way if `port` says so."""
        load = LoadProcesses(self.server.program, [{**self.spec, **more}], (0,), "")
        with load:
            list(load.lines(60))
        return load.answers

    def wrong_of(self, answers: list[Asked]) -> Iterator[str]:
        """What is wrong with each answer; "" if nothing is."""
        work = self.server.trial.work
        query = queries_of(work)["range"]
        tables = tables_of(self.server.program, self.spec, "")
        for answer in answers:
            drawn = Drawn(devices=answer.devices, from_ms=answer.from_ms or 0, to_ms=answer.to_ms or 0)
            some = stretches(query, drawn, work)
            held = {one[0]: rows for one, rows in zip(some, self.rows(some), strict=True)}
            came = self.session.rows_handed(query, self.text, drawn, tables.names, content_of(answer))
            right = right_answer(query, drawn, held)
            yield Within(query=query, answer=answer, right=right, came=came, names=tables.names, written=0).wrong()

    def rows(self, some: Any) -> Any:
        return rows_of(self.server.program, self.spec, some)


@pytest.fixture(scope="module", params=["influxdb", "victoriametrics", "questdb"])
def loaded(request, tmp_path_factory) -> Iterator[Loaded]:
    target = required(request.param)
    with real_server(target, tmp_path_factory.mktemp(request.param), **FLAGS) as server:
        session = server.start()
        session.create_schema()
        writing = trial_spec(preload_of(server.trial), session.load_spec())
        done = subprocess.run(
            [server.program, "load", "-"], input=spec_text(writing), text=True, capture_output=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        session.settle()
        assert session.count().rows == 2000
        trial = server.trial
        texts = {n: target.facts.rendered(q, trial.work.data, "http") for n, q in queries_of(trial.work).items()}
        spec = trial_spec(trial, {**session.load_spec(), **told_texts(texts)})
        spec |= {"requests": str(ASKED), "threads": "1", "duration_s": "60"}
        spec |= {"warmup_s": "0", "check_ms": "1", "check_every": "0"}
        yield Loaded(server=server, session=session, spec=spec, text=texts["range"])


@pytest.mark.parametrize("lie", [*HTTP_LIES, "nothing"])
def test_each_falsified_answer_of_the_load_is_found(loaded, lie):
    with LyingHttp(HTTP_LIES.get(lie, lambda answer: None)) as lying:
        port = lying.listen((loaded.spec["host"], int(loaded.spec["port"])))
        sentences = list(loaded.wrong_of(loaded.answers(port=str(port))))
    assert len(sentences) == ASKED
    if lie == "nothing":
        assert lying.lies == 0 and not any(sentences), sentences
    else:
        assert lying.lies >= ASKED - 1, lying.lies
        assert all(sentences[1:]), sentences


def test_a_server_that_lies_to_the_load_alone_is_found_out(folder, monkeypatch):
    """The answers before the load are right; between the load generator and the server, one cell is missing."""
    required("influxdb")
    with LyingHttp(HTTP_LIES["last cell NULL"], posted="/nothing") as lying:
        load_spec = InfluxdbSession.load_spec

        def through(session):
            spec = load_spec(session)
            return {**spec, "port": str(lying.listen((spec["host"], int(spec["port"]))))}

        monkeypatch.setattr(InfluxdbSession, "load_spec", through)
        order = reading_order(folder, "influxdb", "range")
        load = replace(order.trial.load, warmup_s=0.2)
        result = result_of(list(run_trial(replace(order, trial=replace(order.trial, load=load)), Stop())))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    assert "while the load ran" in result.verdict.reasons[0]
