"""The driver of points as JSON against a server of our own making: its tags, paths and compression."""

from __future__ import annotations

import json
import re

import pytest
from line_server import LineServer
from third_request import ROWS, assert_acked, load_fixture, server_fixture

SPEC = ROWS | {"driver": "points"}
server = server_fixture(LineServer)
send = load_fixture(SPEC)


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
