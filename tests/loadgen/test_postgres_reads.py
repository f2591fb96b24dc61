"""Queries of the postgres driver, on a real server: what is asked, read, checked, and what fails."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from typing import Any

import pytest
from answer_digest import digest, float32
from postgres_server import PostgresServer, running_postgres
from running_load import METERS, begun, make_table, signal_all

START, ROWS, STEP, TABLES = 1_500_000_000_000, 200, 10, 6
DATA = {"tables": TABLES, "step_ms": STEP, "partitions": 2, "seed": 3}
READS = {**DATA, "rows_present": ROWS, "check_every": 1, "requests": 60}
COLUMNS = "time, current, voltage, phase"


@pytest.fixture(scope="module")
def loaded(run, postgres) -> PostgresServer:
    """A table of six devices in two partitions with 200 rows each."""
    postgres.query("DROP TABLE IF EXISTS measurement")
    postgres.query(f"CREATE TABLE measurement ({METERS}) PARTITION BY HASH (device_id)")
    for p in range(2):
        postgres.query(
            f"CREATE TABLE measurement_p{p} PARTITION OF measurement FOR VALUES WITH (MODULUS 2, REMAINDER {p})"
        )
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


def ask(run, server: PostgresServer, *, code: int = 0, **lines: Any):
    keys = {f"ask.{name}.{part}" if part else name: value for (name, part), value in _keys(lines)}
    outcome = run({**server.spec(), **READS, **keys})
    assert outcome.code == code, outcome.stderr
    return outcome


def _keys(lines: dict[str, Any]) -> Iterable[tuple[tuple[str, str], Any]]:
    for key, value in lines.items():
        name, _, part = key.partition("__")
        yield (name, part), value


def test_a_range_is_answered_with_the_rows_that_were_sent(run, loaded, rows):
    text = f"SELECT {COLUMNS} FROM measurement WHERE device_id = {{device}} AND time >= {{from}} AND time < {{to}} ORDER BY time"
    outcome = ask(run, loaded, operations="range", threads=2, range__text=text, range__span_ms=70)
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


def test_two_devices_a_bound_and_a_point(run, loaded, rows):
    text = (
        f"SELECT {COLUMNS} FROM measurement WHERE device_id IN ({{device}}, {{device}})"
        " AND time = {at} AND current > {value} ORDER BY current"
    )
    outcome = ask(run, loaded, operations="point", point__text=text, point__value_low=9, point__value_high=11)
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


def test_each_type_has_its_digest(run, loaded):
    text = (
        "SELECT true, 1::int2, -2::int4, 3::int8, 1.5::float4, -2.5::float8, NULL::int4, 'a{{b}}'::text,"
        " to_timestamp(1)::timestamp, to_timestamp(1.5) UNION ALL"
        " SELECT false, -1, 2, -3, 0, 0, 7, '', to_timestamp(0)::timestamp, to_timestamp(2)"
    )
    e = ask(run, loaded, operations="x", x__text=text).of("asked")[0]
    first = (True, 1, -2, 3, 1.5, -2.5, None, "a{b}", 1_000_000_000, 1_500_000_000)
    second = (False, -1, 2, -3, 0.0, 0.0, 7, "", 0, 2_000_000_000)
    assert (e["rows"], e["values"], e["digest"]) == (2, 20, digest([first, second]))


def test_large_answers_are_read_to_their_end(run, loaded):
    text = "SELECT i, i FROM generate_series(1, 30000) i"
    outcome = ask(run, loaded, operations="large", large__text=text, requests=6)
    right = digest((i, i) for i in range(1, 30_001))
    assert {(e["rows"], e["digest"]) for e in outcome.of("asked")} == {(30_000, right)}


def test_times_in_us_are_those_of_the_rows(run, loaded):
    text = "SELECT {from}::timestamptz, {to}::timestamptz"
    e = ask(run, loaded, operations="x", x__text=text, x__span_ms=0.5, precision="us", step_ms=0.25).of("asked")[0]
    assert e["digest"] == digest([(round(e["from_ms"] * 1000) * 1000, round(e["to_ms"] * 1000) * 1000)])
    assert e["to_ms"] == e["from_ms"] + 0.5


def test_a_query_that_the_server_refuses_is_told_before_the_load(run, loaded):
    outcome = ask(run, loaded, code=4, operations="bad", bad__text="SELECT nothing FROM measurement")
    error = outcome.one("error")
    assert error["code"] == "42703"
    assert error["message"].startswith("ask.bad.text: ")
    assert not outcome.of("summary")


def test_a_query_that_fails_is_counted_and_the_next_one_is_asked(run, loaded):
    outcome = ask(run, loaded, code=6, operations="half", half__text="SELECT 1 / ({device} % 2)", max_errors=1_000_000)
    (operation,) = outcome.summary["operations"]
    assert operation["failed"] == operation["errors"] > 0
    assert operation["units_acked"] + operation["failed"] == operation["requests"]
    assert operation["units_acked"] > 0
    assert outcome.summary["error_kinds"][0]["code"] == "22012"


def test_a_query_beyond_its_time_fails_and_the_load_goes_on(run, loaded):
    outcome = ask(
        run,
        loaded,
        code=6,
        operations="slow,fast",
        slow__text="SELECT pg_sleep(30)",
        fast__text="SELECT 1",
        request_timeout_s=0.5,
        requests=8,
    )
    slow, fast = outcome.summary["operations"]
    assert slow["failed"] == slow["requests"] >= 2
    assert fast["units_acked"] >= 1
    assert outcome.summary["error_kinds"][0]["code"] == "57014"
    assert outcome.summary["outcome"] == "errors"


def test_writes_of_a_mix_go_on_behind_the_rows(run, loaded):
    text = "SELECT count(*) FROM measurement"
    outcome = ask(run, loaded, operations="write:4,count:1", count__text=text, rows_per_request=10, threads=2)
    counted = int(loaded.query("SELECT count(*) FROM measurement")[0][0])
    ahead = int(
        loaded.query(f"SELECT count(*) FROM measurement WHERE time >= to_timestamp({START + ROWS * STEP} / 1000.0)")[0][
            0
        ]
    )
    assert ahead == outcome.summary["rows_acked"] == counted - ROWS * TABLES
    assert all(e["rows_acked_when_asked"] <= e["rows_sent_when_answered"] for e in outcome.of("asked"))
    assert outcome.of("asked")[-1]["rows_acked_when_asked"] > 0
    loaded.query(f"DELETE FROM measurement WHERE time >= to_timestamp({START + ROWS * STEP} / 1000.0)")


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
def test_an_aggregate_of_no_rows_is_empty(run, loaded, cells, bound, empty, is_empty):
    text = f"SELECT {cells} FROM measurement WHERE device_id = {{device}} AND {bound}"
    more = {"a__empty": empty} if empty else {}
    (operation,) = ask(run, loaded, operations="a", a__text=text, check_every=0, **more).summary["operations"]
    assert operation["units_window"] > 0
    assert operation["empty_window"] == (operation["units_window"] if is_empty else 0)
