"""Requests that are kept, each in a record; and by them the load generator's own lateness in an open loop, which is
neither the server's time nor a wait for a connection."""

from __future__ import annotations

import struct
from collections import Counter

import pytest

RECORD = struct.Struct("=QQQIIIHH")
MIX = {
    "operations": "write:2,range:1",
    "ask.range.text": "select {device} {at}",
    "rows_present": 100,
    "tables": 20,
    "rows_per_request": 10,
    "threads": 2,
    "duration_s": 0.3,
    "warmup_s": 0.1,
    "null_latency_us": 200,
    "null_answer_rows": 7,
}


def records_of(path) -> list[tuple[int, ...]]:
    return list(RECORD.iter_unpack(path.read_bytes()))


def test_every_request_has_a_record(load, tmp_path):
    done = load(**{**MIX, "trace": tmp_path / "a"})
    found, summary = records_of(tmp_path / "a"), done.summary
    assert len(found) == summary["requests"] == done.one("trace")["kept"]
    assert done.one("trace")["left_out"] == 0
    start, end = summary["window_start_ns"], summary["window_end_ns"]
    for number, operation in enumerate(summary["operations"]):
        own = [record for record in found if record[6] == number]
        assert len(own) == operation["requests"]
        assert sum(start <= record[2] <= end for record in own) == operation["requests_window"]
        assert {record[3] for record in own} == ({10} if operation["name"] == "write" else {7})
    assert all(due == sent < answered for due, sent, answered, *_ in found)
    assert {record[7] for record in found} == {0}
    for worker in (0, 1):
        own = sorted(record[5] for record in found if record[4] == worker)
        assert own == list(range(len(own)))


def test_one_in_so_many_is_kept_until_there_is_no_room(load, tmp_path):
    fixed = {key: value for key, value in MIX.items() if key not in ("duration_s", "warmup_s")}
    done = load(**fixed, requests=400, trace=tmp_path / "a", trace_every=3, trace_max=40)
    found = records_of(tmp_path / "a")
    told = done.one("trace")
    assert Counter(record[4] for record in found) == {0: 20, 1: 20}
    assert sorted(record[5] for record in found if record[4] == 0) == list(range(0, 60, 3))
    assert told["kept"] == 40
    due = sum(-(-worker["requests"] // 3) for worker in done.summary["workers"])
    assert told["left_out"] == due - 40 > 0


def test_in_an_open_loop_the_time_when_it_was_due_is_kept(load, tmp_path):
    load(**{**MIX, "trace": tmp_path / "a", "rate": 100, "threads": 1})
    found = records_of(tmp_path / "a")
    assert len(found) > 1
    gaps = [b[0] - a[0] for a, b in zip(found, found[1:], strict=False)]
    assert gaps == pytest.approx([10_000_000] * len(gaps), abs=1)
    assert all(due <= sent for due, sent, *_ in found)


def test_a_request_that_failed_says_so(load, tmp_path):
    spec = {"tables": 2, "rows_per_request": 10, "requests": 20, "null_fail_every": 5}
    load(6, **spec, trace=tmp_path / "a")
    found = records_of(tmp_path / "a")
    assert Counter(record[7] for record in found) == {0: 16, 1: 4}
    assert {record[3] for record in found if record[7] == 1} == {0}


def test_a_file_that_cannot_be_made_is_refused_before_the_start(run, tmp_path):
    done = run({"driver": "null", **MIX, "trace": tmp_path / "none" / "a"})
    assert done.code == 2
    assert "trace: " in done.stderr and "No such file or directory" in done.stderr
    assert not done.events


def test_lateness_is_that_of_the_trace(load, tmp_path):
    """From the later of due time and last answer to the sending, of requests that were answered in the window."""
    spec = {"rate": 4000, "rows_per_request": 10, "threads": 2, "tables": 2, "null_latency_us": 300}
    done = load(**spec, duration_s=1, drain_s=5, arrival="poisson", trace=tmp_path / "a")
    start, end = done.summary["window_start_ns"], done.summary["window_end_ns"]
    records = sorted(records_of(tmp_path / "a"), key=lambda record: (record[4], record[5]))
    free = dict.fromkeys((0, 1), start)  # without a warm-up both start with the window
    late = []
    for due, sent, answered, _, worker, *_ in records:
        if answered <= end:
            late.append(sent - max(due, free[worker]))
        free[worker] = answered
    told = done.summary["late"]
    assert told["count"] == len(late) == done.summary["service"]["count"]
    assert told["max_us"] == pytest.approx(max(late) / 1e3, rel=0.01)
    assert told["mean_us"] == pytest.approx(sum(late) / len(late) / 1e3, rel=0.02)


def test_waiting_for_a_connection_is_no_lateness(load):
    """Offered ten times what one connection can do: nearly all of the response time is the wait for it."""
    summary = load(rate=10_000, rows_per_request=10, threads=1, null_latency_us=10_000, duration_s=1).summary
    assert summary["response"]["p50_us"] > 100_000
    assert summary["late"]["p50_us"] < summary["response"]["p50_us"] / 5
