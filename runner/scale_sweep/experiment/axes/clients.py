"""The axis of clients: `scale sweep clients --clients 1..64:x2`."""

from __future__ import annotations

from scale_sweep.experiment.axes.axis import Axis, AxisFacts, standings
from scale_sweep.experiment.setting import readers, setting
from scale_sweep.model.measured import BottleneckKind, VerdictKind

_OWN = "SERVER_CPU QUOTA MEMORY_BANDWIDTH LOCKS HOT_THREAD DISK DISK_WAITS UNEVEN_DISKS MEMORY UNKNOWN".split()
_MORE_CLIENTS = "more --clients, or larger requests (--rows-per-request)"

_FACTS = AxisFacts(
    name="clients",
    unit="client",
    command="clients",
    flag="--clients",
    title="Clients",
    label="clients that write at once",
    question="How does the write rate grow with clients?",
    example="scale sweep clients --clients 1..64:x2",
    missing="say how many clients to sweep, like 1..64:x2",
    account="time",
    standings=standings(
        swept=(BottleneckKind.CONNECTIONS,),
        own=tuple(map(BottleneckKind, _OWN)),
        remedies={BottleneckKind.CONNECTIONS: _MORE_CLIENTS},
    ),
    own_verdict=VerdictKind.VALID,
    proves=("clients", "cpu"),
    swept_resource="clients",
    published_columns=("partitions", "rows", "disk_io", "available_memory", "cpu"),
    usual_keys=tuple(
        "target.memory load.slo workload.tables workload.rows_per_request load.method knobs.partitions".split()
    ),
)


class _Clients(Axis):
    facts = _FACTS
    settings = (
        setting(
            "axis.clients",
            "--clients",
            readers.whole_levels("clients"),
            "",
            "Connections that write at the same time: 1..64:x2, 1..16 or 1,2,4. Selects a sweep of clients.",
            "LEVELS",
        ),
    )


AXIS = _Clients()
