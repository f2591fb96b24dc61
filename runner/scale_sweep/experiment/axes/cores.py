"""The axis of CPU cores: `scale sweep cpu --cores 1..12`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import counted, format_cpus, format_number, parse_cpus, parse_levels
from scale_sweep.experiment.axes.axis import Axis, AxisFacts, Texts, standings
from scale_sweep.experiment.setting import setting
from scale_sweep.experiment.setting.readers import SHARED
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.machine.host.placement import server_cpus_max
from scale_sweep.model.declared import Sweep
from scale_sweep.model.measured import BottleneckKind, VerdictKind
from scale_sweep.model.resources import CORES, Amounts

CORES_MIN = 0.01
_ONE = "all"
_ALL = re.compile(r"\ball\b")  # the CPUs that the server may have on the machine of the sweep
_FACTS = AxisFacts(
    name="cores",
    unit="core",
    command="cpu",
    flag="--cores",
    title="Cores",
    label="cores given to the server",
    question="How does the write rate grow with cores?",
    example="scale sweep cpu --cores 1..all",
    missing="say which core counts to sweep, like 1..4 or 1..all",
    account="cpu",
    # Cores that waited for memory were in use too: the rate counts for the level.
    standings=standings(
        swept=(BottleneckKind.SERVER_CPU, BottleneckKind.QUOTA, BottleneckKind.MEMORY_BANDWIDTH),
        own=(BottleneckKind.LOCKS, BottleneckKind.HOT_THREAD, BottleneckKind.CONNECTIONS, BottleneckKind.UNKNOWN),
    ),
    own_verdict=VerdictKind.RESOURCE_NOT_SATURATED,
    one_without="give the one number of cores that it has, like --cores 8",
    is_constant_elsewhere=True,
    swept_resource="cpu",
    published_level="CPU cores",
    published_columns=("partitions", "connections", "rows", "disk_io", "available_memory", "cpu"),
    usual_keys=("target.memory", "load.slo", "cpus.server", "cpus.generator", "knobs.partitions", "knobs.connections"),
)


def _cores(text: str) -> tuple[float, ...]:
    if text.strip() == _ONE:
        raise ValueError(f"{text!r} is one number of cores; write 1..all for a sweep, or the number")
    if _ALL.search(text):
        raise ValueError(
            f"{text!r}: `all` means the CPUs of this machine, and the server runs elsewhere; give a number"
        )
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
            "Cores of the server: 1..12, 1..12:2, 1..64:x2, 1,2,4,8, 0.5,1,1.5 or 1..all, which leaves the load "
            "generator its CPUs if there are more than two cores. In a sweep of another axis: one number.",
            "LEVELS",
        ),
    )

    def of_machine(self, texts: Texts, host: Host) -> str:
        """The CPUs of an endpoint are not known: `all` stays, and is refused."""
        text = super().of_machine(texts, host)
        if not _ALL.search(text) or text.strip() == _ONE or texts.get("target.endpoint"):
            return text
        named = [_named(texts.get(key)) for key in ("cpus.server", "cpus.generator")]
        shares = texts.get("cpus.generator") == SHARED
        return _ALL.sub(str(server_cpus_max(host, *named, shares=shares)), text)

    def levels_of(self, texts: Texts, host: Host) -> str:
        return "" if texts.get("target.endpoint") else f"1 to {format_number(min(len(host.allowed), host.cpus_max))}"

    def default_constant(self, sweep: Sweep, host: Host) -> float | None:
        return float(server_cpus_max(host, sweep.server_cpus, sweep.generator_cpus, shares=sweep.shares_cpus))

    def check(self, sweep: Sweep, host: Host, granted: Sequence[Amounts]) -> None:
        """The cores of a server that runs already are what the user says: it may run elsewhere."""
        available = sweep.server_cpus or host.allowed
        absent = sorted(set(sweep.server_cpus + sweep.generator_cpus) - set(host.allowed))
        if absent:
            raise UsageError(
                f"--server-cpus/--generator-cpus: this machine has no usable CPU {format_cpus(tuple(absent))}",
                remedy=f"usable are {format_cpus(host.allowed)}",
            )
        most = max(amounts[CORES].value for amounts in granted)
        if most > min(len(available), host.cpus_max) and not sweep.endpoint:
            where = f"{'--server-cpus names' if sweep.server_cpus else 'this machine has'} {len(available)}"
            remedy = "--cores 1..all" if len(available) > 1 else "--cores 1"
            remedy += "; scale plan --machine FILE plans for another machine"
            if host.cpus_max < len(available):
                where = f"the quota of this process' control group is {counted(host.cpus_max, 'CPU')}"
                remedy = "raise the quota (docker run --cpus, CPUQuota= of systemd), or sweep fewer cores"
            by = "axis.cores of the sweep file" if sweep.origin.get(self.key) == "file" else "--cores"
            raise UsageError(f"{by}: {counted(most, 'core')} asked for, {where}", remedy=remedy)


def _named(text: object) -> tuple[int, ...]:
    try:
        return parse_cpus(str(text)) if text else ()
    except ValueError:
        return ()


AXIS = _Cores()
