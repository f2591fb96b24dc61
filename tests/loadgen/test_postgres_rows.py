"""Every value of every row arrives in PostgreSQL as it was made, by every method, however the rows are sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from loadgen_program import float32, value_of
from running_load import METERS, make_table
from third_request import assert_acked

TYPES = {
    "a": ("bool", "bool"),
    "b": ("tinyint", "int2"),
    "c": ("smallint", "int2"),
    "d": ("int", "int4"),
    "e": ("bigint", "int8"),
    "f": ("utinyint", "int2"),
    "g": ("usmallint", "int4"),
    "h": ("uint", "int8"),
    "i": ("ubigint", "int8"),
    "j": ("float", "real"),
    "k": ("double", "double precision"),
    "l": ("timestamp", "timestamptz"),
    "x": ("binary(9)", "text"),
    "y": ("nchar(15)", "text"),
    "z": ("varbinary(9)", "bytea"),
}
FIXED = [name for name in TYPES if name < "x"]
WAYS: dict[str, dict[str, object]] = {
    "a table a request": {"rows_per_request": 3000},
    "rows in turn": {"rows_per_request": 3001, "interlace_rows": 1},
    "small requests": {"rows_per_request": 7},
    "swapped": {"rows_per_request": 3000, "interlace_rows": 50, "disorder_ratio": 20},
    "NULLs": {"rows_per_request": 3000, "null_ratio": 0.2},
    "text": {"rows_per_request": 3000, "text": "random", "null_ratio": 0.1},
}
ROWS = 9001
UPSERTS = ("upsert", "copy-upsert")
METHODS = ("copy", "insert", *UPSERTS, "jsonb")
CASES = [
    *(("copy", way, precision) for way in WAYS for precision in ("ms", "us", "ns")),
    *zip(["insert"] * 5, [*WAYS][1:], ["ms", "us", "ns", "us", "ms"], strict=True),
    *((method, "NULLs", "ms") for method in UPSERTS),
    *(("jsonb", way, "us") for way in ("rows in turn", "NULLs", "text")),
]


def keyed(postgres, columns: str = "current real, voltage int4, phase real") -> None:
    make_table(postgres, f"time timestamptz NOT NULL, device_id int4 NOT NULL, {columns}")
    postgres.query("CREATE UNIQUE INDEX ON measurement (device_id, time DESC)")


def us(at: int, precision: str) -> int:
    return at * 1000 if precision == "ms" else at // {"us": 1, "ns": 1000}[precision]


def stored(postgres, names: list[str], *, is_jsonb: bool) -> Iterator[tuple[Any, ...]]:
    """Of each row its time in us, its device and its values."""
    epoch = "(extract(epoch FROM {}) * 1000000)::bigint"
    selected = "metrics" if is_jsonb else ", ".join(epoch.format(name) if name == "l" else name for name in names)
    rows = postgres.query(f"SELECT {epoch.format('time')}, device_id, {selected} FROM measurement")
    for at, device, *cells in rows:
        if is_jsonb:
            values = json.loads("|".join(cells))
            assert sorted(values) == names
            read = [float32(values[name]) if name == "j" else values[name] for name in names]
        else:
            plain = ({"t": "1", "f": "0", "": "NULL"}.get(cell, cell).removeprefix("\\x") for cell in cells)
            read = [value_of(TYPES[name][0], cell) for name, cell in zip(names, plain, strict=True)]
        yield int(at), int(device), *read


@pytest.mark.parametrize(("method", "way", "precision"), CASES)
def test_every_value_arrives_as_it_was_made(run, made, postgres, method, way, precision):
    names = FIXED if way != "text" else [*FIXED, "x"] if method == "jsonb" else list(TYPES)
    keyed(postgres, "metrics jsonb" if method == "jsonb" else ", ".join(f"{name} {TYPES[name][1]}" for name in names))
    columns = ",".join(f"{name}:{TYPES[name][0]}" for name in names)
    spec = {"tables": 5, "rows": ROWS, "columns": columns, "precision": precision, "step_ms": 2, "seed": 8}
    spec |= WAYS[way]
    assert_acked(run({**postgres.spec(), "method": method, **spec}), ROWS)
    wanted = []
    for row in made(**spec):
        timed = zip(names, row.values, strict=True)
        values = [us(value, precision) if name == "l" and value is not None else value for name, value in timed]
        wanted.append((us(row.at, precision), row.table + 1, *values))
    found = stored(postgres, names, is_jsonb=method == "jsonb")
    assert sorted(found, key=lambda r: r[:2]) == sorted(wanted, key=lambda r: r[:2])


@pytest.mark.parametrize("method", METHODS)
def test_a_part_of_the_columns(run, postgres, method):
    keyed(postgres, *["metrics jsonb"] * (method == "jsonb"))
    spec = {"method": method, "tables": 3, "rows": 300, "partial_from": 1, "partial_columns": 1}
    assert_acked(run({**postgres.spec(), **spec}), 300)
    names = (f"metrics->'{name}'" if method == "jsonb" else name for name in ("current", "voltage", "phase"))
    counted = ", ".join(f"count({name})" for name in names)
    assert postgres.query(f"SELECT {counted} FROM measurement") == [["0", "300", "0"]]


@pytest.mark.parametrize("method", UPSERTS)
def test_an_upsert_replaces_the_row_of_its_device_and_time(run, postgres, method):
    keyed(postgres)
    spec = {**postgres.spec(), "method": method, "tables": 3, "rows": 3000, "rows_per_request": 700}
    found = []
    for seed in (1, 2):
        assert_acked(run({**spec, "seed": seed}), 3000)
        found.append(postgres.query("SELECT device_id, time, voltage FROM measurement ORDER BY 1, 2"))
    before, after = found
    assert len(before) == 3000
    assert [row[:2] for row in before] == [row[:2] for row in after]
    assert before != after


@pytest.mark.parametrize("method", UPSERTS)
@pytest.mark.parametrize("rows_per_request", [1000, 7])
def test_an_upsert_stores_repeated_times_once(run, postgres, rows_per_request, method):
    keyed(postgres)
    late = {"disorder": "poisson", "disorder_ratio": 30, "disorder_lambda": 5, "disorder_max_k": 20}
    spec = {"method": method, "tables": 3, "rows": 9000, "rows_per_request": rows_per_request, **late}
    outcome = run({**postgres.spec(), **spec})
    assert_acked(outcome, 9000)
    assert outcome.summary["rows_distinct"] < 9000
    assert postgres.query("SELECT count(*) FROM measurement") == [[str(outcome.summary["rows_distinct"])]]


def test_an_insert_that_meets_a_key_stores_nothing_of_its_request(run, postgres):
    """The first of five requests of each device is there already."""
    keyed(postgres)
    spec = {**postgres.spec(), "method": "insert", "tables": 2, "rows_per_request": 100}
    assert_acked(run({**spec, "rows": 100}), 100)
    outcome = run({**spec, "rows": 1000})
    assert outcome.code == 6
    assert (outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (800, 200)
    assert outcome.of("error")[-1]["code"] == "23505"
    assert postgres.query("SELECT count(*) FROM measurement") == [["900"]]


@pytest.mark.parametrize(
    ("method", "columns", "code", "timeout_s"),
    [
        ("upsert", METERS, "42P10", 0),
        ("copy-upsert", METERS, "42P10", 0),
        ("copy-upsert", METERS.replace("phase", "other"), "42703", 30),
        ("insert", METERS.replace("phase", "other"), "42703", 0),
        ("insert", METERS.replace("phase", "other"), "42703", 30),
        ("jsonb", METERS, "42703", 0),
        ("copy", METERS.replace("phase", "other"), "42703", 30),
    ],
)
def test_a_table_that_does_not_fit_is_refused_in_the_servers_words(run, postgres, method, columns, code, timeout_s):
    make_table(postgres, columns)
    spec = {"method": method, "rows": 300, "rows_per_request": 100, "request_timeout_s": timeout_s}
    outcome = run({**postgres.spec(), **spec})
    assert outcome.code == 6
    assert (outcome.summary["rows_failed"], outcome.summary["errors"]) == (300, 3)
    assert outcome.of("error")[-1]["code"] == code


@pytest.mark.parametrize(("method", "interlaced"), [*((method, 0) for method in METHODS), ("copy", 7)])
def test_with_its_sending_stubbed_a_method_makes_rows_and_asks_no_server(run, postgres, method, interlaced):
    """At an address where nobody listens: a library that tried to connect would fail."""
    spec = {"method": method, "tables": 100, "partitions": 4, "rows": 50_000, "rows_per_request": 1000}
    spec |= {"interlace_rows": interlaced, "sending": "stubbed", "socket_dir": "/nonexistent"}
    outcome = run({**postgres.spec(), **spec})
    assert_acked(outcome, 50_000)
    assert [p["rows_acked"] for p in outcome.summary["partitions"]] == [12_500] * 4


UNDER_TLS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int PQsslInUse(void *c) { return c != 0 && getenv("SAYS_TLS") != 0; }

int PQputCopyData(void *c, const char *bytes, int count)
{
    int (*real)(void *, const char *, int) = (int (*)(void *, const char *, int))dlsym(RTLD_NEXT, "PQputCopyData");
    FILE *file = fopen(getenv("PUT_BYTES"), "a");
    fprintf(file, "%d\\n", count);
    fclose(file);
    return real(c, bytes, count);
}
"""


@pytest.fixture(scope="module")
def library_under_tls(postgres, shared):
    """The real libpq, which says that its connections are encrypted when SAYS_TLS is set (the wheel's cannot be), and
    adds the bytes that it is handed to the file PUT_BYTES."""
    return shared(UNDER_TLS, *postgres.linked)


@pytest.mark.parametrize("is_under_tls", [True, False])
@pytest.mark.parametrize("timeout_s", [0, 30])
def test_rows_arrive_by_libpq_under_tls_and_else_by_us(
    run, postgres, library_under_tls, tmp_path, is_under_tls, timeout_s
):
    make_table(postgres, "time timestamptz, device_id int4, a double precision")
    spec = {"tables": 4, "rows": 40_000, "rows_per_request": 9000, "columns": "a:double", "library": library_under_tls}
    put = tmp_path / "put"
    put.touch()
    tls = {"SAYS_TLS": "1"} if is_under_tls else {}
    outcome = run({**postgres.spec(), **spec, "request_timeout_s": timeout_s}, env={"PUT_BYTES": str(put), **tls})
    assert_acked(outcome, 40_000)
    handed_to_libpq = sum(map(int, put.read_text().split()))
    row_bytes = 2 + (4 + 8) + (4 + 4) + (4 + 8)  # fields, and each with its length before it
    assert (handed_to_libpq >= 40_000 * row_bytes) is is_under_tls
    assert is_under_tls or handed_to_libpq < 40_000
    columns = "count(*), count(DISTINCT device_id), min(a) >= 0, max(a) <= 1000"
    assert postgres.query(f"SELECT {columns} FROM measurement") == [["40000", "4", "t", "t"]]
