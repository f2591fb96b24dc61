"""A real server with the rows of a trial's preload, whose answers to a load are compared as a trial compares them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scale_sweep.experiment.work import queries_of
from scale_sweep.experiment.work.answers import right_answer, stretches
from scale_sweep.loadgen.kept_files import content_of
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.protocol import ReportedAnswer
from scale_sweep.loadgen.spec import preload_of, query_lines, spec_text, trial_spec
from scale_sweep.loadgen.verbs import rows_of, tables_of
from scale_sweep.measure.trial.answers_within import why_wrong
from scale_sweep.model.questions import Drawn
from scale_sweep.server.targets import Session, Target
from tests.integration.real_server import RealServer, real_server
from tests.loadgen.proxy import Proxy

ASKED = 20
FLAGS = {
    "mix": "range",
    "operation": ["range.span=2m"],
    "preload__rows": "2k",
    "workload__step_ms": "10000",
    "knobs__connections": "2",
}


@dataclass
class Loaded:
    """The server, and what its load is told: ASKED requests of one client, whose answers are all handed over."""

    server: RealServer
    session: Session
    spec: Mapping[str, str]
    text: str

    def answers(self, **more: str) -> Sequence[ReportedAnswer]:
        """All that a load reports, of which a proxy is on the way if `port` says so."""
        load = LoadProcesses(self.server.program, [{**self.spec, **more}], (0,), self.server.address.secret)
        with load:
            list(load.lines(60))
        return load.answers

    def wrong_of(self, answers: Sequence[ReportedAnswer]) -> Iterator[str]:
        """What is wrong with each answer; "" if nothing is."""
        work = self.server.trial.work
        query = queries_of(work)["range"]
        tables = tables_of(self.server.program, self.spec, self.server.address.secret)
        for answer in answers:
            drawn = Drawn(devices=answer.devices, from_ms=answer.from_ms or 0, to_ms=answer.to_ms or 0)
            some = stretches(query, drawn, work)
            held = {one[0]: rows for one, rows in zip(some, self._rows(some), strict=True)}
            came = self.session.rows_handed(query, self.text, drawn, tables.names, content_of(answer))
            right = right_answer(query, drawn, held)
            yield why_wrong(query, answer, right, came, tables.names, written=0)

    def assert_lies_are_found(self, proxy: Proxy, *, is_honest: bool) -> None:
        """Each answer that the proxy falsifies is wrong, and none is if it falsifies none.

        The first answer may have nothing to falsify."""
        port = proxy.listen((self.spec["host"], int(self.spec["port"])))
        sentences = list(self.wrong_of(self.answers(port=str(port))))
        assert len(sentences) == ASKED
        if is_honest:
            assert proxy.lies == 0 and not any(sentences), sentences
        else:
            assert proxy.lies >= ASKED - 1, proxy.lies
            assert all(sentences[1:]), sentences

    def _rows(self, some: Any) -> Any:
        return rows_of(self.server.program, self.spec, some)


@contextmanager
def loaded_server(target: Target, folder: Path, method: str = "") -> Iterator[Loaded]:
    """Started, with its rows. method: by which it is asked; "": its first."""
    with real_server(target, folder, **FLAGS) as server:
        session = server.start()
        session.create_schema()
        session.create_tables()
        writing = trial_spec(preload_of(server.trial), session.load_spec())
        done = subprocess.run(
            [server.program, "load", "-"], input=spec_text(writing), text=True, capture_output=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        session.settle()
        counted = session.count()
        assert counted is not None and counted.rows == 2000
        trial = server.trial
        asked_by = method or target.facts.methods[0]
        texts = {n: target.facts.rendered(q, trial.work.data, asked_by) for n, q in queries_of(trial.work).items()}
        spec = trial_spec(trial, {**session.load_spec(), **query_lines(texts)})
        spec |= {"requests": str(ASKED), "threads": "1", "duration_s": "60"}
        spec |= {"warmup_s": "0", "check_per_s": "1e9", "check_every": "0"}
        yield Loaded(server=server, session=session, spec=spec, text=texts["range"])


def send_loads_through(proxy: Proxy, session: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Loads of sessions of this class go to the proxy, and all else that a session asks to its server."""
    load_spec = session.load_spec

    def through(own: Session) -> Mapping[str, str]:
        spec = load_spec(own)
        return {**spec, "port": str(proxy.listen((spec["host"], int(spec["port"]))))}

    monkeypatch.setattr(session, "load_spec", through)
