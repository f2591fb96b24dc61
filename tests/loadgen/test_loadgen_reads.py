"""Operations that ask: their keys, what they draw, and what is counted of their answers."""

from __future__ import annotations

import struct
from typing import Any

import pytest

START, ROWS, STEP = 1_500_000_000_000, 1000, 10
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


def test_an_empty_answer_is_counted(load):
    (operation,) = load(**{**RANGE, "null_answer_rows": 0}).summary["operations"]
    assert operation["empty_window"] == operation["units_window"] > 0


def test_a_draw_is_a_function_of_seed_worker_and_request(load):
    first = asked(load(**RANGE, threads=2))
    again = asked(load(**RANGE, threads=2, seed=9, read_seed=1))
    other = asked(load(**RANGE, threads=2, read_seed=2))
    for found in (again, other):
        assert len(first.keys() & found.keys()) > 10
    assert all(drawn(first[k]) == drawn(again[k]) for k in first.keys() & again.keys())
    assert sum(drawn(first[k]) == drawn(other[k]) for k in first.keys() & other.keys()) < 5
    assert len({drawn(e) for e in first.values()}) > len(first) * 0.9, "requests and workers draw differently"


def test_two_operations_draw_differently_with_the_same_seed(load):
    other = {key.replace("ask.range.", "ask.other."): value for key, value in RANGE.items()} | {"operations": "other"}
    one, two = asked(load(**RANGE)), asked(load(**other))
    both = one.keys() & two.keys()
    assert len(both) > 10
    assert sum(drawn(one[k]) == drawn(two[k]) for k in both) < 5


def test_ranges_lie_in_the_data_on_the_step(load):
    events = asked(load(**RANGE, **{"ask.range.step_ms": 100})).values()
    starts = {e["from_ms"] for e in events}
    assert all(e["to_ms"] == e["from_ms"] + 500 for e in events)
    assert all((start - START) % 100 == 0 for start in starts)
    assert min(starts) >= START and max(starts) + 500 <= START + ROWS * STEP
    assert len(starts) > 10


def test_recent_ranges_lie_in_the_newest_data(load):
    events = asked(load(**RANGE, **{"ask.range.recent_ms": 1000})).values()
    starts = {e["from_ms"] for e in events}
    end = START + ROWS * STEP
    assert starts <= set(range(end - 1000, end - 500 + 1, STEP))
    assert len(starts) > 10


def test_a_point_lies_on_a_row(load):
    lines = {**RANGE, "ask.range.text": "{device} {at}", "ask.range.span_ms": 0, "rows_present": 4}
    events = asked(load(**lines)).values()
    assert {e["from_ms"] for e in events} == {START, START + STEP, START + 2 * STEP, START + 3 * STEP}
    assert {e["to_ms"] for e in events} == {None}


def test_devices_of_a_request_are_distinct_and_values_are_floats(load):
    lines = {**RANGE, "ask.range.text": "{device},{device},{device}:{value}", "tables": 3}
    events = asked(load(**lines, **{"ask.range.value_low": 5, "ask.range.value_high": 6})).values()
    assert all(sorted(e["devices"]) == [0, 1, 2] for e in events)
    assert len({tuple(e["devices"]) for e in events}) > 2
    assert all(5 <= e["value"] <= 6 for e in events)
    steps = {"ask.range.value_low": -5, "ask.range.value_high": 6, "ask.range.value_step": 3}
    assert {e["value"] for e in asked(load(**lines, **steps)).values()} == {-5, -2, 1, 4}
    assert all(struct.unpack("f", struct.pack("f", e["value"]))[0] == e["value"] for e in events)


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


def test_an_open_loop_counts_requests(load):
    lines = {**RANGE, "requests": 0, "rate": 500, "threads": 2, "duration_s": 0.5, "check_every": 0}
    summary = load(**lines).summary
    due = summary["requests_window"] + summary["overdue"] + summary["in_flight_at_end"]
    assert due == pytest.approx(250, abs=5)
    assert summary["offered_requests_per_s"] == pytest.approx(500)
    assert summary["offered_rows_per_s"] is None


def test_what_an_open_loop_owes_belongs_to_its_operations(load):
    lines = {**RANGE, "operations": "range:3,last:1", "ask.last.text": "x", "check_every": 0}
    summary = load(**{**lines, "null_latency_us": 20_000, "rate": 400, "duration_s": 0.5}).summary
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


def test_a_query_beyond_its_time_is_fatal_for_the_null_driver(load):
    outcome = load(code=5, **{**RANGE, "null_latency_us": 10_000_000, "request_timeout_s": 0.05})
    assert outcome.one("error")["code"] == "deadline"


def test_rows_are_told_as_they_are_sent(run, rows_of):
    columns = "a:float,b:double,c:bool,d:binary(9),e:utinyint,f:bigint"
    spec = {"columns": columns, "null_ratio": 0.2, "tables": 3, "step_ms": 2, "disorder_ratio": 10}
    sent = rows_of(**spec, rows=60, rows_per_request=7)
    told = run({"driver": "postgres", "rows_of": "1:3:10,2:0:1", **spec}, "rows").of("rows")
    assert [(t["table"], t["first"], len(t["time_ms"])) for t in told] == [(1, 3, 10), (2, 0, 1)]
    names = columns.replace(":", ",").split(",")[::2]

    def text(name: str, value: Any) -> str:
        if value is None:
            return "NULL"
        if name == "a":
            return f"{struct.unpack('f', struct.pack('f', value))[0]:.9g}"
        return f"{value:.17g}" if name == "b" else str(int(value)) if name == "c" else str(value)

    for t in told:
        for i, time_ms in enumerate(t["time_ms"]):
            values = [text(name, t["columns"][name][i]) for name in names]
            assert ",".join([str(t["table"]), str(t["first"] + i), str(time_ms), *values]) in sent


@pytest.mark.parametrize("value", ["", "1:2", "1:2:3:4", "9:0:1", "0:0:0", "0:0:1000001", "a:0:1", "0:0:1,"])
def test_rows_refuses_what_is_no_range(run, value):
    outcome = run({"driver": "null", "tables": 3, "rows_of": value}, "rows")
    assert outcome.code == 2
    assert outcome.events == []
    assert "spec: rows_of: " in outcome.stderr


def test_names_are_told_by_drivers_that_have_them(run):
    told = run({"driver": "null", "tables": 4}, "names").one("names")
    assert told["names"] == ["0", "1", "2", "3"]
    assert run({"driver": "lines", "tables": 2}, "names").one("names")["names"] == ["d0", "d1"]
    assert run({"driver": "points", "tables": 2}, "names").one("names")["names"] == ["d0", "d1"]


def test_the_tags_of_tables_are_those_that_they_are_made_with(run, tmp_path):
    spec = {"driver": "null", "tables": 60, "tags": "groupid:int,small:tinyint,usmall:utinyint,place:binary(20)"}
    told = run(spec, "names").one("names")["tags"]
    assert run(spec | {"dump": tmp_path / "made"}, "tables").code == 0
    lines = [line.split(",") for line in (tmp_path / "made.0").read_text().splitlines()]
    made = {int(table): [value.strip("'") for value in values] for table, *values in lines}
    assert [[told[name][table] for name in told] for table in range(60)] == [made[table] for table in range(60)]
    for tag, (first, last) in GROUPS.items():  # as scale_sweep/experiment/work/groups.py expects them
        assert all(first <= int(group) <= last for group in told[tag])
