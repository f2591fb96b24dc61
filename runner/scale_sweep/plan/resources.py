"""The resources of each level of a sweep: amounts from all axes together, then the CPUs for them. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from scale_sweep.experiment.axes import all_axes, axis_of
from scale_sweep.machine.host import Host, place
from scale_sweep.model import CLIENTS, CORES, DISKS, MEMORY, Amount, Amounts, ResourceRange, Resources, Sweep

AmountsByLevel = Mapping[float, Amounts]


def with_constants(sweep: Sweep, host: Host) -> Sweep:
    """The sweep with the constant level of every axis that it does not vary and that has a default."""
    constants = dict(sweep.constants)
    for axis in all_axes():
        default = axis.default_constant(sweep, host)
        if axis.facts.name != sweep.axis and axis.facts.name not in constants and default is not None:
            constants[axis.facts.name] = default
    return replace(sweep, constants=constants)


def amounts_by_level(sweep: Sweep) -> AmountsByLevel:
    constant: dict[str, Amount] = {}
    if sweep.memory_bytes is not None:
        constant[MEMORY] = Amount(value=sweep.memory_bytes, unit="byte")
    for name, level in sweep.constants.items():
        constant.update(axis_of(name).amounts(level))
    swept = axis_of(sweep.axis)
    return {level: {**constant, **swept.amounts(level)} for level in sweep.levels}


def refuse_ungranted(sweep: Sweep, host: Host) -> None:
    """Raises UsageError for levels that this machine cannot give, before a server is searched for them."""
    granted = list(amounts_by_level(with_constants(sweep, host)).values())
    for axis in all_axes():
        axis.check(sweep, host, granted)


def resource_range(granted: AmountsByLevel, machine_bytes: int | None = None) -> ResourceRange:
    """Everything that the levels grant. Defaults of knobs are derived from it.

    machine_bytes: the machine's memory, which no level exceeds; None: not known.
    """
    memory = [int(size) for size in _values(granted, MEMORY)]
    return ResourceRange(
        cores=_values(granted, CORES),
        disks=tuple(int(count) for count in _values(granted, DISKS) if count),
        connections=tuple(map(int, _values(granted, CLIENTS))),
        memory_bytes=min(memory if machine_bytes is None else [machine_bytes, *memory], default=None),
    )


def _values(granted: AmountsByLevel, quantity: str) -> tuple[float, ...]:
    return tuple(sorted({amounts[quantity].value for amounts in granted.values() if quantity in amounts}))


def resources_by_level(sweep: Sweep, granted: AmountsByLevel, host: Host) -> Mapping[float, Resources]:
    """The resources of a trial at each level. The load generator has the CPUs that the largest level leaves. granted:
    by `amounts_by_level` of this sweep."""
    most = max(_cores(amounts).value for amounts in granted.values())
    return {
        level: Resources(
            amounts={**amounts, CORES: _cores(amounts)},
            placement=place(
                host,
                _cores(amounts).value,
                sweep.server_cpus,
                sweep.generator_cpus,
                most,
                shares=sweep.shares_cpus,
            ),
        )
        for level, amounts in granted.items()
    }


def _cores(amounts: Amounts) -> Amount:
    """The granted cores. `with_constants` gives every plan its cores; a level that grants none means one."""
    cores = amounts.get(CORES)
    return cores if cores is not None and math.isfinite(cores.value) else Amount(value=1.0, unit="core")
