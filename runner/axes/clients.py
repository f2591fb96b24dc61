"""The axis of clients: `scale sweep clients --clients 1..64:x2`. A level is the connections that write at once.

The resources stay as they are, so the curve shows how far one server takes concurrency: the case that the universal
scalability law was made for. A server whose cores are full has reached its maximum, and that number is its own.
"""

from __future__ import annotations

from dataclasses import replace

from runner.axes.axis import Axis, Grant
from runner.axes.facts import AxisFacts, standings
from runner.model import BottleneckKind, VerdictKind
from runner.setting import readers, setting
from runner.units import parse_levels

_OWN = (
    BottleneckKind.SERVER_CPU,
    BottleneckKind.QUOTA,
    BottleneckKind.MEMORY_BANDWIDTH,
    BottleneckKind.LOCKS,
    BottleneckKind.HOT_THREAD,
    BottleneckKind.DISK,
    BottleneckKind.DISK_WAITS,
    BottleneckKind.UNEVEN_DISKS,
    BottleneckKind.MEMORY,
    BottleneckKind.UNKNOWN,
)
_MORE_CLIENTS = "more --clients, or larger requests (--rows-per-request)"

_FACTS = AxisFacts(
    name="clients",
    unit="client",
    command="clients",
    flag="--clients",
    title="Clients",
    given="clients that write at once",
    question="How does the write rate grow with clients?",
    example="scale sweep clients --clients 1..64:x2",
    missing="say how many clients to sweep, like 1..64:x2",
    standings=standings(
        swept=(BottleneckKind.CONNECTIONS,), own=_OWN, remedies={BottleneckKind.CONNECTIONS: _MORE_CLIENTS}
    ),
    own_verdict=VerdictKind.VALID,
    published_columns=("partitions", "rows", "disk_io", "available_memory", "cpu"),
)


class _Clients(Axis):
    facts = _FACTS
    settings = (
        setting(
            "axis.clients",
            "--clients",
            readers.whole_levels(parse_levels, "clients"),
            "",
            "Connections that write at the same time: 1..64:x2, 1..16 or 1,2,4. Selects a sweep of clients.",
            "LEVELS",
        ),
    )

    def grant(self, before: Grant, level: float) -> Grant:
        """So many connections, one request in flight on each."""
        return replace(before, connections=int(level))


AXIS = _Clients()
