"""The driver of series of samples against a server of our own making: its series and its pieces."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import pytest
from line_server import LineServer
from protobuf import Series, series_of
from third_request import ROWS, assert_acked, load_fixture, server_fixture

from tests.needs import needs

SPEC = ROWS | {"driver": "samples"}
COLUMNS = "f:float,d:double,b:bool,t:tinyint,s:smallint,i:int,ut:utinyint,us:usmallint,u:uint"
METHODS = {"remote-write": "/api/v1/write", "import": "/api/v1/import"}
SNAPPY = needs("libsnappy.so.1")
each_method = pytest.mark.parametrize("method", [pytest.param("remote-write", marks=SNAPPY), "import"])
server = server_fixture(LineServer)
send = load_fixture(SPEC)


def lines_of(body: str) -> list[Series]:
    """The series of a body of JSON lines, labels in their order."""
    found = []
    for line in body.splitlines():
        one = json.loads(line, object_pairs_hook=list)
        (_, metric), (values_name, values), (times_name, times) = one
        assert (values_name, times_name) == ("values", "timestamps")
        samples = zip(times, map(float, values), strict=True)
        found.append(Series(labels=tuple(map(tuple, metric)), samples=tuple(samples)))
    return found


def series_in(server: LineServer) -> list[Series]:
    """Of all requests, in the order that they came in."""
    found = []
    for head, body, raw in zip(server.heads, server.bodies, server.raw, strict=True):
        found += series_of(raw) if "x-protobuf" in head else lines_of(body)
    assert all(one.samples for one in found), "a series without samples"
    return found


def samples_of(server: LineServer) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """(metric, device) → times and values, in the order that they came in."""
    found = defaultdict(list)
    for one in series_in(server):
        labels = dict(one.labels)
        found[labels["__name__"], labels["device"]] += one.samples
    return found


def lines_sent(bodies: list[str]) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """The same rows as the driver of lines wrote them."""
    found = defaultdict(list)
    for body in bodies:
        for line in body.splitlines():
            head, fields, at = line.split(" ")
            for name, value in re.findall(r"(\w+)=([^,]*)", fields):
                number = {"t": 1.0, "f": 0.0}.get(value) if name == "b" else float(value.rstrip("i"))
                found[f"measurement_{name}", head.partition("device=")[2]].append((int(at), number))
    return found


@each_method
@pytest.mark.parametrize("values", ["walk", "random"])
@pytest.mark.parametrize("nulls", [0, 0.4, 1])
@pytest.mark.parametrize("interlaced", [0, 3])
def test_series_hold_the_numbers_that_lines_hold(send, server, method, values, nulls, interlaced):
    spec = {"columns": COLUMNS, "values": values, "null_ratio": nulls, "tables": 7, "rows": 700, "rows_per_request": 90}
    spec |= {"interlace_rows": interlaced}
    assert_acked(send(**spec, driver="lines"), 700)
    wanted = lines_sent(server.bodies)
    server.forget()
    assert_acked(send(**spec, method=method), 700)
    assert samples_of(server) == wanted
    assert sum(map(len, wanted.values())) >= 700


@each_method
def test_whole_numbers_are_those_of_the_rows(send, made, server, method):
    spec = {"columns": "t:tinyint,u:uint", "values": "random", "rows": 200}
    assert_acked(send(**spec, method=method), 200)
    wanted = defaultdict(list)
    for row in made(**SPEC | spec):
        for name, value in zip("tu", row.values, strict=True):
            wanted[f"measurement_{name}", f"d{row.table}"].append((row.at, value))
    assert samples_of(server) == wanted


@each_method
def test_labels_stand_in_the_order_of_their_names(send, server, method):
    tags = "groupid:int,location:binary(24),Zone:int,_under:int"
    assert_acked(send(method=method, tags=tags, rows=400), 400)
    found = {one.labels for one in series_in(server)}
    assert len(found) == 3 * 4
    for labels in found:
        names = [name for name, _ in labels]
        assert names == sorted(names) == ["Zone", "__name__", "_under", "device", "groupid", "location"]
        assert all(value for _, value in labels)


@each_method
def test_a_text_of_a_tag_stays_as_it_is(send, server, method):
    assert_acked(send(method=method, tags="t:binary(40)", tag_groups="t:3", tag_prefix="a b,ü=/"))
    assert {dict(one.labels)["t"] for one in series_in(server)} == {f"a b,ü=/{i}" for i in range(3)}


@each_method
def test_they_are_posted_where_the_method_or_the_spec_says(send, server, method):
    assert send(method=method).code == send(method=method, write_path="/elsewhere?x=1").code == 0
    assert server.heads[0].startswith(f"POST {METHODS[method]} HTTP/1.1\r\n")
    assert server.heads[-1].startswith("POST /elsewhere?x=1 HTTP/1.1\r\n")
    is_packed = method == "remote-write"
    assert ("Content-Encoding: snappy\r\n" in server.heads[0]) is is_packed
    assert ("X-Prometheus-Remote-Write-Version: 0.1.0\r\n" in server.heads[0]) is is_packed


@each_method
def test_only_the_columns_of_the_request_are_sent(send, server, method):
    assert_acked(send(method=method, partial_columns=1, partial_from=1))
    assert {name for name, _ in samples_of(server)} == {"measurement_voltage"}


@each_method
@pytest.mark.parametrize(("tables", "interlaced", "rows"), [(1, 0, 160_000), (2, 1, 50_000)])
def test_a_large_request_goes_in_pieces(send, server, method, tables, interlaced, rows):
    more = {"rows": rows, "rows_per_request": rows, "tables": tables, "interlace_rows": interlaced}
    outcome = send(method=method, **more)
    assert_acked(outcome, rows)
    assert outcome.summary["requests"] == 1 and len(server.raw) >= 2
    found = samples_of(server)
    assert [len(samples) for samples in found.values()] == [rows // tables] * 3 * tables
    for samples in found.values():
        times = [at for at, _ in samples]
        assert times == list(range(times[0], times[0] + rows // tables))


@SNAPPY
def test_protobuf_is_compressed(send, server):
    assert_acked(send(method="remote-write", rows=20_000, rows_per_request=10_000, tables=1), 20_000)
    assert sum(map(len, server.raw)) < 0.75 * 20_000 * 3 * 18
