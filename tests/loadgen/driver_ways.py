"""The drivers that speak to servers of our own making, by each of their methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cql_server import CqlServer
from iotdb_server import IotdbServer
from line_server import CrateServer, LineServer
from pgarrays_server import ArraysServer
from pgwire_server import PgwireServer
from third_request import ROWS

from tests.needs import needs

Way = tuple[Callable[[], Any], dict[str, object]]
# By driver and method: the server, and what else the spec says.
WAYS: dict[str, Way] = {
    "cassandra": (CqlServer, {"table": "ks.t"}),
    **dict.fromkeys(("cratedb unnest", "cratedb bulk"), (CrateServer, {})),
    **dict.fromkeys(("iotdb tablet", "iotdb tablets", "iotdb records"), (IotdbServer, {"database": "root.x"})),
    **dict.fromkeys(("lines http", "lines gzip"), (LineServer, {})),
    "pgarrays": (ArraysServer, {}),
    "pgwire": (PgwireServer, {}),
    **dict.fromkeys(("points put", "points datapoints", "points gzip"), (LineServer, {})),
    **dict.fromkeys(("samples remote-write", "samples import"), (LineServer, {})),
}


def spec_of(way: str) -> dict[str, object]:
    """A load of 40 rows."""
    driver, _, method = way.partition(" ")
    more = WAYS[way][1] if way in WAYS else {}
    return ROWS | {"driver": driver} | ({"method": method} if method else {}) | more


def marks_of(way: str) -> Any:
    return needs("libsnappy.so.1") if way == "samples remote-write" else ()
