"""Grants of each level: amounts of all axes, CPUs, knobs and the load that follows from these. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import format_bytes
from scale_sweep.experiment.axes import all_axes, axis_of
from scale_sweep.loadgen.placeholders import CLIENTS_WORD, names_in
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.machine.host.placement import place
from scale_sweep.model.declared import Sweep
from scale_sweep.model.declared_parts import KnobColumn, KnobRole
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import CLIENTS, CORES, DISKS, MEMORY, Amount, Amounts, ResourceRange, Resources

AmountsByLevel = Mapping[float, Amounts]
COUNT = re.compile(r"[0-9]{1,9}")


def with_constants(sweep: Sweep, host: Host) -> Sweep:
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
    """Raises UsageError for what the machine does not have."""
    if (sweep.memory_bytes or 0) > host.memory_bytes and not sweep.endpoint:
        wanted, there = format_bytes(sweep.memory_bytes or 0), format_bytes(host.memory_bytes)
        size = f"{host.memory_bytes >> 30}GiB" if host.memory_bytes >> 31 else f"{host.memory_bytes >> 20}MiB"
        remedy = f"--memory {size} or less; scale plan --machine FILE plans for another machine"
        raise UsageError(f"--memory: {wanted} asked for, this machine has {there}", remedy=remedy)
    granted = list(amounts_by_level(with_constants(sweep, host)).values())
    for axis in all_axes():
        axis.check(sweep, host, granted)


def resource_range(granted: AmountsByLevel, machine_bytes: int | None = None) -> ResourceRange:
    """Everything that the levels grant. machine_bytes: the machine's memory, which no level exceeds; None: not
    known."""

    def values(quantity: str) -> list[float]:
        return sorted({amounts[quantity].value for amounts in granted.values() if quantity in amounts})

    memory = [int(size) for size in values(MEMORY)]
    return ResourceRange(
        cores=tuple(values(CORES)),
        disks=tuple(int(count) for count in values(DISKS) if count),
        connections=tuple(map(int, values(CLIENTS))),
        memory_bytes=min(memory if machine_bytes is None else [machine_bytes, *memory], default=None),
    )


def resources_by_level(sweep: Sweep, granted: AmountsByLevel, host: Host) -> Mapping[float, Resources]:
    """The load generator has the CPUs that the largest level leaves."""
    most = max(_cores(amounts).value for amounts in granted.values())
    resources = {}
    for level, amounts in granted.items():
        cores = _cores(amounts)
        placement = place(host, cores.value, sweep.server_cpus, sweep.generator_cpus, most, shares=sweep.shares_cpus)
        resources[level] = Resources(amounts={**amounts, CORES: cores}, placement=placement)
    return resources


def _cores(amounts: Amounts) -> Amount:
    cores = amounts.get(CORES)
    return cores if cores is not None and math.isfinite(cores.value) else Amount(value=1.0, unit="core")


def with_knobs(trial: Trial, knobs: Mapping[str, str], declared: Sequence[KnobColumn]) -> Trial:
    def count(role: KnobRole) -> int:
        """1 if no knob has the role; 0 if it is not a number, which the plan refuses by its flag."""
        text = next((knobs[knob.name] for knob in declared if knob.role is role and knob.name in knobs), "1")
        return int(text) if COUNT.fullmatch(text) else 0

    load = replace(trial.load, connections=count(KnobRole.CONNECTIONS), partitions=count(KnobRole.PARTITIONS))
    return replace(trial, knobs=knobs, load=load)


def with_twice_the_connections(trial: Trial, declared: Sequence[KnobColumn]) -> Trial | None:
    names = [knob.name for knob in declared if knob.role is KnobRole.CONNECTIONS and knob.name in trial.knobs]
    twice = 2 * trial.load.connections
    command = trial.load.command
    can = CLIENTS_WORD in names_in(command.argv) if command is not None else 0 < twice <= trial.work.data.tables
    if not names or not can:
        return None
    return with_knobs(trial, {**trial.knobs, names[0]: str(twice)}, declared)


def knobs_of_level(sweep: Sweep, level: float, amounts: Amounts, declared: Sequence[KnobColumn]) -> dict[str, str]:
    levels = {**sweep.constants, sweep.axis: level}
    own = {knob: text for axis, at in levels.items() for knob, text in axis_of(axis).knobs(at).items()}
    if CLIENTS not in amounts:
        return own
    connections = f"{amounts[CLIENTS].value:.0f}"
    return {**own, **{knob.name: connections for knob in declared if knob.role is KnobRole.CONNECTIONS}}


def granted_knobs(sweep: Sweep, granted: AmountsByLevel, declared: Sequence[KnobColumn]) -> frozenset[str]:
    levels = [knobs_of_level(sweep, level, amounts, declared) for level, amounts in granted.items()]
    return frozenset(name for knobs in levels for name in knobs)
