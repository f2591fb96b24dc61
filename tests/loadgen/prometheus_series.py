"""The series of samples that a server of our own making was sent, in both forms."""

from __future__ import annotations

import json

from line_server import LineServer
from protobuf import Series, series_of


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
