"""Rows are a pure function of (seed, table, row), and look like measurements."""

from __future__ import annotations

import statistics

import pytest

ALL_TYPES = (
    "a:bool,b:tinyint,c:smallint,d:int,e:bigint,f:utinyint,g:usmallint,h:uint,i:ubigint,"
    "j:float,k:double,l:timestamp,m:binary(20),n:nchar(15),o:varbinary(9),p:geometry(32)"
)
START = 1_500_000_000_000


def columns(rows: list[str]) -> list[list[str]]:
    return [list(c) for c in zip(*(row.split(",") for row in rows), strict=True)]


@pytest.mark.parametrize("values", ["walk", "random", "constant"])
def test_rows_do_not_depend_on_how_they_are_sent(rows_of, values):
    same = {"rows": 20_011, "tables": 7, "values": values, "columns": ALL_TYPES, "null_ratio": 0.1}
    same |= {"disorder_ratio": 10}
    reference = rows_of(**same)
    assert len(reference) == 20_011
    assert rows_of(**same, threads=3, rows_per_request=100) == reference
    assert rows_of(**same, threads=2, rows_per_request=999, placement="stock") == reference
    assert rows_of(**same, threads=2, partitions=3, rows_per_request=60, interlace_rows=7) == reference
    assert rows_of(**same, order="progressive", rows_per_request=1) == reference


def test_rows_do_not_depend_on_the_split_into_processes(rows_of):
    same = {"rows": 5003, "tables": 9, "partitions": 3, "workers_total": 5}
    reference = rows_of(rows=5003, tables=9)
    parts = [rows_of(**same, first_worker=first, threads=n) for first, n in ((0, 2), (2, 1), (3, 2))]
    assert sorted(row for part in parts for row in part) == reference
    assert all(parts)


@pytest.mark.parametrize("values", ["walk", "random"])
@pytest.mark.parametrize("text", ["vocabulary", "random"])
def test_rows_do_not_depend_on_the_instruction_set(rows_of, values, text):
    same = {"rows": 3001, "tables": 3, "values": values, "text": text, "columns": ALL_TYPES}
    plain, avx2, best = (rows_of(env={"SCALE_KERNELS": name}, **same) for name in ("plain", "avx2", "avx512"))
    assert plain == avx2 == best


def test_another_seed_makes_other_rows(rows_of):
    first, second = (columns(rows_of(rows=1000, seed=seed)) for seed in (1, 2))
    assert first[:3] == second[:3]
    assert first[3] != second[3]


@pytest.mark.parametrize("values", ["walk", "random"])
def test_tables_and_columns_differ(made, values):
    rows = made(rows=2000, tables=2, values=values, columns="a:double,b:double")
    series = {tuple(row.values[c] for row in rows if row.table == table) for table in (0, 1) for c in (0, 1)}
    assert len(series) == 4
    assert all(len(set(one)) > 500 for one in series)


def test_meters_have_their_ranges(made):
    rows = made(rows=200_000, rows_per_request=5000, columns="current:float,voltage:int,phase:float")
    for column, (low, high) in enumerate(((8, 12), (110, 240), (0, 1))):
        numbers = [row.values[column] for row in rows]
        assert low <= min(numbers) and max(numbers) <= high
        assert max(numbers) - min(numbers) > (high - low) * 0.4


def test_a_walk_walks_and_random_fills_the_range_evenly(made):
    series = [row.values[0] for row in made(rows=20_000, columns="a:double")]
    steps = [abs(a - b) for a, b in zip(series, series[1:], strict=False)]
    assert statistics.median(steps) < 0.05 * statistics.pstdev(series) * 4
    assert max(steps) < 0.1 * (max(series) - min(series))
    series = [row.values[0] for row in made(rows=20_000, values="random", columns="a:double")]
    assert statistics.mean(series) == pytest.approx(500, rel=0.02)
    assert statistics.pstdev(series) == pytest.approx(1000 / 12**0.5, rel=0.02)
    assert len(set(series)) == len(series)


def test_timestamps_step_from_the_start(rows_of):
    assert [r.split(",")[2] for r in rows_of(rows=3)] == [str(START + i) for i in range(3)]
    us = rows_of(rows=3, precision="us", step_ms=0.25, start_ms=7)
    assert [r.split(",")[2] for r in us] == ["7000", "7250", "7500"]


def test_disorder_moves_that_share_of_rows_within_the_range(rows_of):
    rows = [r.split(",") for r in rows_of(rows=50_000, disorder_ratio=10, disorder_range_ms=100)]
    shifts = [int(r[2]) - START - int(r[1]) for r in rows]
    late = sum(shift < 0 for shift in shifts) / len(rows)
    assert late == pytest.approx(0.10, abs=0.01)
    assert max(map(abs, shifts)) <= 100
    assert len({r[2] for r in rows}) == len(rows)


def test_null_ratio_is_met_and_never_the_time(rows_of):
    _, _, times, *rest = columns(rows_of(rows=20_000, null_ratio=0.25))
    assert "NULL" not in times
    for column in rest:
        assert column.count("NULL") / len(column) == pytest.approx(0.25, abs=0.02)


def test_partial_columns_leave_the_others_out(rows_of):
    whole = [r.split(",") for r in rows_of(rows=100, columns="a:int,b:int,c:int,d:int")]
    part = rows_of(rows=100, columns="a:int,b:int,c:int,d:int", partial_from=1, partial_columns=2)
    assert part == [",".join(r[:3] + r[4:6]) for r in whole]


def test_random_text_is_plain_and_full_vocabulary_is_words(rows_of):
    spec = {"rows": 500, "columns": "a:binary(40),b:varbinary(10)"}
    random_text = columns(rows_of(text="random", **spec))[3]
    assert all(len(t) == 40 and not set(t) & set("\\'\"` ,") for t in random_text)
    assert len(set(random_text)) == 500
    words = columns(rows_of(text="vocabulary", **spec))[3]
    assert all(0 < len(t) <= 40 and t.replace(" ", "").isalpha() for t in words)
    assert len({w for t in words for w in t.split()}) <= 32
