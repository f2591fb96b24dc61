"""Answers of a load that a proxy falsifies: the content that the postgres driver hands over shows each falsification,
and no other difference."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lying_postgres import LIES, LyingPostgres
from postgres_server import PostgresServer
from running_load import METERS

from runner.loadgen.protocol import Asked, parse_line
from runner.loadgen.rows import rows_of
from runner.model import Drawn, Operation, Query, Work, Workload
from runner.trial.within import Within
from runner.work.answers import right_answer, stretches

COLUMNS = ("current", "voltage", "phase")
TYPED = ("current:float", "voltage:int", "phase:float")
QUERY = Query(columns=COLUMNS, when="range", span_ms=70)
TEXT = (
    f"SELECT time, {', '.join(COLUMNS)} FROM measurement"
    " WHERE device_id = {device} AND time >= {from} AND time < {to} ORDER BY time"
)
SHAPE = Workload(
    tables=6,
    columns=TYPED,
    tags=("location:varchar(16)",),
    values="walk",
    rows_per_request=100,
    interlace_rows=0,
    start_ms=1_500_000_000_000,
    step_ms=10,
)
WORK = Work(data=SHAPE, operations=(Operation(name="range", unit="requests"),), preload_rows=1200)
DATA = {"tables": 6, "step_ms": 10, "seed": 3, "columns": ",".join(TYPED)}


@pytest.fixture(scope="module")
def loaded(run, postgres) -> PostgresServer:
    postgres.query(f"DROP TABLE IF EXISTS measurement; CREATE TABLE measurement ({METERS})")
    outcome = run({**postgres.spec(), **DATA, "rows": 1200, "rows_per_request": 100})
    assert outcome.code == 0, outcome.stderr
    return postgres


@pytest.fixture(scope="module")
def right(program) -> Callable[[Asked], list[tuple[Any, ...]]]:
    spec = {key: str(value) for key, value in DATA.items()} | {"driver": "null"}
    held = rows_of(str(program), spec, [(table, 0, 200) for table in range(6)])

    def answer(asked: Asked) -> list[tuple[Any, ...]]:
        drawn = Drawn(devices=asked.devices, from_ms=asked.from_ms or 0, to_ms=asked.to_ms or 0)
        ((table, first, count),) = stretches(QUERY, drawn, WORK)
        rows = held[table]
        part = slice(first, first + count)
        cut = {name: values[part] for name, values in rows.columns.items()}
        return list(right_answer(QUERY, drawn, {table: type(rows)(times=rows.times[part], columns=cut)}))

    return answer


def wrong_of(outcome: Any, right: Callable[[Asked], Any]) -> Iterator[str]:
    for event in outcome.of("asked"):
        asked = parse_line(json.dumps(event, separators=(",", ":")))
        assert isinstance(asked, Asked)
        case = Within(query=QUERY, answer=asked, right=right(asked), names=(), written=0, has_writes=False)
        assert case.is_compared
        yield case.wrong()


@pytest.mark.parametrize("lie", [*LIES, "nothing"])
def test_each_falsified_answer_of_the_load_is_found(run, loaded, right, lie):
    with LyingPostgres(LIES.get(lie, lambda answer: answer.rows)) as lying:
        port = lying.listen(f"{loaded.sockets}/.s.PGSQL.{loaded.port}")
        own = {key: value for key, value in loaded.spec().items() if key != "socket_dir"}
        way = {**own, "host": "127.0.0.1", "port": port}
        asks = {"operations": "range", "ask.range.text": TEXT, "ask.range.span_ms": 70, "rows_present": 200}
        outcome = run({**way, **DATA, **asks, "requests": 100, "duration_s": 20, "check_ms": 1, "check_every": 0})
    assert outcome.code == 0, outcome.stderr
    sentences = list(wrong_of(outcome, right))
    assert len(sentences) > 2
    if lie == "nothing":
        assert lying.lies == 0 and not any(sentences)
    else:
        assert lying.lies >= 99 and all(sentences[1:]), sentences[:2]
