"""Operations that ask: their keys, what they draw, and what is counted of their answers."""

from __future__ import annotations

from typing import Any

import pytest
from loadgen_program import float32

START, ROWS, STEP = 1_500_000_000_000, 1000, 10
END = START + ROWS * STEP
GROUPS = {"groupid": (1, 10), "small": (0, 100), "usmall": (0, 200)}
RANGE = {
    "operations": "range",
    "ask.range.text": "select {device} {from} {to}",
    "ask.range.span_ms": 500,
    "rows_present": ROWS,
    "step_ms": STEP,
    "tables": 50,
    "check_every": 1,
    "requests": 400,
}


def asked(outcome) -> dict[tuple[int, int], dict[str, Any]]:
    return {(e["worker"], e["request"]): e for e in outcome.of("asked")}


def drawn(event: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(event["devices"]), event["from_ms"], event["to_ms"], event["value"]


def test_a_load_that_only_reads_counts_requests(load):
    summary = load(**{**RANGE, "null_answer_rows": 7}).summary
    (operation,) = summary["operations"]
    requests = operation["requests_window"]
    assert requests == 400
    assert (operation["name"], operation["unit"]) == ("range", "requests")
    assert operation["units_window"] == requests == summary["requests_window"]
    assert operation["rows_window"] == 7 * requests
    assert operation["values_window"] == 4 * 7 * requests
    assert operation["empty_window"] == 0
    assert summary["rows_acked"] == summary["rows_window"] == 0
    assert summary["requests_per_s"] == pytest.approx(requests / summary["window_s"])
    assert operation["response"]["count"] == requests
    assert operation["response"]["p10_us"] <= operation["response"]["p25_us"] <= operation["response"]["p75_us"]
    (empty,) = load(**{**RANGE, "null_answer_rows": 0}).summary["operations"]
    assert empty["empty_window"] == empty["units_window"] > 0


def test_a_draw_is_a_function_of_seed_worker_and_request(load):
    first = asked(load(**RANGE, threads=2))
    again = asked(load(**RANGE, threads=2, seed=9, read_seed=1))
    other = asked(load(**RANGE, threads=2, read_seed=2))
    renamed = {key.replace("ask.range.", "ask.other."): value for key, value in RANGE.items()} | {"operations": "other"}
    operation = asked(load(**renamed, threads=2))
    for found in (again, other, operation):
        assert len(first.keys() & found.keys()) > 10
    assert all(drawn(first[k]) == drawn(again[k]) for k in first.keys() & again.keys())
    for different in (other, operation):
        assert sum(drawn(first[k]) == drawn(different[k]) for k in first.keys() & different.keys()) < 5
    assert len({drawn(e) for e in first.values()}) > len(first) * 0.9, "requests and workers draw differently"


def test_ranges_and_points_lie_where_the_data_is(load):
    events = asked(load(**RANGE, **{"ask.range.step_ms": 100})).values()
    starts = {e["from_ms"] for e in events}
    assert all(e["to_ms"] == e["from_ms"] + 500 for e in events)
    assert all((start - START) % 100 == 0 for start in starts)
    assert min(starts) >= START and max(starts) + 500 <= END
    assert len(starts) > 10
    recent = {e["from_ms"] for e in asked(load(**RANGE, **{"ask.range.recent_ms": 1000})).values()}
    assert recent <= set(range(END - 1000, END - 500 + 1, STEP)) and len(recent) > 10
    point = {"ask.range.text": "{device} {at}", "ask.range.span_ms": 0, "rows_present": 4}
    points = asked(load(**{**RANGE, **point})).values()
    assert {(e["from_ms"], e["to_ms"]) for e in points} == {(START + n * STEP, None) for n in range(4)}


def test_devices_of_a_request_are_distinct_and_values_are_floats(load):
    lines = {**RANGE, "ask.range.text": "{device},{device},{device}:{value}", "tables": 3}
    events = asked(load(**lines, **{"ask.range.value_low": 5, "ask.range.value_high": 6})).values()
    assert all(sorted(e["devices"]) == [0, 1, 2] for e in events)
    assert len({tuple(e["devices"]) for e in events}) > 2
    assert all(5 <= e["value"] <= 6 for e in events)
    steps = {"ask.range.value_low": -5, "ask.range.value_high": 6, "ask.range.value_step": 3}
    assert {e["value"] for e in asked(load(**lines, **steps)).values()} == {-5, -2, 1, 4}
    assert all(float32(e["value"]) == e["value"] for e in events)


def test_the_driver_gets_the_parameters_of_the_event(load, tmp_path):
    outcome = load(**RANGE, dump=tmp_path / "asks")
    lines = (tmp_path / "asks.0").read_text().splitlines()
    events = [e for _, e in sorted(asked(outcome).items())]
    assert lines == [f"ask,0,d{e['devices'][0]},{e['from_ms']},{e['to_ms']}" for e in events]
    assert len({e["digest"] for e in events}) > len(events) * 0.9


def test_one_in_so_many_answers_is_told_and_the_first(load):
    outcome = load(**{**RANGE, "check_every": 50, "threads": 2, "operations": "range,last:2", "ask.last.text": "x"})
    summary, events = outcome.summary, outcome.of("asked")
    for operation in summary["operations"]:
        mine = [e for e in events if e["operation"] == operation["name"]]
        assert {e["worker"] for e in mine} == {0, 1}, "the first of each worker"
        assert len(mine) == pytest.approx(operation["requests"] / 50, abs=2)
    assert {e["devices"][0] if e["devices"] else None for e in events if e["operation"] == "last"} == {None}
    assert not load(**{**RANGE, "check_every": 0}).of("asked")


def test_requests_are_divided_by_weight(load):
    mix = {**RANGE, "operations": "write:2,range:1,last:1", "ask.last.text": "x", "rows_per_request": 10}
    outcome = load(**{**mix, "check_every": 0, "requests": 4000})
    summary = outcome.summary
    write, *reads = summary["operations"]
    total = summary["requests"]
    assert write["requests"] == pytest.approx(total / 2, rel=0.25)
    assert [r["requests"] for r in reads] == [pytest.approx(total / 4, rel=0.35)] * 2
    assert sum(o["requests_window"] for o in summary["operations"]) == summary["requests_window"]
    assert write["units_window"] == summary["rows_window"] == 10 * write["requests_window"]
    assert sum(o["response"]["count"] for o in summary["operations"]) == summary["response"]["count"]
    intervals = outcome.of("interval")
    told = [sum(i["operations"][name] for i in intervals) for name in ("write", "range", "last")]
    assert told == [o["requests"] for o in summary["operations"]]


def test_writes_of_a_mix_go_on_behind_the_rows_that_are_there(load, tmp_path):
    mix = {**RANGE, "operations": "write,range", "rows_per_request": 10, "tables": 2, "dump": tmp_path / "rows"}
    outcome = load(**mix)
    lines = (tmp_path / "rows.0").read_text().splitlines()
    rows = [tuple(map(int, line.split(",")[:3])) for line in lines if not line.startswith("ask")]
    of_first = [(row, time) for table, row, time in rows if table == 0]
    assert of_first == [(ROWS + i, START + STEP * (ROWS + i)) for i in range(len(of_first))]
    assert of_first
    told = outcome.of("asked")
    assert all(0 <= e["rows_acked_when_asked"] <= e["rows_sent_when_answered"] for e in told)
    assert told[-1]["rows_acked_when_asked"] > 0


def test_an_open_loop_counts_requests_and_what_it_owes_belongs_to_its_operations(load):
    lines = {**RANGE, "requests": 0, "threads": 2, "duration_s": 0.5, "check_every": 0}
    summary = load(**lines, rate=500).summary
    due = summary["requests_window"] + summary["overdue"] + summary["in_flight_at_end"]
    assert due == pytest.approx(250, abs=5)
    assert summary["offered_requests_per_s"] == pytest.approx(500)
    assert summary["offered_rows_per_s"] is None
    more = {"operations": "range:3,last:1", "ask.last.text": "x", "null_latency_us": 20_000, "rate": 400, "threads": 1}
    summary = load(**{**lines, **more}).summary
    assert summary["overdue"] > 100
    counts = [o["response"]["count"] for o in summary["operations"]]
    assert sum(counts) == summary["response"]["count"]
    assert counts[0] == pytest.approx(3 * counts[1], rel=0.4)


def test_failed_queries_are_counted_and_the_code_says_so(load):
    summary = load(code=6, **RANGE, null_fail_every=4).summary
    (operation,) = summary["operations"]
    assert summary["outcome"] == "errors"
    assert operation["failed"] == operation["errors"] == operation["requests"] // 4
    assert summary["rows_failed"] == 0
    assert load(**{**RANGE, "requests": 40}, null_fail_every=4, retries=1).summary["operations"][0]["failed"] == 0
    late = load(code=5, **{**RANGE, "null_latency_us": 10_000_000, "request_timeout_s": 0.05})
    assert late.one("error")["code"] == "deadline"


def test_rows_are_told_as_they_are_sent(run, made):
    spec = {"columns": "a:float,b:double,c:bool,d:binary(9),e:utinyint,f:bigint", "null_ratio": 0.2, "tables": 3}
    spec |= {"step_ms": 2, "disorder_ratio": 10}
    sent = {(row.table, row.at): row.values for row in made(**spec, rows=60, rows_per_request=7)}
    told = run({"driver": "postgres", "rows_of": "1:3:10,2:0:1", **spec}, "rows").of("rows")
    assert [(t["table"], t["first"], len(t["time_ms"])) for t in told] == [(1, 3, 10), (2, 0, 1)]
    for t in told:
        rows = zip(t["time_ms"], *t["columns"].values(), strict=True)
        assert all([float32(first), *values] == sent[t["table"], at] for at, first, *values in rows)


@pytest.mark.parametrize(("driver", "prefix"), [("null", ""), ("lines", "d"), ("points", "d")])
def test_names_are_told_by_drivers_that_have_them(run, driver, prefix):
    told = run({"driver": driver, "tables": 4}, "names").one("names")
    assert told["names"] == [f"{prefix}{n}" for n in range(4)]


def test_the_tags_of_tables_are_those_that_they_are_made_with(run, tmp_path):
    spec = {"driver": "null", "tables": 60, "tags": "groupid:int,small:tinyint,usmall:utinyint,place:binary(20)"}
    told = run(spec, "names").one("names")["tags"]
    assert run(spec | {"dump": tmp_path / "made"}, "tables").code == 0
    lines = [line.split(",") for line in (tmp_path / "made.0").read_text().splitlines()]
    made = {int(table): [value.strip("'") for value in values] for table, *values in lines}
    assert [[told[name][table] for name in told] for table in range(60)] == [made[table] for table in range(60)]
    for tag, (first, last) in GROUPS.items():  # as scale_sweep/experiment/work/aggregates.py expects them
        assert all(first <= int(group) <= last for group in told[tag])
