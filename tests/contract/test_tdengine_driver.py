"""The TDengine driver against a real server: what was made is what is read back, by every method.

Needs TDengine 3.3: SCALE_TDENGINE_HOME=DIR holding bin/ and lib/, else taosd on PATH. Starts a server of its own.

    SCALE_TDENGINE_HOME=/opt/tdengine python -m pytest tests/contract/test_tdengine_driver*.py
"""

from __future__ import annotations

import os

import pytest

from scale_sweep.loadgen.ceiling import Means, ceiling_key, means_of, measure_ceiling
from tests.contract.tdengine_contract import (
    ADAPTER,
    COLUMNS,
    NATIVE,
    NEEDS_SERVER,
    PROGRAM,
    TAGS,
    ask,
    count,
    expected,
    loaded,
    prepared,
    run,
    spec_of,
    stored,
    tables_of_vgroups,
    tag_of,
    tag_value,
)

pytestmark = [*NEEDS_SERVER, pytest.mark.timeout(300)]


ORDERS: dict[str, dict[str, object]] = {
    "tables in turn": {},
    "one table after the other": {"order": "progressive", "placement": "stock"},
    "interlaced": {"interlace_rows": 7, "rows_per_request": 49},
    "row by row": {"interlace_rows": 1, "rows_per_request": 6},
    "late rows": {"disorder_ratio": 30, "disorder_range_ms": 100},
    "NULLs": {"null_ratio": 0.4, "text": "random"},
    "every bit by chance": {"values": "random", "text": "random"},
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("method", (*NATIVE, *ADAPTER))
def test_what_was_made_is_read_back(server, tmp_path, method, order):
    spec = prepared(server, "contract", method=method, **ORDERS[order])
    loaded(spec)
    found, wanted = stored(server, spec), expected(spec, tmp_path)
    assert len(found) == 1200
    assert found == wanted
    assert ask(server, "SELECT COUNT(*) FROM contract.meters PARTITION BY tbname")[0] == [[200]] * 6


@pytest.mark.parametrize("order", ["tables in turn", "interlaced", "late rows", "NULLs"])
def test_lines_are_stored_row_by_row(server, order):
    spec = prepared(server, "contract", method="sml-line", **ORDERS[order])
    loaded(spec)
    assert count(server, "contract") == 1200
    names = ask(server, "SELECT DISTINCT tbname FROM contract.meters")[0]
    assert len(names) == 6
    assert all(name[0].startswith("d") for name in names), "tables have the names that were placed"
    assert sorted(tables_of_vgroups(server, "contract")) == [1, 1, 2, 2]


LINES = "b:bool,t:tinyint,i:int,l:bigint,ul:ubigint,f:float,d:double,x:binary(20),n:nchar(12),v:varbinary(16),g:geometry(40)"
POINTS = [f"v:{kind}" for kind in ("bool", "tinyint", "int", "bigint", "float", "double")]


@pytest.mark.parametrize(
    ("method", "columns"),
    [("sml-line", LINES), *((method, point) for method in ("sml-telnet", "sml-json") for point in POINTS)],
)
def test_lines_and_points_hold_what_was_made(server, tmp_path, method, columns):
    spec = prepared(server, "contract", method=method, columns=columns)
    loaded(spec)
    assert stored(server, spec) == expected(spec, tmp_path)


FINE = [(method, precision) for method in ("stmt", "sql", "ws", "sml-line") for precision in ("us", "ns")]


# Not sml-json with ns: the driver refuses it, since libtaos reads times of JSON as doubles.
@pytest.mark.parametrize(("method", "precision"), [*FINE, ("sml-json", "us")])
def test_precisions(server, method, precision):
    one = {"columns": "v:int"} if method == "sml-json" else {"columns": "v:int,w:double"}
    spec = prepared(server, "contract", method=method, precision=precision, step_ms=0.001, **one)
    loaded(spec)
    time_column = "_ts" if method.startswith("sml") else "ts"
    units = {"us": 1000, "ns": 1000000}[precision]
    edges = f"SELECT FIRST({time_column}), LAST({time_column}), COUNT(*) FROM contract.meters"
    first, last, rows = ask(server, edges)[0][0]
    assert (first, last, rows) == (1500000000000 * units, 1500000000000 * units + 199 * units // 1000, 1200)


@pytest.mark.parametrize("method", (*NATIVE, *ADAPTER))
def test_partial_columns_leave_the_others_null(server, method):
    spec = prepared(server, "contract", method=method, partial_columns=3, partial_from=2)
    loaded(spec)
    counts = ", ".join(f"COUNT(`{name.split(':')[0]}`)" for name in COLUMNS.split(","))
    found = ask(server, f"SELECT COUNT(*), {counts} FROM contract.meters")[0][0]
    assert found == [1200, *[1200 if 2 <= i < 5 else 0 for i in range(len(COLUMNS.split(",")))]]


@pytest.mark.parametrize("method", ["stmt", "rest"])
def test_tags_of_all_types(server, tmp_path, method):
    spec = prepared(server, "contract", method=method, tags=TAGS, placement="stock")
    kinds = [tag.split(":")[1] for tag in TAGS.split(",")]
    names = ", ".join(f"`{tag.split(':')[0]}`" for tag in TAGS.split(","))
    found = {row[0]: row[1:] for row in ask(server, f"SELECT DISTINCT tbname, {names} FROM contract.meters")[0]}
    null = {"driver": "null", "dump": tmp_path / "tags", "threads": 1, "tables": 6, "seed": spec["seed"], "tags": TAGS}
    assert run(null, "tables").code == 0
    for line in (tmp_path / "tags.0").read_text().splitlines():
        table, *literals = line.split(",")
        for value, literal, kind in zip(found.pop(f"d{table}"), literals, kinds, strict=True):
            assert tag_value(value, kind) == tag_of(literal, kind)
    assert not found


def test_a_json_tag(server):
    prepared(server, "contract", tags="info:json", columns="v:int")
    loaded(spec_of(server, "contract", tags="info:json", columns="v:int"))
    assert ask(server, "SELECT COUNT(*) FROM contract.meters WHERE info->'group' >= 0")[0] == [[1200]]


@pytest.mark.parametrize("method", (*NATIVE, "rest", "ws"))
def test_long_rows(server, method):
    """The rows of a known disk experiment: 32 KB of text each."""
    text = ",".join([*(f"b{i}:binary(5000)" for i in range(5)), *(f"n{i}:nchar(2500)" for i in range(3))])
    more = {"columns": f"d:double,l:bigint,{text}", "text": "random", "rows": 300, "rows_per_request": 50}
    loaded(prepared(server, "contract", method=method, **more))
    lengths = ask(server, "SELECT COUNT(*), SUM(LENGTH(b4)), SUM(CHAR_LENGTH(n2)) FROM contract.meters")[0]
    assert lengths == [[300, 300 * 5000, 300 * 2500]]


def test_more_rows_in_a_request_than_a_binding_takes(server):
    more = {"columns": "v:int", "tables": 4, "rows": 160000, "rows_per_request": 40000}
    for method in ("stmt", "sql", "ws"):
        loaded(prepared(server, "contract", method=method, **more))
        assert count(server, "contract") == 160000


@pytest.mark.parametrize("method", ADAPTER)
def test_the_ceiling_lies_between_what_is_sent_and_what_is_thrown_away(server, method):
    spec = prepared(server, "contract", method=method, rows=20_000, rows_per_request=1000)
    sent = loaded(spec).summary["rows_per_s"]
    assert means_of(str(PROGRAM), spec) is Means.STUBBED
    told = {"protocol": "1"} | {key: str(value) for key, value in spec.items()}
    cpus = tuple(os.sched_getaffinity(0))
    keys = [ceiling_key(told, cpus, 0, means) for means in (Means.STUBBED, Means.DISCARDED)]
    made, thrown = (measure_ceiling(str(PROGRAM), key) for key in keys)
    assert sent < made < thrown
