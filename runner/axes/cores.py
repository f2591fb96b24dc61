"""The axis of CPU cores: `scale sweep cpu --cores 1..12`. A level is the cores that the server may use."""

from __future__ import annotations

from runner.axes.facts import AxisFacts
from runner.model import LimitKind, Stand, Standing, VerdictKind

_SWEPT = (LimitKind.SERVER_CPU, LimitKind.QUOTA)
_OWN = (LimitKind.HOT_THREAD, LimitKind.CONNECTIONS, LimitKind.UNKNOWN)

AXIS = AxisFacts(
    name="cores",
    unit="core",
    command="cpu",
    flag="--cores",
    title="Cores",
    given="cores given to the server",
    question="How does the write rate grow with cores?",
    example="scale sweep cpu --cores 1..4",
    rate="rows_per_s",
    standings={
        kind: Stand(
            standing=Standing.SWEPT if kind in _SWEPT else Standing.OWN if kind in _OWN else Standing.EXTERNAL
        )
        for kind in LimitKind
    },
    own_verdict=VerdictKind.RESOURCE_NOT_SATURATED,
    whole=False,
    needs="pins_cpus",
    one_without="give the one number of cores that it has, like --cores 8",
)
