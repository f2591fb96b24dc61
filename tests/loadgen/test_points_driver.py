"""The driver of points as JSON against a server of our own making: its points, its pieces, and answers that go wrong."""

from __future__ import annotations

import csv
import json
import re
import struct
from collections import defaultdict

import pytest
from line_server import LineServer
from third_request import assert_refused, assert_unanswered, load_fixture, server_fixture

SPEC = {"driver": "points", "host": "127.0.0.1", "tables": 4, "threads": 1, "rows": 40, "rows_per_request": 5}
SPEC |= {"tags": "", "columns": "current:float,voltage:int,phase:float"}
COLUMNS = "f:float,d:double,b:bool,t:tinyint,s:smallint,i:int,l:bigint,ut:utinyint,us:usmallint,u:uint,n:timestamp"
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


def as_dumped(value: str, kind: str) -> str:
    """A value as the null driver dumps it; a fraction must have its point."""
    if kind not in ("float", "double"):
        assert re.fullmatch(r"-?\d+", value)
        return value
    assert re.search(r"[.e]", value)
    narrow = struct.unpack("f", struct.pack("f", float(value)))[0]
    return f"{narrow:.9g}" if kind == "float" else f"{float(value):.17g}"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("values", ["walk", "random"])
@pytest.mark.parametrize("nulls", [0, 0.4, 1])
def test_points_hold_the_rows(run, send, server, tmp_path, method, values, nulls):
    spec = {"columns": COLUMNS, "values": values, "null_ratio": nulls, "tables": 7, "rows": 700, "rows_per_request": 90}
    spec |= {"interlace_rows": 3}
    sent = send(**spec, method=method)
    assert (sent.code, sent.summary["rows_acked"]) == (0, 700), sent.stderr
    assert run(SPEC | spec | {"driver": "null", "dump": tmp_path / "rows"}).code == 0
    wanted = defaultdict(list)
    names = [c.split(":") for c in COLUMNS.split(",")]
    for table, _, at, *row in csv.reader((tmp_path / "rows.0").read_text().splitlines()):
        for (name, _), value in zip(names, row, strict=True):
            if value != "NULL":
                wanted[f"measurement_{name}", f"d{table}"].append((int(at), value))
        if set(row) == {"NULL"}:
            wanted["measurement_f", f"d{table}"].append((int(at), ""))  # its first value is kept
    kinds = {f"measurement_{name}": kind for name, kind in names}
    found = points_of(server)
    assert set(found) == set(wanted)
    for key, points in wanted.items():
        got = [(at, as_dumped(value, kinds[key[0]])) for at, value in found[key]]
        assert [(at, value if value else "") for at, value in points] == [
            (at, value if want else "") for (at, value), (_, want) in zip(got, points, strict=True)
        ]


def test_tags_hold_what_every_such_database_takes(send, server):
    assert send(tags="groupid:int,location:binary(24)", rows=400).code == 0
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
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["requests"]) == (0, rows, 1)
    assert len(server.bodies) >= 2
    assert {len(points) for points in points_of(server).values()} == {rows}


def test_gzip_holds_the_same_points_in_fewer_bytes(send, server):
    lengths = {}
    for method in ("datapoints", "gzip"):
        assert send(method=method, rows=4000, rows_per_request=1000).code == 0
        lengths[method] = sum(int(re.search(r"Content-Length: (\d+)", head).group(1)) for head in server.heads)
        lengths[f"text of {method}"] = list(server.bodies)
        server.heads.clear()
        server.bodies.clear()
    assert lengths["text of datapoints"] == lengths["text of gzip"]
    assert lengths["gzip"] < lengths["datapoints"] / 2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mood", ["garbage", "partial head", "partial body", "cut", "bad chunk", "chunked refusal"])
def test_a_broken_answer_fails_its_request_only(send, server, method, mood):
    server.moods[3] = mood
    outcome = send(method=method)
    assert outcome.code == 6, outcome.stderr
    assert (outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (35, 5)
    assert outcome.of("error")[0]["code"] in ("CONNECTION", "HTTP500", "HTTP400")


@pytest.mark.parametrize("method", METHODS)
def test_a_failed_request_is_told_and_the_next_goes_on(send, server, method):
    server.moods[3] = "refused"
    assert_refused(send(method=method), "HTTP400", "")


def test_a_request_without_an_answer_ends_by_its_deadline(send, server):
    server.moods[3] = "silence"
    assert_unanswered(send)


@pytest.mark.parametrize("column", ["w:binary(8)", "w:ubigint"])
def test_what_points_cannot_say_is_refused(run, column):
    outcome = run(SPEC | {"port": 1, "columns": f"a:int,{column}"})
    assert outcome.code == 2
    assert f"columns: points have no number for {column.partition('(')[0]}" in outcome.stderr + str(outcome.events)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_sent_when_sending_is_stubbed(run, method):
    outcome = run(SPEC | {"port": 1, "sending": "stubbed", "method": method})
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)
