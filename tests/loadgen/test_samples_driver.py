"""The driver of series of samples against a server of our own making: its series, its pieces, and answers that go wrong."""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict

import pytest
from line_server import REFUSALS, LineServer
from protobuf import Series, series_of
from third_request import assert_refused, assert_unanswered, load_fixture, server_fixture

from tests.needs import needs

SPEC = {"driver": "samples", "host": "127.0.0.1", "tables": 4, "threads": 1, "rows": 40, "rows_per_request": 5}
SPEC |= {"tags": "", "columns": "current:float,voltage:int,phase:float"}
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
    assert send(**spec, driver="lines").code == 0
    wanted = lines_sent(server.bodies)
    for kept in (server.heads, server.bodies, server.raw):
        kept.clear()
    sent = send(**spec, method=method)
    assert (sent.code, sent.summary["rows_acked"]) == (0, 700), sent.stderr
    assert samples_of(server) == wanted
    assert sum(map(len, wanted.values())) >= 700


@each_method
def test_whole_numbers_are_those_of_the_rows(run, send, server, tmp_path, method):
    spec = {"columns": "t:tinyint,u:uint", "values": "random", "rows": 200}
    assert send(**spec, method=method).code == 0
    assert run(SPEC | spec | {"driver": "null", "dump": tmp_path / "rows"}).code == 0
    rows = list(csv.reader((tmp_path / "rows.0").read_text().splitlines()))
    found = samples_of(server)
    for place, name in enumerate(("t", "u")):
        for device in range(4):
            wanted = [(int(row[2]), float(row[3 + place])) for row in rows if row[0] == str(device)]
            assert found[f"measurement_{name}", f"d{device}"] == wanted


@each_method
def test_labels_stand_in_the_order_of_their_names(send, server, method):
    tags = "groupid:int,location:binary(24),Zone:int,_under:int"
    assert send(method=method, tags=tags, rows=400).code == 0
    found = {one.labels for one in series_in(server)}
    assert len(found) == 3 * 4
    for labels in found:
        names = [name for name, _ in labels]
        assert names == sorted(names) == ["Zone", "__name__", "_under", "device", "groupid", "location"]
        assert all(value for _, value in labels)


@each_method
def test_a_text_of_a_tag_stays_as_it_is(send, server, method):
    assert send(method=method, tags="t:binary(40)", tag_groups="t:3", tag_prefix="a b,ü=/").code == 0
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
    assert send(method=method, partial_columns=1, partial_from=1).code == 0
    assert {name for name, _ in samples_of(server)} == {"measurement_voltage"}


@each_method
@pytest.mark.parametrize(("tables", "interlaced", "rows"), [(1, 0, 160_000), (2, 1, 50_000)])
def test_a_large_request_goes_in_pieces(send, server, method, tables, interlaced, rows):
    more = {"rows": rows, "rows_per_request": rows, "tables": tables, "interlace_rows": interlaced}
    outcome = send(method=method, **more)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["requests"]) == (0, rows, 1)
    assert len(server.raw) >= 2
    found = samples_of(server)
    assert [len(samples) for samples in found.values()] == [rows // tables] * 3 * tables
    for samples in found.values():
        times = [at for at, _ in samples]
        assert times == list(range(times[0], times[0] + rows // tables))


@SNAPPY
def test_protobuf_is_compressed(send, server):
    more = {"rows": 20_000, "rows_per_request": 10_000, "tables": 1}
    assert send(method="remote-write", **more).code == 0
    assert sum(map(len, server.raw)) < 0.75 * 20_000 * 3 * 18


@each_method
@pytest.mark.parametrize("mood", REFUSALS)
def test_a_failed_request_is_told_and_the_next_goes_on(send, server, method, mood):
    server.moods[3] = mood
    assert_refused(send(method=method), *REFUSALS[mood])
    assert len(server.raw) == 8


@each_method
@pytest.mark.parametrize("mood", ["silence", "drip"])
def test_a_request_without_an_answer_ends_by_its_deadline(send, server, method, mood):
    server.moods[3] = mood
    assert_unanswered(send, method=method)


@pytest.mark.parametrize("column", ["w:binary(8)", "w:nchar(8)", "w:bigint", "w:ubigint", "w:timestamp"])
def test_what_a_double_cannot_hold_is_refused(run, column):
    outcome = run(SPEC | {"port": 1, "columns": f"a:int,{column}"})
    assert outcome.code == 2
    assert f"columns: a sample is a double, which cannot hold {column.partition('(')[0]}" in str(outcome.events)


def test_other_times_than_milliseconds_are_refused(run):
    outcome = run(SPEC | {"port": 1, "precision": "us"})
    assert outcome.code == 2
    assert "precision" in outcome.stderr + str(outcome.events)


@each_method
def test_nothing_is_sent_when_sending_is_stubbed(run, method):
    outcome = run(SPEC | {"port": 1, "sending": "stubbed", "method": method})
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)
