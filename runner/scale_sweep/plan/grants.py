"""What each level of a sweep grants a trial, from all axes together. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from scale_sweep.experiment.axes import Grant, all_axes, axis_of
from scale_sweep.machine.host import Host, place
from scale_sweep.model import ResourceRange, Resources, Sweep


def with_constants(sweep: Sweep, host: Host) -> Sweep:
    """The sweep with the constant level of every axis that it does not vary and that has a default."""
    found = dict(sweep.constants)
    for axis in all_axes():
        default = axis.default_constant(sweep, host)
        if axis.facts.name != sweep.axis and axis.facts.name not in found and default is not None:
            found[axis.facts.name] = default
    return replace(sweep, constants=found)


def grants(sweep: Sweep) -> Mapping[float, Grant]:
    constant = Grant(memory_bytes=sweep.memory_bytes)
    for name, level in sweep.constants.items():
        constant = axis_of(name).grant(constant, level)
    swept = axis_of(sweep.axis)
    return {level: swept.grant(constant, level) for level in sweep.levels}


def resource_range(sweep: Sweep, machine_bytes: int | None = None) -> ResourceRange:
    """Everything that the levels grant. Defaults of knobs are derived from it.

    machine_bytes: the machine's memory, which no level exceeds; None: not known.
    """
    given = grants(sweep).values()
    memory = [size for size in (machine_bytes, *(g.memory_bytes for g in given)) if size is not None]
    return ResourceRange(
        cores=tuple(sorted({g.cores for g in given if g.cores is not None})),
        disks=tuple(sorted({g.disks for g in given if g.disks})),
        connections=tuple(sorted({g.connections for g in given if g.connections is not None})),
        memory_bytes=min(memory, default=None),
    )


def resources_by_level(sweep: Sweep, granted: Mapping[float, Grant], host: Host) -> Mapping[float, Resources]:
    """The resources of a trial's server at each level. The load generator has the CPUs that the largest level leaves.
    granted: by `grants` of this sweep."""
    most = max(map(_cores, granted.values()))
    return {
        level: Resources(
            cores=_cores(grant),
            placement=place(host, _cores(grant), sweep.server_cpus, sweep.generator_cpus, most),
            disks=grant.disks,
            memory_bytes=grant.memory_bytes,
        )
        for level, grant in granted.items()
    }


def _cores(grant: Grant) -> float:
    """The granted cores. `with_constants` gives every plan its cores; a grant without any means one."""
    return grant.cores if grant.cores is not None and math.isfinite(grant.cores) else 1.0
