"""The verb `sums` says of rows what can be added up from the rows themselves, and a load says which rows it wrote."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

START = 1_500_000_000_000
TYPES = (
    "a:bool,b:tinyint,c:smallint,d:int,e:bigint,f:utinyint,g:usmallint,h:uint,i:ubigint,j:float,k:double,l:binary(20)"
)
LATE = {"disorder": "poisson", "disorder_ratio": 50, "disorder_lambda": 40, "disorder_max_k": 100}


def told(run, verb, asked, **spec):
    """What the verb `rows` or `sums` says of these ranges."""
    outcome = run({"driver": "null", **spec, f"{verb}_of": asked}, verb)
    assert outcome.code == 0, outcome.stderr
    return outcome.of(verb)


def decimal_of(value):
    """The decimal of a float in the drivers' texts: thousandths where they mean the same float, else 9 digits."""
    short = round(value, 3)
    return short if np.float32(short) == np.float32(value) else value


def assert_sums(line, rows):
    """One line is what these rows add up to: whole numbers exactly, fractions to a double's last digits."""
    since = [time - START for time in rows["time_ms"]]
    found = [line[name] for name in ("rows", "first", "last", "times")]
    assert found == [len(since), min(since), max(since), sum(since)]
    for name, values in rows["columns"].items():
        column, there = line["columns"][name], [(v, t) for v, t in zip(values, since, strict=True) if v is not None]
        assert column["values"] == len(there), name
        plain = {"j": decimal_of, "l": lambda text: len(text.encode())}.get(name, lambda value: value)
        numbers = [(plain(v), t) for v, t in there]
        exact = sum(Fraction(v) for v, _ in numbers)
        timed = sum(Fraction(v) * t for v, t in numbers)
        near = 1e-8 if name == "j" else 1e-12  # the verb `rows` prints a float with nine digits
        assert column["timed"] == pytest.approx(float(timed), rel=near), name
        bounds = [1 * min(v for v, _ in numbers), 1 * max(v for v, _ in numbers)]
        assert [column["least"], column["greatest"]] == pytest.approx(bounds, rel=near if name == "j" else 0), name
        if "size" in column:
            assert column["sum"] == pytest.approx(float(exact), rel=near, abs=near * column["size"]), name
        else:
            assert column["sum"] == int(exact), name


@pytest.mark.parametrize("values", ["walk", "random", "line:1,sine:1"])
def test_sums_are_those_of_the_rows(run, values):
    spec = {"tables": 3, "columns": TYPES, "values": values, "null_ratio": 0.1, "sums_decimal": 1}
    both = told(run, "rows", "0:0:5000,2:0:4097", **spec)
    lines = told(run, "sums", "0:0:5000;2:0:4097;0:0:0", **spec)
    for line, rows in zip(lines, both, strict=False):
        assert_sums(line, rows)
    assert lines[2]["rows"] == 0 and {c["values"] for c in lines[2]["columns"].values()} == {0}


def test_a_group_adds_the_tables_up(run):
    spec = {"tables": 4, "disorder_ratio": 10, "precision": "ms"}
    whole, *each = told(run, "sums", "0-2:0:700,3:0:699;0:0:700;1:0:700;2:0:700;3:0:699", **spec)
    for what in ("rows", "times"):
        assert whole[what] == sum(line[what] for line in each)
    for name, column in whole["columns"].items():
        assert column["sum"] == pytest.approx(sum(line["columns"][name]["sum"] for line in each))
    assert (whole["first"], whole["last"]) == (min(e["first"] for e in each), max(e["last"] for e in each))


def test_a_float_is_its_32_bits_or_its_decimal(run):
    spec = {"tables": 1, "columns": "j:float"}
    (rows,) = told(run, "rows", "0:0:900", **spec)
    (stored,), (sent,) = (told(run, "sums", "0:0:900", **spec, sums_decimal=n) for n in (0, 1))
    values = rows["columns"]["j"]
    assert stored["columns"]["j"]["sum"] == pytest.approx(math.fsum(map(float, np.float32(values))), rel=1e-14)
    assert sent["columns"]["j"]["sum"] == pytest.approx(math.fsum(map(decimal_of, values)), rel=1e-14)
    assert stored["columns"]["j"]["sum"] != sent["columns"]["j"]["sum"]


def test_of_rows_with_the_same_time_one_can_count(run):
    (all_,) = told(run, "sums", "0:0:3000", tables=1, **LATE)
    (kept,) = told(run, "sums", "0:0:3000", tables=1, **LATE, sums_distinct=1)
    (rows,) = told(run, "rows", "0:0:3000", tables=1, **LATE)
    assert all_["rows"] == 3000
    assert kept["rows"] == len(set(rows["time_ms"])) < 3000
    assert kept["times"] == sum(set(rows["time_ms"])) - START * kept["rows"]


@pytest.mark.parametrize(
    "flags",
    [
        {"rows": 5003},
        {"duration_s": 0.2, "rows_per_request": 7, "rate": 20000},
        {"rows": 3000, "rows_per_request": 60, "interlace_rows": 7, "partitions": 2},
        {"rows": 900, "placement": "stock"},
        {"rows": 700, "rows_per_request": 50, "rows_present": 30},
    ],
)
def test_a_load_says_which_rows_of_which_tables_it_wrote(run, flags, tmp_path):
    spec = {"driver": "null", "tables": 9, "threads": 2, "rows_per_request": 100, "dump": tmp_path / "rows", **flags}
    outcome = run(spec)
    assert outcome.code == 0, outcome.stderr
    lines = [line.split(",") for file in tmp_path.glob("rows.*") for line in file.read_text().splitlines()]
    present = flags.get("rows_present", 0)
    counts = Counter(int(line[0]) for line in lines)
    told = {first + n: rows for first, tables, rows in outcome.summary["table_rows"] for n in range(tables)}
    assert told == {table: present + counts[table] for table in range(9)}
    assert sum(told.values()) - 9 * present == outcome.summary["rows_acked"]


def test_after_a_failed_request_nobody_knows_which_rows_are_there(run):
    outcome = run({"driver": "null", "tables": 2, "rows": 1000, "rows_per_request": 100, "null_fail_every": 3})
    assert outcome.summary["rows_failed"] and outcome.summary["table_rows"] is None


WRONG = {
    "sums": ("", "1", "0:0", "0:0:-1", "1-0:0:1", "2:0:1", "0-2:0:1", "0:0:1,", "0:0:1;", "x:0:1"),
    "rows": ("", "1:2", "1:2:3:4", "9:0:1", "0:0:0", "0:0:1000001", "a:0:1", "0:0:1,"),
}


@pytest.mark.parametrize(("verb", "value"), [(verb, value) for verb, values in WRONG.items() for value in values])
def test_what_is_no_range_is_refused_with_its_key(run, verb, value):
    outcome = run({"driver": "null", "tables": 2, f"{verb}_of": value}, verb)
    assert (outcome.code, outcome.events) == (2, [])
    assert f"spec: {verb}_of: " in outcome.stderr
