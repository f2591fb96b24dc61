"""The driver of points as JSON against a server of our own making: its points and its pieces."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import pytest
from line_server import LineServer
from loadgen_program import float32
from third_request import ROWS, TYPES, assert_acked, load_fixture, server_fixture

SPEC = ROWS | {"driver": "points"}
METHODS = ("put", "datapoints", "gzip")
server = server_fixture(LineServer)
send = load_fixture(SPEC)


def points_of(server: LineServer) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """(metric, device) → times and values as they stand in the text, in the order that they came in."""
    found = defaultdict(list)
    for body in server.bodies:
        for one in json.loads(body, parse_float=str, parse_int=str):
            device = one["tags"]["device"]
            if "datapoints" in one:
                assert one["datapoints"], "a series without points is refused by servers"
                found[one["name"], device] += [(int(at), value) for at, value in one["datapoints"]]
            else:
                found[one["metric"], device].append((int(one["timestamp"]), one["value"]))
    return found


def read_back(value: str, kind: str) -> float | int | None:
    """A fraction must have its point."""
    if kind not in ("float", "double"):
        return int(value)
    assert re.search(r"[.e]", value)
    return float32(float(value)) if kind == "float" else float(value)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("values", ["walk", "random"])
@pytest.mark.parametrize("nulls", [0, 0.4, 1])
def test_points_hold_the_rows(send, made, server, method, values, nulls):
    spec = {"columns": TYPES, "values": values, "null_ratio": nulls, "tables": 7, "rows": 700, "rows_per_request": 90}
    spec |= {"interlace_rows": 3}
    assert_acked(send(**spec, method=method), 700)
    names = [column.split(":") for column in TYPES.split(",")]
    kinds = {f"measurement_{name}": kind for name, kind in names}
    found = {
        key: [(at, read_back(value, kinds[key[0]])) for at, value in points]
        for key, points in points_of(server).items()
    }
    wanted, kept = defaultdict(list), set()
    for row in made(**SPEC | spec):
        for (name, _), value in zip(names, row.values, strict=True):
            if value is not None:
                wanted[f"measurement_{name}", f"d{row.table}"].append((row.at, value))
        if set(row.values) == {None}:
            key = "measurement_f", f"d{row.table}"
            kept.add((key, row.at))  # its first value, which the dump does not have
            wanted[key].append((row.at, dict(found[key])[row.at]))
    assert found == wanted
    assert len(kept) == {0: 0, 1: 700}.get(nulls, len(kept))


def test_tags_hold_what_every_such_database_takes(send, server):
    assert_acked(send(tags="groupid:int,location:binary(24)", rows=400), 400)
    tags = {json.dumps(one["tags"], sort_keys=True) for body in server.bodies for one in json.loads(body)}
    assert len(tags) == 4
    for text in tags:
        one = json.loads(text)
        assert set(one) == {"device", "groupid", "location"}
        assert all(re.fullmatch(r"[A-Za-z0-9./_-]+", value) for value in one.values())


@pytest.mark.parametrize(
    ("method", "path"), [("put", "/api/put"), ("datapoints", "/api/v1/datapoints"), ("gzip", "/api/v1/datapoints")]
)
def test_points_are_posted_where_the_method_or_the_spec_says(send, server, method, path):
    assert send(method=method).code == send(method=method, write_path="/elsewhere?sync").code == 0
    assert server.heads[0].startswith(f"POST {path} HTTP/1.1\r\n")
    assert server.heads[-1].startswith("POST /elsewhere?sync HTTP/1.1\r\n")
    kind = "gzip" if method == "gzip" else "json"
    assert f"\r\nContent-Type: application/{kind}\r\n" in server.heads[0]


@pytest.mark.parametrize(("method", "rows"), [("put", 40_000), ("datapoints", 200_000), ("gzip", 200_000)])
def test_a_large_request_goes_in_pieces(send, server, method, rows):
    outcome = send(method=method, rows=rows, rows_per_request=rows, tables=1)
    assert_acked(outcome, rows)
    assert outcome.summary["requests"] == 1 and len(server.bodies) >= 2
    assert {len(points) for points in points_of(server).values()} == {rows}


def test_gzip_holds_the_same_points_in_fewer_bytes(send, server):
    bodies, lengths = {}, {}
    for method in ("datapoints", "gzip"):
        server.forget()
        assert_acked(send(method=method, rows=4000, rows_per_request=1000), 4000)
        bodies[method], lengths[method] = list(server.bodies), sum(map(len, server.raw))
    assert bodies["datapoints"] == bodies["gzip"]
    assert lengths["gzip"] < lengths["datapoints"] / 2
