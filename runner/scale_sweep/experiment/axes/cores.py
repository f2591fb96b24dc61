"""The axis of CPU cores: `scale sweep cpu --cores 1..12`. A level is the number of cores that the server may use."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import format_cpus, format_number, parse_levels
from scale_sweep.experiment.axes.axis import Axis
from scale_sweep.experiment.axes.axis_facts import AxisFacts, standings
from scale_sweep.experiment.setting import setting
from scale_sweep.machine.host import Host
from scale_sweep.model import CORES, Amounts, BottleneckKind, Sweep, VerdictKind

CORES_MIN = 0.01
_FACTS = AxisFacts(
    name="cores",
    unit="core",
    command="cpu",
    flag="--cores",
    title="Cores",
    label="cores given to the server",
    question="How does the write rate grow with cores?",
    example="scale sweep cpu --cores 1..4",
    missing="say which core counts to sweep, like 1..4",
    standings=standings(
        # Cores that waited for memory were in use too: the rate counts for the level.
        swept=(BottleneckKind.SERVER_CPU, BottleneckKind.QUOTA, BottleneckKind.MEMORY_BANDWIDTH),
        own=(BottleneckKind.LOCKS, BottleneckKind.HOT_THREAD, BottleneckKind.CONNECTIONS, BottleneckKind.UNKNOWN),
    ),
    own_verdict=VerdictKind.RESOURCE_NOT_SATURATED,
    one_without="give the one number of cores that it has, like --cores 8",
    is_constant_elsewhere=True,
    published_level="CPU cores",
    published_columns=("partitions", "connections", "rows", "disk_io", "available_memory", "cpu"),
)


def _cores(text: str) -> tuple[float, ...]:
    """Levels that the kernel can grant: its shortest quota is 1 ms in each period of 100 ms."""
    levels = parse_levels(text)
    if levels[0] < CORES_MIN:
        raise ValueError(f"{text!r} holds {levels[0]:g}; {CORES_MIN:g} cores are the least that the kernel can grant")
    return levels


class _Cores(Axis):
    facts = _FACTS
    settings = (
        setting(
            "axis.cores",
            "--cores",
            _cores,
            "",
            "Cores of the server: 1..12, 1..12:2, 1..64:x2, 1,2,4,8 or 0.5,1,1.5. In a sweep of another axis: one "
            "number.",
            "LEVELS",
        ),
    )

    def default_constant(self, sweep: Sweep, host: Host) -> float | None:
        """All cores that the server may use."""
        free = tuple(c for c in host.allowed if c not in sweep.generator_cpus)
        return float(len(sweep.server_cpus or free or host.allowed))

    def check(self, sweep: Sweep, host: Host, granted: Sequence[Amounts]) -> None:
        """Raises UsageError for more cores than the machine has CPUs. The cores of a server that runs already are what
        the user says: it may run elsewhere."""
        available = sweep.server_cpus or host.allowed
        absent = sorted(set(sweep.server_cpus + sweep.generator_cpus) - set(host.allowed))
        if absent:
            raise UsageError(
                f"--server-cpus/--generator-cpus: this machine has no usable CPU {format_cpus(tuple(absent))}",
                remedy=f"usable are {format_cpus(host.allowed)}",
            )
        most = max(amounts[CORES].value for amounts in granted)
        if most > len(available) and not sweep.endpoint:
            where = "--server-cpus names" if sweep.server_cpus else "this machine has"
            raise UsageError(
                f"--cores: {format_number(most)} cores asked for, {where} {len(available)}",
                remedy=f"--cores 1..{len(available)}" if len(available) > 1 else "--cores 1",
            )


AXIS = _Cores()
