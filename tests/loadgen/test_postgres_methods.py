"""PostgreSQL's methods `insert`, `upsert`, `copy-upsert` and `jsonb` on a real server: values, counts, repeated keys, refusals."""

from __future__ import annotations

import json

import pytest
from running_load import METERS, make_table, stopped_meanwhile
from test_postgres_rows import FIXED, TYPES, as_arrived, as_made

PER_US = {"ms": 0.001, "us": 1, "ns": 1000}
UPSERTS = ("upsert", "copy-upsert")
MIXED = [*FIXED, "x"]
WAYS = {
    "rows in turn": {"rows_per_request": 3001, "interlace_rows": 1},
    "small requests": {"rows_per_request": 7},
    "NULLs": {"rows_per_request": 3000, "null_ratio": 0.2},
    "text": {"rows_per_request": 3000, "text": "random", "null_ratio": 0.1},
    "swapped": {"rows_per_request": 3000, "interlace_rows": 50, "disorder_ratio": 20},
}


def us(text: str, precision: str) -> int:
    return int(text) * 1000 if precision == "ms" else int(text) // int(PER_US[precision])


def spec_of(names: list[str], more: dict[str, object]) -> dict[str, object]:
    columns = ",".join(f"{name}:{TYPES[name][0]}" for name in names)
    return {"tables": 5, "rows": 3301, "columns": columns, "step_ms": 2, "seed": 8} | more


def made_rows(rows_of, names: list[str], spec: dict[str, object], precision: str) -> list[tuple[object, ...]]:
    """Of each row its time in us, its device and its values as PostgreSQL has them."""
    made = []
    for row in rows_of(**spec):
        table, _, at, *values = row.split(",")
        read = [
            us(v, precision) if n == "l" and v != "NULL" else as_made(n, v) for n, v in zip(names, values, strict=True)
        ]
        made.append((us(at, precision), int(table) + 1, *read))
    return sorted(made, key=lambda r: r[:2])


def keyed(postgres, columns: str) -> None:
    make_table(postgres, f"time timestamptz NOT NULL, device_id int4 NOT NULL, {columns}")
    postgres.query("CREATE UNIQUE INDEX ON measurement (device_id, time DESC)")


@pytest.mark.parametrize(
    ("method", "way", "precision"),
    [
        *zip(["insert"] * 5, WAYS, ["ms", "us", "ns", "us", "ms"], strict=True),
        *((method, "NULLs", "ms") for method in UPSERTS),
    ],
)
def test_every_value_arrives_as_it_was_made(run, rows_of, postgres, method, way, precision):
    names = MIXED if way == "text" else FIXED
    keyed(postgres, ", ".join(f"{name} {TYPES[name][1]}" for name in names))
    spec = spec_of(names, {**WAYS[way], "precision": precision})
    outcome = run({**postgres.spec(), "method": method, **spec})
    assert outcome.code == 0, outcome.stderr
    assert outcome.summary["rows_acked"] == 3301
    selected = ", ".join("(extract(epoch FROM l) * 1000000)::bigint" if name == "l" else name for name in names)
    arrived = [
        (int(at), int(device), *(as_arrived(n, v) for n, v in zip(names, values, strict=True)))
        for at, device, *values in postgres.query(
            f"SELECT (extract(epoch FROM time) * 1000000)::bigint, device_id, {selected} FROM measurement"
        )
    ]
    assert sorted(arrived, key=lambda r: r[:2]) == made_rows(rows_of, names, spec, precision)


@pytest.mark.parametrize("way", ["rows in turn", "NULLs", "text"])
def test_all_values_of_a_row_are_in_one_jsonb(run, rows_of, postgres, way):
    names = MIXED if way == "text" else FIXED
    make_table(postgres, "time timestamptz, device_id int4, metrics jsonb")
    spec = spec_of(names, {**WAYS[way], "precision": "us"})
    outcome = run({**postgres.spec(), "method": "jsonb", **spec})
    assert outcome.code == 0, outcome.stderr
    assert outcome.summary["rows_acked"] == 3301
    arrived = []
    for at, device, *parts in postgres.query(
        "SELECT (extract(epoch FROM time) * 1000000)::bigint, device_id, metrics FROM measurement"
    ):
        values = json.loads("|".join(parts))
        assert sorted(values) == names
        single = [as_made("j", str(values[n])) if n == "j" and values[n] is not None else values[n] for n in names]
        arrived.append((int(at), int(device), *single))
    assert sorted(arrived, key=lambda r: r[:2]) == made_rows(rows_of, names, spec, "us")


@pytest.mark.parametrize("method", ["insert", *UPSERTS, "jsonb"])
def test_a_part_of_the_columns(run, postgres, method):
    keyed(postgres, "metrics jsonb" if method == "jsonb" else "current real, voltage int4, phase real")
    spec = {"method": method, "tables": 3, "rows": 300, "partial_from": 1, "partial_columns": 1}
    assert run({**postgres.spec(), **spec}).code == 0
    counted = {"jsonb": "count(metrics->'current'), count(metrics->'voltage'), count(metrics->'phase')"}
    (row,) = postgres.query(
        f"SELECT {counted.get(method, 'count(current), count(voltage), count(phase)')} FROM measurement"
    )
    assert row == ["0", "300", "0"]


@pytest.mark.parametrize("method", UPSERTS)
def test_an_upsert_replaces_the_row_of_its_device_and_time(run, postgres, method):
    keyed(postgres, "current real, voltage int4, phase real")
    spec = {**postgres.spec(), "method": method, "tables": 3, "rows": 3000, "rows_per_request": 700}
    assert run(spec).summary["rows_acked"] == 3000
    before = postgres.query("SELECT device_id, time, voltage FROM measurement ORDER BY 1, 2")
    assert run({**spec, "seed": 2}).summary["rows_acked"] == 3000
    after = postgres.query("SELECT device_id, time, voltage FROM measurement ORDER BY 1, 2")
    assert len(before) == len(after) == 3000
    assert [row[:2] for row in before] == [row[:2] for row in after]
    assert before != after


@pytest.mark.parametrize("method", UPSERTS)
@pytest.mark.parametrize("rows_per_request", [1000, 7])
def test_an_upsert_stores_repeated_times_once(run, postgres, rows_per_request, method):
    keyed(postgres, "current real, voltage int4, phase real")
    late = {"disorder": "poisson", "disorder_ratio": 30, "disorder_lambda": 5, "disorder_max_k": 20}
    spec = {"method": method, "tables": 3, "rows": 9000, "rows_per_request": rows_per_request, **late}
    outcome = run({**postgres.spec(), **spec})
    assert outcome.code == 0, outcome.stderr
    assert outcome.summary["rows_acked"] == 9000 > outcome.summary["rows_distinct"]
    assert postgres.query("SELECT count(*) FROM measurement") == [[str(outcome.summary["rows_distinct"])]]


def test_an_insert_that_meets_a_key_stores_nothing_of_its_request(run, postgres):
    """The first of five requests of each device is there already."""
    keyed(postgres, "current real, voltage int4, phase real")
    spec = {**postgres.spec(), "method": "insert", "tables": 2, "rows_per_request": 100}
    assert run({**spec, "rows": 100}).summary["rows_acked"] == 100
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
    ],
)
def test_a_table_that_does_not_fit_is_refused_in_the_servers_words(run, postgres, method, columns, code, timeout_s):
    make_table(postgres, columns)
    spec = {"method": method, "rows": 300, "rows_per_request": 100, "request_timeout_s": timeout_s}
    outcome = run({**postgres.spec(), **spec})
    assert outcome.code == 6
    assert (outcome.summary["rows_failed"], outcome.summary["errors"]) == (300, 3)
    assert outcome.of("error")[-1]["code"] == code


def test_a_stopped_server_ends_an_insert_at_the_deadline(program, postgres):
    make_table(postgres, METERS)
    stopped_meanwhile(program, postgres, method="insert", rows_per_request=20_000)


@pytest.mark.parametrize("method", ["insert", *UPSERTS, "jsonb"])
def test_with_its_sending_stubbed_a_method_makes_rows_and_asks_no_server(run, postgres, method):
    """At an address where nobody listens."""
    spec = {"method": method, "tables": 10, "rows": 50_000, "rows_per_request": 1000, "sending": "stubbed"}
    outcome = run({**postgres.spec(), "socket_dir": "/nonexistent", **spec})
    assert outcome.code == 0, outcome.stderr
    assert outcome.summary["rows_acked"] == 50_000
