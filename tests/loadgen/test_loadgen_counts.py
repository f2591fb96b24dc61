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


def test_the_remainder_goes_to_the_first_tables(load, rows_of):
    rows = rows_of(rows=23, tables=5, threads=2)
    assert Counter(row.split(",")[0] for row in rows) == {"0": 5, "1": 5, "2": 5, "3": 4, "4": 4}
    assert load(rows=3, tables=10, threads=4).summary["rows_acked"] == 3


# The null driver puts table t in partition t mod so many; worker w owns the partitions w, w + threads, ...
OWNED = {"tables": 12, "partitions": 4, "threads": 2, "rows_per_request": 1}
SHARED = {"tables": 10, "partitions": 2, "threads": 3, "rows_per_request": 1}


@pytest.mark.parametrize(
    ("spec", "requests", "orders"),
    [
        (OWNED | {"rows": 24}, 24, [[0, 2, 4, 6, 8, 10] * 2, [1, 3, 5, 7, 9, 11] * 2]),
        (SHARED | {"rows": 10}, 10, [[0, 4, 8], [1, 3, 5, 7, 9], [2, 6]]),
        (SHARED | {"rows": 10, "placement": "stock"}, 10, [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        ({"rows": 9, "order": "progressive", "rows_per_request": 2}, 6, [[0, 0, 0, 1, 1, 1, 2, 2, 2]]),
        (
            {"rows": 25, "rows_per_request": 2, "requests_per_table": 2},
            13,
            [[0] * 4 + [1] * 4 + [2] * 4 + [0] * 4 + [1] * 4 + [2] * 4 + [0]],
        ),
        ({"rows": 9, "rows_per_request": 2, "requests_per_table": 5}, 6, [[0, 0, 0, 1, 1, 1, 2, 2, 2]]),
        ({"rows": 16, "tables": 4, "interlace_rows": 2, "rows_per_request": 6}, 3, [[0, 0, 1, 1, 2, 2, 3, 3] * 2]),
    ],
    ids=["owned", "shared", "stock", "progressive", "several requests", "less left", "interlaced"],
)
def test_tables_are_visited_in_the_order_of_the_spec(load, tmp_path, spec, requests, orders):
    """By each worker; of the rows of a request each stands for itself."""
    outcome = load(**{"tables": 3, **spec}, dump=tmp_path / "dump")
    files = [tmp_path / f"dump.{worker}" for worker in range(len(orders))]
    found = [[int(line.split(",")[0]) for line in file.read_text().splitlines()] for file in files]
    assert found == orders
    assert outcome.summary["requests"] == requests


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


LOAD = {"tables": 6, "threads": 2, "rows_per_request": 10, "requests": 200}


def rows_of(summary) -> dict[int, int]:
    return {first + n: rows for first, tables, rows in summary["table_rows"] for n in range(tables)}


def test_rows_go_on_where_each_table_ended(load):
    before = load(**LOAD).summary
    after = load(**LOAD, first_row=",".join(":".join(map(str, run)) for run in before["table_rows"])).summary
    grown = {table: rows - rows_of(before)[table] for table, rows in rows_of(after).items()}
    assert sum(grown.values()) == after["rows_acked"] > 0
    assert sum(rows_of(after).values()) == before["rows_acked"] + after["rows_acked"]
    assert after["newest_row"] >= max(rows_of(after).values()) - 1  # one more request may have been made


@pytest.mark.parametrize(("key", "first"), [("first_row", 1000), ("rows_present", 50)])
def test_one_row_for_all_tables(load, key, first):
    summary = load(**LOAD, **{key: first}).summary
    assert min(rows_of(summary).values()) >= first
    assert sum(rows_of(summary).values()) - 6 * first == summary["rows_acked"]
