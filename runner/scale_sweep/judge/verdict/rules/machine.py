"""Rules about the machine and about waiting: other programs, the hypervisor, the network, memory, a stall, connections;
and the answer if nothing explains the figures."""

from __future__ import annotations

from scale_sweep.base.units import part_of
from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.disks import held_up
from scale_sweep.judge.verdict.rules.rule import Explanation
from scale_sweep.judge.verdict.thresholds import (
    CPU_WAITING_PERCENT,
    IN_FLIGHT,
    MEMORY_WAITING_PERCENT,
    NETWORK_FULL,
    OTHERS_CORES,
    OTHERS_EXPLAIN,
    RAN_CORES,
    STALL_S,
    STALL_SHARE,
)
from scale_sweep.model import BottleneckKind


def few_connections(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Fewer requests were in flight than the server has cores, and all of them waited for answers."""
    return connections(use, resources) if resources.threads < resources.cores else None


def connections(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """All requests in flight waited for answers, and neither server nor load generator was busy: latency, not
    resources."""
    if use.in_flight is None or use.in_flight < IN_FLIGHT:
        return None
    many = part_of(resources.threads, resources.threads, "connection")
    return Explanation(
        kind=BottleneckKind.CONNECTIONS,
        sentence=f"{many} waited for an answer {100 * use.in_flight:.0f} % of the time",
        remedy="more --connections" + (", or larger requests (--rows-per-request)" if resources.counts_rows else ""),
    )


def is_stalled(use: ResourceUse) -> bool:
    """Whether nothing was acknowledged for a large part of the window."""
    return use.stalled_s is not None and use.stalled_s >= max(STALL_S, STALL_SHARE * use.seconds)


def stall(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """For a large part of the window nothing was acknowledged, and neither a disk nor memory explains that."""
    if not is_stalled(use):
        return None
    if held_up(use, resources) or memory(use, resources):
        return None
    idle = use.stalled_cores is not None and use.stalled_cores < OTHERS_CORES
    did = "the server's threads did not run" if idle else "the server's threads ran without answering"
    sentence = f"no {resources.done} for {use.stalled_s:.1f} s"
    return Explanation(
        kind=BottleneckKind.STALL,
        sentence=sentence if use.stalled_cores is None else f"{sentence}: {did}",
        remedy="see the server's log and the machine at that time; a longer window, if the server pauses by itself",
    )


def memory(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Tasks waited for memory: reclaim or swap."""
    if use.memory_waiting_percent is None or use.memory_waiting_percent < MEMORY_WAITING_PERCENT:
        return None
    return Explanation(
        kind=BottleneckKind.MEMORY,
        sentence=f"something waited for memory {use.memory_waiting_percent:.0f} % of the time",
        remedy="raise --memory, or smaller buffers (--knob)",
    )


def unknown(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Nothing explains the figures. This rule always answers, so that there always is an answer."""
    return Explanation(kind=BottleneckKind.UNKNOWN, sentence="no measured quantity explains it")


STOP_THEM = "stop them, or use a dedicated machine"


def hypervisor(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Steal time explains it, more than other programs do."""
    stolen = use.stolen_cores or 0.0
    if not _explained_by_others(use, resources) or stolen <= (use.other_cores or 0.0):
        return None
    return Explanation(
        kind=BottleneckKind.HYPERVISOR,
        sentence=f"the hypervisor took {stolen:.2f} cores from this machine (steal time)",
        remedy="another time, or a machine with dedicated CPUs",
    )


def other_processes(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Other programs of this machine explain it."""
    if not _explained_by_others(use, resources):
        return None
    return Explanation(
        kind=BottleneckKind.OTHER_PROCESSES,
        sentence=f"other processes on this machine used {use.other_cores or 0.0:.2f} cores",
        remedy=STOP_THEM,
    )


def crowded_out(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """In a stall other programs had the CPUs, and the server ran: it waited for a CPU, which looks like a pause.

    A server that did not run at all in some second was stopped or asleep, whoever else used the machine.
    """
    cores, others, waiting = use.stalled_cores, use.stalled_other_cores, use.stalled_cpu_waiting_percent
    if not is_stalled(use) or cores is None or others is None or waiting is None:
        return None
    if (
        (use.stalled_cores_min or 0.0) < RAN_CORES
        or waiting < CPU_WAITING_PERCENT
        or others < OTHERS_EXPLAIN * (resources.cores - cores)
    ):
        return None
    return Explanation(
        kind=BottleneckKind.OTHER_PROCESSES,
        sentence=f"other processes on this machine used {others:.2f} cores while no {resources.done} for "
        f"{use.stalled_s:.1f} s, and programs waited for a CPU {waiting:.0f} % of that time",
        remedy=STOP_THEM,
    )


def _explained_by_others(use: ResourceUse, resources: TrialResources) -> bool:
    if use.server_cores is None or max(use.other_cores or 0.0, use.stolen_cores or 0.0) < OTHERS_CORES:
        return False
    lacks = resources.cores - use.server_cores - (use.generator_cores or 0.0 if resources.shared_cpus else 0.0)
    return use.taken_cores >= OTHERS_EXPLAIN * lacks


def network(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """An interface moved nearly as much as it can, in one direction."""
    name = max(use.network, key=lambda one: use.network[one], default="")
    if not name or use.network[name] < NETWORK_FULL:
        return None
    return Explanation(
        kind=BottleneckKind.NETWORK,
        sentence=f"the network interface was full: {name} {100 * use.network[name]:.0f} % of its speed",
        remedy="a faster network, smaller rows, or the load generator on the server's machine",
    )
