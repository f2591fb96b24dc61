"""Laws of values and rows out of order: what the load generator makes, beside the same computed here."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from loadgen_program import Outcome

from scale_sweep.experiment.setting.workload_readers import LAWS
from scale_sweep.experiment.work import drawn
from scale_sweep.experiment.work.drawn import bounds_of, law_of
from tests.unit.factories import make_sweep, make_trial

MASK = 2**64 - 1
ONE = 2**30
SINE = (1686629713, 693598668, 85569306, 5026995, 168468)
COLUMNS = "a:double,b:int,c:float,d:bool,e:bigint"


def mixed(x: int) -> int:
    x ^= x >> 32
    x = x * 0xD6E8FEB86659FD93 & MASK
    x ^= x >> 32
    x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


def chance_of(value: int, number: int) -> int:
    return mixed((value + (number + 1) * 0x9E3779B97F4A7C15) & MASK)


def sine_level(angle: int) -> int:
    y = angle - 2**32 if angle >= 2**31 else angle
    y = 2 * ONE - y if y > ONE else -2 * ONE - y if y < -ONE else y
    square, total = y * y >> 30, SINE[4]
    for coefficient in reversed(SINE[:4]):
        total = coefficient - (square * total >> 30)
    return min(max(2 * ONE + 2 * (y * total >> 30), 0), 2**32 - 1)


def level(law: str, at: int, period: int) -> int:
    angle = at * (MASK // period) >> 32
    if law == "square":
        return 2**32 - 1 if 2 * at < period else 0
    return sine_level(angle) if law == "sine" else angle


def value(kind: str, found: int) -> object:
    """As the ranges of the types say: 0..100 for float, 0..1000 for double, in thousandths."""
    if kind == "bool":
        return found >> 31 == 1
    if kind == "int":
        return int(np.float32(found >> 8) * np.float32((1_000_000 + 1) / 2**24))
    if kind == "bigint":
        return int(float(found >> 1) * ((1e12 + 1) / 2**31))
    if kind == "float":
        steps = int(np.float32(found >> 8) * np.float32((100 * 1000 + 1) / 2**24))
        return np.float32(np.float32(steps) / np.float32(1000))
    return int(float(found >> 1) * ((1000 * 1000 + 1) / 2**31)) / 1000


def told(run, **spec: object) -> dict[str, list]:
    outcome: Outcome = run({"driver": "null", "tables": 9, **spec}, verb="rows")
    assert outcome.code == 0, outcome.stderr
    return outcome.one("rows")


def normal_level(series: int, row: int) -> int:
    first = chance_of(series, row)
    second = chance_of(first, 0)
    parts = [each >> shift & 0xFFFF for each in (first, second) for shift in (0, 16, 32, 48)]
    return (sum(parts) << 13) + (chance_of(second, 0) >> 51)


@pytest.mark.parametrize(
    ("law", "period"),
    [*((law, period) for law in ("line", "sine", "square") for period in (2, 97, 100, 1000)), ("normal", 1)],
)
def test_a_law_is_the_same_computed_here(run, law, period):
    rows = told(run, values=law, period_rows=max(period, 2), columns=COLUMNS, seed=5, rows_of="7:1234:700")["columns"]
    table = chance_of(chance_of(5, 0), 7)
    for stream, (name, kind) in enumerate(column.split(":") for column in COLUMNS.split(",")):
        series = chance_of(table, stream)
        levels = (
            normal_level(series, row) if law == "normal" else level(law, (row + series % period) % period, period)
            for row in range(1234, 1234 + 700)
        )
        right = [value(kind, each) for each in levels]
        assert [np.float32(v) for v in rows[name]] == right if kind == "float" else rows[name] == right


def test_normal_values_have_a_normal_distribution(run):
    values = np.array(told(run, values="normal", columns="a:double", rows_of="0:0:20000")["columns"]["a"])
    assert values.mean() == pytest.approx(500, abs=3) and values.std() == pytest.approx(102, rel=0.03)
    for deviations, share in ((1, 0.6827), (2, 0.9545), (3, 0.9973)):  # of a normal distribution
        assert np.mean(abs(values - 500) < deviations * 102.06) == pytest.approx(share, abs=0.012)
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.03  # each row is independent of the one before


def test_a_sine_is_one():
    errors = [abs(sine_level(a << 20) / 2**31 - 1 - math.sin(a / 2**11 * math.pi)) for a in range(4096)]
    assert max(errors) < 4e-6


def test_each_series_begins_at_its_own_place(run):
    same = {"values": "sine", "columns": "a:double,b:double"}
    first, second = (told(run, rows_of=f"{table}:0:100", **same)["columns"] for table in (0, 1))
    assert first["a"] != second["a"]
    assert first["a"] != first["b"]


def test_columns_have_the_laws_in_their_shares(run):
    names = ",".join(f"c{i}:int" for i in range(200))
    rows = told(run, values="constant:1,square:2,walk:1", columns=names, rows_of="0:0:400")["columns"]
    counts = [len(set(values)) for values in rows.values()]
    walks = sum(count > 2 for count in counts)
    assert (counts.count(1), counts.count(2), walks) == (pytest.approx(50, abs=1), pytest.approx(100, abs=1), 50)


def test_decimals_round_all_laws_to_as_many(run):
    for law in ("walk", "random", "normal", "line"):
        rows = told(run, values=law, decimals=1, columns="a:float,b:double", rows_of="0:0:300")["columns"]
        assert all(round(v * 10) == pytest.approx(v * 10, abs=1e-4) for name in "ab" for v in rows[name])
        assert len(set(rows["b"])) > 50


@pytest.mark.parametrize("values", ["line", "normal", "sine:1,walk:1,random:1,constant:1,square:1"])
def test_laws_and_disorder_do_not_depend_on_how_rows_are_sent(rows_of, values):
    for disorder in ({}, {"disorder": "poisson", "disorder_lambda": 30, "disorder_max_k": 60}, {"disorder": "batch"}):
        same = {"rows": 9_001, "tables": 7, "values": values, "columns": COLUMNS + ",f:binary(9)", "disorder_ratio": 40}
        same |= {"disorder_rows": 50, "disorder_range_ms": 100, **disorder}
        reference = rows_of(**same)
        assert rows_of(**same, threads=3, rows_per_request=100) == reference
        assert rows_of(**same, threads=2, partitions=3, rows_per_request=60, interlace_rows=7) == reference
        assert rows_of(**same, threads=7, interlace_rows=1, rows_per_request=1) == reference


POISSON = {"disorder": "poisson", "disorder_ratio": 50, "disorder_lambda": 40, "disorder_max_k": 100}


@pytest.mark.parametrize(
    "more",
    [
        {"rows": 30_000, "tables": 3},
        {"tables": 5, "duration_s": 0.2, "null_latency_us": 300, "rows_per_request": 97, "interlace_rows": 9},
    ],
    ids=["of rows", "of a window"],
)
def test_times_that_repeat_are_counted_once(load, tmp_path, more):
    summary = load(**POISSON, **more, threads=2, dump=tmp_path / "dump").summary
    rows = [line.split(",") for file in tmp_path.glob("dump.*") for line in file.read_text().splitlines()]
    assert len(rows) == summary["rows_acked"] == more.get("rows", summary["rows_acked"]) > 1000
    assert summary["rows_distinct"] == len({(row[0], row[2]) for row in rows})
    assert summary["rows_distinct"] / len(rows) == pytest.approx(0.7, abs=0.02) or "rows" not in more


def test_distinct_rows_are_not_known_where_some_failed(load):
    assert load(code=6, **POISSON, rows=9000, rows_per_request=100, null_fail_every=7).summary["rows_distinct"] is None


def test_the_same_time_of_a_table_has_the_same_values(rows_of):
    held: dict[tuple[str, str], list[str]] = {}
    for row in rows_of(**POISSON, rows=20_000, tables=2, columns=COLUMNS):
        table, _, time, *values = row.split(",")
        assert held.setdefault((table, time), values) == values


def test_delays_are_those_of_iot_benchmark(rows_of):
    rows = [row.split(",") for row in rows_of(disorder="poisson", disorder_ratio=50, rows=150_000)]
    shifts = Counter(int(number) - (int(time) - 1_500_000_000_000) for _, number, time, *_ in rows)
    assert set(shifts) <= {0, *range(220, 2201, 220), *(int(2200 + k * 167_800 / 15) for k in range(1, 16))}
    assert shifts[2200] / shifts[1980] == pytest.approx(10 / 9, abs=0.08)  # 9 of a Poisson of 10 against 8


def test_rows_that_are_there_keep_their_places(run):
    rows = told(run, **POISSON, rows_present=500, rows_of="0:0:900")["time_ms"]
    assert rows[:500] == [1_500_000_000_000 + i for i in range(500)]
    assert min(rows[500:]) == 1_500_000_000_500
    assert rows[500:] != sorted(rows[500:])


def test_a_batch_begins_with_its_later_part(run):
    rows = told(run, disorder="batch", disorder_ratio=30, disorder_rows=10, start_ms=0, rows_of="0:0:20")
    assert rows["time_ms"] == [3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 13, 14, 15, 16, 17, 18, 19, 10, 11, 12]
    by_time = [v for _, v in sorted(zip(rows["time_ms"], rows["columns"]["current"], strict=True))]
    assert told(run, start_ms=0, rows_of="0:0:20")["columns"]["current"] == by_time


def test_a_number_of_requests_is_kept_by_all_workers_together(load):
    spec = {"operations": "a:1,write:2", "ask.a.text": "x {at}", "ask.a.within_ms": 50, "rows_per_request": 10}
    summary = load(**spec, requests=1001, tables=4, threads=3).summary
    assert summary["requests"] == sum(o["requests"] for o in summary["operations"]) == 1001
    assert [w["requests"] for w in summary["workers"]] == [334, 334, 333]
    slowest = {o["name"]: o["slowest_worker_s"] for o in summary["operations"]}
    sums = {o["name"]: o["service"]["mean_us"] * o["service"]["count"] / 1e6 for o in summary["operations"]}
    assert all(sums[name] / 3 <= slowest[name] * 1.001 <= sums[name] * 1.001 for name in sums)


def test_queries_begin_within_the_time_that_is_given(run):
    spec = {"driver": "null", "operations": "a", "ask.a.text": "{from} {to}", "ask.a.span_ms": 5, "requests": 500}
    outcome = run({**spec, "ask.a.within_ms": 7, "ask.a.step_ms": 2, "start_ms": 100, "check_every": 1})
    assert outcome.code == 0, outcome.stderr
    assert {(a["from_ms"], a["to_ms"]) for a in outcome.of("asked")} == {(n, n + 5) for n in (100, 102, 104, 106)}


def test_queries_follow_the_newest_row_of_their_worker(run):
    spec = {"driver": "null", "operations": "a:1,p:1,write:1", "ask.a.text": "{from} {to}", "ask.p.text": "{at}"}
    asks = {"ask.a.span_ms": 50, "ask.a.follows": 1, "ask.p.follows": 1, "check_every": 1}
    outcome = run({**spec, **asks, "requests": 300, "rows_per_request": 10, "start_ms": 1000, "tables": 1})
    assert outcome.code == 0, outcome.stderr
    written = {e["request"]: e for e in outcome.of("asked")}
    rows = 0
    for request in range(300):
        if request not in written:
            rows += 10
            continue
        newest = 1000 + max(0, rows - 1)
        begin = max(1000, newest + 1 - 50) if written[request]["operation"] == "a" else newest
        assert written[request]["from_ms"] == begin
    assert outcome.summary["rows_acked"] == rows > 500


NUMBERS = "a:tinyint,b:smallint,c:int,d:bigint,e:utinyint,f:usmallint,g:uint,h:ubigint,i:float,j:double"
METERS = "current:float,voltage:int,phase:float,groupid:int"
DATA = make_trial(make_sweep(workload__tables="9")).work.data


@pytest.mark.parametrize("decimals", [None, 0, 2])
@pytest.mark.parametrize("columns", [NUMBERS, METERS])
def test_bounds_of_the_law_have_their_share_of_the_rows_within_them(run, columns, decimals):
    more = {} if decimals is None else {"decimals": decimals}
    rows = told(run, values="random", columns=columns, rows_of="3:0:20000", **more)["columns"]
    data = replace(DATA, columns=tuple(columns.split(",")), values="random", decimals=decimals)
    for name, values in rows.items():
        for share in (0.5, 0.1):
            for side in ("above", "below", "between"):
                try:
                    low, high = bounds_of(data, name, share, side)
                except ValueError:
                    assert (decimals, name in ("current", "phase"), share) == (0, True, 0.1)  # 5 and 2 different values
                    continue
                expected = 0.4 if (name, decimals, share) == ("current", 0, 0.5) else share  # 2 of 5 values
                found = np.array(values, dtype=float)
                inside = np.mean((found > low) & (found < high))
                assert inside == pytest.approx(expected, abs=0.015), (name, share, side)
                assert (np.isinf(low), np.isinf(high)) == (side == "below", side == "above")


def test_the_law_of_each_column_is_that_of_the_load_generator(run):
    assert drawn.LAWS == LAWS
    columns = ",".join(f"c{number}:int" for number in range(12))
    rows = told(run, values="random:1,constant:2", columns=columns, rows_of="3:0:50")["columns"]
    found = {name: "constant" if len(set(values)) == 1 else "random" for name, values in rows.items()}
    data = replace(DATA, columns=tuple(columns.split(",")), values="constant=2,random=1")
    assert {name: law_of(data, name) for name in rows} == found and set(found.values()) == {"random", "constant"}
