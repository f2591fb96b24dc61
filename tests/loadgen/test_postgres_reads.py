"""Queries of the postgres driver, on a real server: what is asked, read, checked, and what fails."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest
from answer_digest import digest
from loadgen_program import Outcome, float32
from postgres_server import PostgresServer, running_postgres
from running_load import METERS, begun, make_partitions, make_table, signal_all

START, ROWS, STEP, TABLES = 1_500_000_000_000, 200, 10, 6
DATA = {"tables": TABLES, "step_ms": STEP, "partitions": 2, "seed": 3}
READS = {**DATA, "rows_present": ROWS, "check_every": 1, "requests": 60}
COLUMNS = "time, current, voltage, phase"
ASK = {"span_ms", "value_low", "value_high", "empty"}


@pytest.fixture(scope="module")
def loaded(run, postgres) -> PostgresServer:
    """A table of six devices in two partitions with 200 rows each."""
    make_partitions(postgres, 2)
    outcome = run({**postgres.spec(), **DATA, "rows": ROWS * TABLES, "rows_per_request": 100})
    assert outcome.code == 0, outcome.stderr
    return postgres


@pytest.fixture(scope="module")
def rows(run) -> dict[int, list[tuple[Any, ...]]]:
    """By table: (time in ns, current, voltage, phase) of each row."""
    told = run({"driver": "null", **DATA, "rows_of": ",".join(f"{t}:0:{ROWS}" for t in range(TABLES))}, "rows")
    found = {}
    for t in told.of("rows"):
        floats = {c: [float32(v) for v in t["columns"][c]] for c in ("current", "phase")}
        times = [ms * 1_000_000 for ms in t["time_ms"]]
        found[t["table"]] = list(zip(times, floats["current"], t["columns"]["voltage"], floats["phase"], strict=True))
    return found


@pytest.fixture
def ask(run, loaded) -> Callable[..., Outcome]:
    """ask("SELECT 1", span_ms=5, requests=6): a load of the operation `x`; its own keys are those of ASK."""

    def ask(text: str, code: int = 0, **more: object) -> Outcome:
        own = {f"ask.x.{key}": more.pop(key) for key in ASK & more.keys()}
        outcome = run({**loaded.spec(), **READS, "operations": "x", "ask.x.text": text, **own, **more})
        assert outcome.code == code, outcome.stderr
        return outcome

    return ask


def test_a_range_is_answered_with_the_rows_that_were_sent(ask, rows):
    text = f"SELECT {COLUMNS} FROM measurement WHERE device_id = {{device}} AND time >= {{from}} AND time < {{to}} ORDER BY time"
    outcome = ask(text, threads=2, span_ms=70)
    told = outcome.of("asked")
    assert len(told) > 20
    assert {e["worker"] for e in told} <= {0, 1}
    for e in told:
        first = (e["from_ms"] - START) // STEP
        right = rows[e["devices"][0]][first : first + 7]
        assert (e["rows"], e["values"], e["digest"]) == (7, 28, digest(right))
    (operation,) = outcome.summary["operations"]
    assert operation["rows_window"] == 7 * operation["requests_window"]
    assert operation["bytes_window"] == operation["rows_window"] * 20, "binary: 8 + 4 + 4 + 4"
    assert outcome.summary["rows_acked"] == 0


def test_two_devices_a_bound_and_a_point(ask, rows):
    text = (
        f"SELECT {COLUMNS} FROM measurement WHERE device_id IN ({{device}}, {{device}})"
        " AND time = {at} AND current > {value} ORDER BY current"
    )
    outcome = ask(text, value_low=9, value_high=11)
    counts = set()
    for e in outcome.of("asked"):
        at = (e["from_ms"] - START) // STEP
        found = sorted(row for d in e["devices"] if (row := rows[d][at])[1] > e["value"])
        assert e["rows"] == len(found)
        assert e["digest"] == digest(sorted(found, key=lambda row: row[1])) or found[0][1] == found[-1][1]
        counts.add(len(found))
    assert counts == {0, 1, 2}
    (operation,) = outcome.summary["operations"]
    assert operation["empty_window"] > 0


def test_each_type_has_its_digest(ask):
    text = (
        "SELECT true, 1::int2, -2::int4, 3::int8, 1.5::float4, -2.5::float8, NULL::int4, 'a{{b}}'::text,"
        " to_timestamp(1)::timestamp, to_timestamp(1.5) UNION ALL"
        " SELECT false, -1, 2, -3, 0, 0, 7, '', to_timestamp(0)::timestamp, to_timestamp(2)"
    )
    e = ask(text).of("asked")[0]
    first = (True, 1, -2, 3, 1.5, -2.5, None, "a{b}", 1_000_000_000, 1_500_000_000)
    second = (False, -1, 2, -3, 0.0, 0.0, 7, "", 0, 2_000_000_000)
    assert (e["rows"], e["values"], e["digest"]) == (2, 20, digest([first, second]))


def test_large_answers_are_read_to_their_end(ask):
    outcome = ask("SELECT i, i FROM generate_series(1, 30000) i", requests=6)
    right = digest((i, i) for i in range(1, 30_001))
    assert {(e["rows"], e["digest"]) for e in outcome.of("asked")} == {(30_000, right)}


def test_times_in_us_are_those_of_the_rows(ask):
    text = "SELECT {from}::timestamptz, {to}::timestamptz"
    e = ask(text, span_ms=0.5, precision="us", step_ms=0.25).of("asked")[0]
    assert e["digest"] == digest([(round(e["from_ms"] * 1000) * 1000, round(e["to_ms"] * 1000) * 1000)])
    assert e["to_ms"] == e["from_ms"] + 0.5


def test_a_query_that_the_server_refuses_is_told_before_the_load(ask):
    outcome = ask("SELECT nothing FROM measurement", code=4)
    error = outcome.one("error")
    assert error["code"] == "42703"
    assert error["message"].startswith("ask.x.text: ")
    assert not outcome.of("summary")


def test_a_query_that_fails_is_counted_and_the_next_one_is_asked(ask):
    outcome = ask("SELECT 1 / ({device} % 2)", code=6, max_errors=1_000_000)
    (operation,) = outcome.summary["operations"]
    assert operation["failed"] == operation["errors"] > 0
    assert operation["units_acked"] + operation["failed"] == operation["requests"]
    assert operation["units_acked"] > 0
    assert outcome.summary["error_kinds"][0]["code"] == "22012"


def test_a_query_beyond_its_time_fails_and_the_load_goes_on(ask):
    more = {"operations": "x,fast", "ask.fast.text": "SELECT 1", "request_timeout_s": 0.5, "requests": 8}
    outcome = ask("SELECT pg_sleep(30)", code=6, **more)
    slow, fast = outcome.summary["operations"]
    assert slow["failed"] == slow["requests"] >= 2
    assert fast["units_acked"] >= 1
    assert outcome.summary["error_kinds"][0]["code"] == "57014"
    assert outcome.summary["outcome"] == "errors"


def test_writes_of_a_mix_go_on_behind_the_rows(ask, loaded):
    outcome = ask("SELECT count(*) FROM measurement", operations="write:4,x:1", rows_per_request=10, threads=2)
    behind = f"FROM measurement WHERE time >= to_timestamp({START + ROWS * STEP} / 1000.0)"
    counted, ahead = (int(loaded.query(f"SELECT count(*) {of}")[0][0]) for of in ("FROM measurement", behind))
    assert ahead == outcome.summary["rows_acked"] == counted - ROWS * TABLES
    assert all(e["rows_acked_when_asked"] <= e["rows_sent_when_answered"] for e in outcome.of("asked"))
    assert outcome.of("asked")[-1]["rows_acked_when_asked"] > 0
    loaded.query(f"DELETE {behind}")


def test_a_server_that_is_silent_or_dies_while_it_is_asked_is_fatal(program):
    more = {"partitions": 1, "requests": 0, "duration_s": 60, "check_every": 0, "interval_s": 0.2}
    more |= {"operations": "x", "ask.x.text": "SELECT 1"}
    with running_postgres() as server:
        make_table(server, METERS)
        spec = {**server.spec(), **READS, **more}
        with begun(program, {**spec, "request_timeout_s": 1}) as running:
            signal_all(server, signal.SIGSTOP)
            silent = running.end()
            signal_all(server, signal.SIGCONT)
        with begun(program, spec) as running:
            server.stop(signal.SIGQUIT)
            dead = running.end()
    assert (silent.code, silent.summary["error_kinds"][0]["code"]) == (5, "deadline")
    assert (dead.code, dead.summary["outcome"]) == (5, "fatal")
    assert dead.summary["operations"][0]["units_acked"] > 10
    assert dead.of("error")


def test_a_load_that_reads_is_interrupted_after_the_query_in_flight(program, loaded):
    spec = {**loaded.spec(), **READS, "requests": 10_000, "operations": "x", "ask.x.text": "SELECT pg_sleep(0.05)"}
    with begun(program, {**spec, "interval_s": 0.1}, said=r'"requests":[1-9]') as running:
        running.heed(signal.SIGINT)
        outcome = running.end()
    (operation,) = outcome.summary["operations"]
    assert (outcome.code, outcome.summary["outcome"]) == (130, "interrupted")
    assert operation["units_acked"] == operation["requests"] > 0


def test_names_are_the_ids_that_queries_ask_for(run, loaded, rows):
    names = run({**loaded.spec(), **DATA}, "names").one("names")["names"]
    assert len(names) == len(set(names)) == TABLES
    for table, name in enumerate(names):
        found = loaded.query(f"SELECT current FROM measurement WHERE device_id = {name} ORDER BY time LIMIT 1")
        assert float32(float(found[0][0])) == rows[table][0][1]


@pytest.mark.parametrize(
    ("cells", "bound", "empty", "is_empty"),
    [
        ("count(*)", "false", "zero", True),
        ("count(*)", "true", "zero", False),
        ("max(current)", "false", "null", True),
        ("max(current), avg(phase)", "false", "null", True),
        ("max(current), count(*)", "false", "null", False),
        ("0", "true LIMIT 1", "null", False),
        ("count(*)", "false", None, False),
    ],
)
def test_an_aggregate_of_no_rows_is_empty(ask, cells, bound, empty, is_empty):
    text = f"SELECT {cells} FROM measurement WHERE device_id = {{device}} AND {bound}"
    (operation,) = ask(text, check_every=0, **({"empty": empty} if empty else {})).summary["operations"]
    assert operation["units_window"] > 0
    assert operation["empty_window"] == (operation["units_window"] if is_empty else 0)
