"""The driver of series of samples against a server of our own making: labels, paths and compression."""

from __future__ import annotations

import pytest
from line_server import LineServer
from prometheus_series import series_in
from third_request import ROWS, assert_acked, load_fixture, server_fixture

from tests.needs import needs

SPEC = ROWS | {"driver": "samples"}
METHODS = {"remote-write": "/api/v1/write", "import": "/api/v1/import"}
SNAPPY = needs("libsnappy.so.1")
each_method = pytest.mark.parametrize("method", [pytest.param("remote-write", marks=SNAPPY), "import"])
server = server_fixture(LineServer)
send = load_fixture(SPEC)


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


@SNAPPY
def test_protobuf_is_compressed(send, server):
    assert_acked(send(method="remote-write", rows=20_000, rows_per_request=10_000, tables=1), 20_000)
    assert sum(map(len, server.raw)) < 0.75 * 20_000 * 3 * 18
