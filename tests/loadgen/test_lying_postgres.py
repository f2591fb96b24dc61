"""Answers of a load that a proxy falsifies: the content that the postgres driver hands over shows each falsification,
and no other difference."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from lying_postgres import LIES, LyingPostgres
from postgres_server import PostgresServer
from running_load import METERS

from scale_sweep.experiment.work.answers import right_answer, stretches
from scale_sweep.experiment.work.columns import Right, TableRows
from scale_sweep.loadgen.kept_files import content_of
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.protocol import ReportedAnswer, parse_line
from scale_sweep.loadgen.verbs import rows_of
from scale_sweep.measure.trial.answers_within import why_wrong
from scale_sweep.model.declared import Operation, Work
from scale_sweep.model.questions import Drawn, Query
from scale_sweep.server.targets.records import in_ms
from tests.unit.factories import make_trial

COLUMNS = ("current", "voltage", "phase")
TYPED = ("current:float", "voltage:int", "phase:float")
QUERY = Query(columns=COLUMNS, when="range", span_ms=70)
TEXT = (
    f"SELECT time, {', '.join(COLUMNS)} FROM measurement"
    " WHERE device_id = {device} AND time >= {from} AND time < {to} ORDER BY time"
)
SHAPE = replace(make_trial().work.data, tables=6, columns=TYPED, start_ms=1_500_000_000_000, step_ms=10)
ASKED = 20
WORK = Work(data=SHAPE, operations=(Operation(name="range", unit="requests"),), preload_rows=1200)
DATA = {"tables": 6, "step_ms": 10, "seed": 3, "columns": ",".join(TYPED)}


@pytest.fixture(scope="module")
def loaded(run, postgres) -> PostgresServer:
    postgres.query(f"DROP TABLE IF EXISTS measurement; CREATE TABLE measurement ({METERS})")
    outcome = run({**postgres.spec(), **DATA, "rows": 1200, "rows_per_request": 100})
    assert outcome.code == 0, outcome.stderr
    return postgres


@pytest.fixture(scope="module")
def right(program) -> Callable[[ReportedAnswer], Right]:
    spec = {key: str(value) for key, value in DATA.items()} | {"driver": "null"}
    held = rows_of(str(program), spec, [(table, 0, 200) for table in range(6)])

    def answer(asked: ReportedAnswer) -> Right:
        drawn = Drawn(devices=asked.devices, from_ms=asked.from_ms or 0, to_ms=asked.to_ms or 0)
        ((table, first, count),) = stretches(QUERY, drawn, WORK)
        rows = held[table]
        part = slice(first, first + count)
        cut = {name: values[part] for name, values in rows.columns.items()}
        return right_answer(QUERY, drawn, {table: TableRows(times=rows.times[part], columns=cut)})

    return answer


def wrong_of(outcome: Any, right: Callable[[ReportedAnswer], Any]) -> Iterator[str]:
    for event in outcome.of("asked"):
        asked = parse_line(json.dumps(event, separators=(",", ":")))
        assert isinstance(asked, ReportedAnswer)
        came = in_ms(QUERY, content_of(asked))
        yield why_wrong(QUERY, asked, right(asked), came, (), written=0)


@pytest.mark.parametrize("lie", [*LIES, "nothing"])
def test_each_falsified_answer_of_the_load_is_found(run, loaded, right, lie):
    with LyingPostgres(LIES.get(lie, lambda answer: answer.rows)) as lying:
        port = lying.listen(f"{loaded.sockets}/.s.PGSQL.{loaded.port}")
        own = {key: value for key, value in loaded.spec().items() if key != "socket_dir"}
        asks = {"operations": "range", "ask.range.text": TEXT, "ask.range.span_ms": 70, "rows_present": 200}
        asks |= {"requests": ASKED, "duration_s": 60, "check_per_s": 1e9, "check_every": 0}
        outcome = run({**own, "host": "127.0.0.1", "port": port, **DATA, **asks})
    assert outcome.code == 0, outcome.stderr
    sentences = list(wrong_of(outcome, right))
    assert len(sentences) == ASKED
    if lie == "nothing":
        assert lying.lies == 0 and not any(sentences)
    else:
        assert lying.lies >= ASKED - 1 and all(sentences[1:]), sentences[:2]


def test_an_answer_beyond_4_mb_is_handed_over_whole(program, loaded):
    text = "SELECT g, g * 1.5::float8, 'a text' FROM generate_series(1, 300000) g"
    spec = {"protocol": "1", **loaded.spec(), **DATA, "operations": "own", "ask.own.text": text, "check_every": 0}
    told = {key: str(value) for key, value in {**spec, "requests": 1, "check_per_s": 1}.items()}
    with LoadProcesses(str(program), [told], (0,), "") as load:
        list(load.lines(60))
    (answer,) = load.answers
    assert content_of(answer) == [(g, g * 1.5, "a text") for g in range(1, 300_001)]
