"""Plans a sweep for a machine that is not here: which CPUs, settings and trials it would have there."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from scale_sweep.base.units import counted, format_bytes
from scale_sweep.machine.host import Host
from scale_sweep.machine.host.block_devices import Room
from scale_sweep.machine.host.placement import Topology
from scale_sweep.model import Sweep
from scale_sweep.plan.power import GUESS
from scale_sweep.plan.preparing.assumed import assume
from scale_sweep.plan.preparing.choice import chosen_arms, refuse_unable, subject_key
from scale_sweep.plan.preparing.data_place import DataPlace, sized, with_data
from scale_sweep.plan.preparing.findings import findings_elsewhere
from scale_sweep.plan.preparing.prepared import Prepared, planned, with_enough_replicates, with_order_seed
from scale_sweep.plan.preparing.specs import refuse_wrong_specs
from scale_sweep.results.store.outside import read_reference


def prepare_elsewhere(sweep: Sweep, host: Host, results: Path) -> Prepared:
    """Assumes servers, plans and checks; starts nothing. host: the other machine. Raises UsageError."""
    sweep = with_order_seed(sweep)
    read_reference(sweep.reference)
    arms = chosen_arms(sweep, assume)
    for arm in arms:
        refuse_unable(arm.sweep, arm.choice)
    arms = tuple(replace(arm, sweep=with_enough_replicates(arm.sweep, len(arms), GUESS)) for arm in arms)
    choices = {subject_key(arm.sweep): arm.choice for arm in arms}
    plan = with_data(planned(arms, host), partial(_place, host))
    refuse_wrong_specs(plan, choices)
    return Prepared(
        plan=plan,
        choices=choices,
        host=host,
        data_dir=Path(plan.sweep.data_dir),
        results=results,
        findings=findings_elsewhere(plan, host, choices),
        elsewhere=_sentence(host),
    )


def _place(host: Host, requested: str, least: int, most: int) -> DataPlace:
    room = Room(where="the machine's memory", free_bytes=host.memory_bytes)
    wanted, note = sized(requested, least, most, lambda: room)
    return DataPlace(wanted=wanted, path=Path(wanted), note=note)


def _sentence(host: Host) -> str:
    top = Topology(host)
    return (
        f"planned for the machine {host.hostname} ({host.cpu_model}): {counted(len(top.order), 'CPU')}, "
        f"{counted(len(top.cores), 'core')}, {counted(top.domain_count, 'L3 domain')}, "
        f"{counted(len({cpu.node for cpu in host.cpus}), 'NUMA node')}, {format_bytes(host.memory_bytes)}"
    )
