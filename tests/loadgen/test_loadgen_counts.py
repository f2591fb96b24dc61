"""Rows count when they were acknowledged: exact for fixed work, whatever goes wrong."""

from __future__ import annotations

from collections import Counter

import pytest


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"threads": 3},
        {"threads": 3, "partitions": 5, "rows_per_request": 7},
        {"rows_per_request": 100, "interlace_rows": 9, "threads": 2},
        {"order": "progressive", "threads": 4},
        {"placement": "stock", "threads": 3, "partitions": 4},
        {"rate": 400_000, "rows_per_request": 500, "threads": 2},
    ],
)
def test_fixed_rows_are_exact(load, how):
    outcome = load(rows=100_003, tables=11, **how)
    summary = outcome.summary
    assert summary["outcome"] == "ok"
    assert summary["rows_acked"] == summary["rows_window"] == 100_003
    assert sum(w["rows"] for w in summary["workers"]) == 100_003
    assert sum(p["rows_acked"] for p in summary["partitions"]) == 100_003
    assert sum(i["rows"] for i in outcome.of("interval")) == 100_003
    assert outcome.of("interval")[-1]["rows_total"] == 100_003
    assert summary["response"]["count"] == summary["requests"]
    assert summary["rows_failed"] == summary["errors"] == 0


def test_the_remainder_goes_to_the_first_tables(rows_of):
    rows = rows_of(rows=23, tables=5, threads=2)
    assert Counter(row.split(",")[0] for row in rows) == {"0": 5, "1": 5, "2": 5, "3": 4, "4": 4}


def test_fewer_rows_than_tables(load):
    assert load(rows=3, tables=10, threads=4).summary["rows_acked"] == 3


def tables_by_worker(tmp_path, threads: int) -> list[list[int]]:
    """The tables in the order of each worker's requests."""
    files = (tmp_path / f"dump.{worker}" for worker in range(threads))
    return [[int(x.split(",")[0]) for x in file.read_text().splitlines()] for file in files]


def test_owned_workers_visit_their_partitions_in_turn(load, tmp_path):
    load(rows=24, tables=12, partitions=4, threads=2, rows_per_request=1, dump=tmp_path / "dump")
    first, second = tables_by_worker(tmp_path, 2)
    # the null driver puts table t in partition t mod 4; worker w owns partitions w, w + 2
    assert first[:6] == [0, 2, 4, 6, 8, 10]
    assert second[:6] == [1, 3, 5, 7, 9, 11]
    assert first[6:] == first[:6]


def test_more_workers_than_partitions_share_tables_round_robin(load, tmp_path):
    load(rows=10, tables=10, partitions=2, threads=3, rows_per_request=1, dump=tmp_path / "dump")
    assert [sorted(t) for t in tables_by_worker(tmp_path, 3)] == [[0, 4, 8], [1, 3, 5, 7, 9], [2, 6]]


def test_stock_workers_have_contiguous_ranges(load, tmp_path):
    load(rows=10, tables=10, partitions=2, threads=3, placement="stock", rows_per_request=1, dump=tmp_path / "dump")
    assert tables_by_worker(tmp_path, 3) == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_progressive_fills_one_table_after_another(load, tmp_path):
    load(rows=9, tables=3, order="progressive", rows_per_request=2, dump=tmp_path / "dump")
    assert tables_by_worker(tmp_path, 1) == [[0, 0, 0, 1, 1, 1, 2, 2, 2]]


def test_a_table_gets_several_requests_before_the_next_one(load, tmp_path):
    outcome = load(rows=25, tables=3, rows_per_request=2, requests_per_table=2, dump=tmp_path / "dump")
    (order,) = tables_by_worker(tmp_path, 1)
    assert order == [0] * 4 + [1] * 4 + [2] * 4 + [0] * 4 + [1] * 4 + [2] * 4 + [0]
    assert outcome.summary["requests"] == 13


def test_a_table_with_less_left_gives_way_to_the_next_one(load, tmp_path):
    load(rows=9, tables=3, rows_per_request=2, requests_per_table=5, dump=tmp_path / "dump")
    assert tables_by_worker(tmp_path, 1) == [[0, 0, 0, 1, 1, 1, 2, 2, 2]]


def test_interlace_carries_rows_of_several_tables(load, tmp_path):
    outcome = load(rows=16, tables=4, interlace_rows=2, rows_per_request=6, dump=tmp_path / "dump")
    assert tables_by_worker(tmp_path, 1) == [[0, 0, 1, 1, 2, 2, 3, 3] * 2]
    assert outcome.summary["requests"] == 3


def test_hello_tells_the_even_spread(load):
    hello = load(rows=10, tables=10, partitions=4, threads=2).one("hello")
    assert hello["tables_per_partition"] == [3, 3, 2, 2]
    assert hello["protocol"] == 1
    assert hello["row_bytes"] == 8 + 4 + 4 + 4


def test_the_one_operation_has_the_numbers_and_times_of_the_whole(load):
    outcome = load(code=6, rows=10_000, rows_per_request=100, null_fail_every=4, operations="write:3")
    summary = outcome.summary
    (write,) = summary["operations"]
    assert (write["name"], write["unit"], write["weight"]) == ("write", "rows", 3)
    assert {name: write[name] for name in ("requests", "errors", "retries")} == {
        name: summary[name] for name in ("requests", "errors", "retries")
    }
    assert (write["units_acked"], write["units_window"]) == (7500, 7500)
    assert (write["response"], write["service"]) == (summary["response"], summary["service"])
    assert outcome.one("hello")["features"] == ["deadline", "separable"]


def test_failed_requests_are_not_acknowledged(load):
    outcome = load(code=6, rows=10_000, rows_per_request=100, null_fail_every=4)
    summary = outcome.summary
    assert summary["outcome"] == "errors"
    assert (summary["rows_acked"], summary["rows_failed"], summary["errors"]) == (7500, 2500, 25)
    first, last = outcome.of("error")  # 25 of a kind: told when it came, and when all had come
    assert (first["code"], first["worker"], first["count"]) == ("NULL_FAIL", 0, 1)
    assert (last["code"], last["worker"], last["count"]) == ("NULL_FAIL", None, 25)
    assert summary["error_kinds"][0]["count"] == 25
    assert summary["response"]["count"] == 75


def test_retries_save_the_rows(load):
    summary = load(rows=2000, rows_per_request=100, null_fail_every=4, retries=2).summary
    assert summary["outcome"] == "ok"
    assert (summary["rows_acked"], summary["rows_failed"]) == (2000, 0)
    assert summary["errors"] == summary["retries"] > 0
    assert summary["requests"] == 20


def test_a_worker_stops_after_max_errors(load):
    summary = load(code=6, duration_s=20, null_fail_every=1, max_errors=5).summary
    assert (summary["outcome"], summary["errors"], summary["rows_acked"]) == ("errors", 5, 0)
    assert summary["last_ack_ns"] is None
    assert summary["response"]["p50_us"] is None


def test_a_fatal_fault_stops_all_and_still_sums_up(load):
    outcome = load(code=5, duration_s=20, threads=2, tables=2, null_fatal_after=10, null_latency_us=1000)
    assert outcome.summary["outcome"] == "fatal"
    assert 0 < outcome.summary["rows_acked"] <= 200_000
    assert outcome.of("error")[0]["code"] == "NULL_FATAL"
