"""Facts of the simulated server: its knobs and their defaults."""

from __future__ import annotations

import math

from scale_sweep.model.declared_parts import KnobRole
from scale_sweep.model.resources import ResourceRange, ServerSource
from scale_sweep.server.targets.common_facts import connections_knob
from scale_sweep.server.targets.simulated.laws import PARAMETERS
from scale_sweep.server.targets.target_facts import Facts, Knob


def _connections(resources: ResourceRange) -> str:
    """So many that no server waits for the next request, which the load generator may send late."""
    return str(max(8, 4 * math.ceil(max(resources.cores))))


FACTS = Facts(
    name="simulated",
    title="simulated server",
    implementation="scale_sweep.server.targets.simulated.simulated_target:SimulatedTarget",
    methods=("discard",),
    runs_from=(ServerSource.SIMULATION,),
    is_simulated=True,
    acknowledged="nowhere, since nothing is stored",
    remark="no database; every output is marked simulated",
    knobs=(
        Knob(name="partitions", role=KnobRole.PARTITIONS, kind="count", column="partitions", default="1"),
        connections_knob(_connections),
        Knob(name="law", default="linear"),
        Knob(name="speeds"),
        *(Knob(name=name, default=None) for name in PARAMETERS),
    ),
    rows_per_request=100,
    rows_per_core_s=20_000,
    has_files=False,
    wait_events=True,
    overhead_s=0.5,
    warmup_s=(1.0, 10.0),
)
