"""A load that continues after another one: where each table's rows begin, and which texts say nothing of the kind."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize(
    "text",
    ["x", "-1", "1,2", "0:6", "0:6:1,", "0:5:1", "1:5:1", "0:3:1,4:2:1", "0:7:1", "0:6:x", "0:6:99999999999999999"],
)
def test_what_is_no_first_row_is_refused(load, text):
    assert "first_row" in load(**LOAD, first_row=text, code=2).stderr
    assert "cannot be joined with rows" in load(tables=6, rows=100, first_row=5, code=2).stderr
