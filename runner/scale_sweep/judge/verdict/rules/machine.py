"""Rules about the machine, about waiting, and about the response times of an open loop."""

from __future__ import annotations

from scale_sweep.base.units import counted, part_of
from scale_sweep.judge.verdict import thresholds as limit
from scale_sweep.judge.verdict.evidence import Explanation, Lateness, ResourceUse, TakenCpus, TrialResources
from scale_sweep.judge.verdict.rules.foreign import few_clients
from scale_sweep.judge.verdict.rules.load import generator_cpu, host_generator_cpu, is_met, is_paused, more_cpus
from scale_sweep.judge.verdict.rules.server import held_up
from scale_sweep.model.measured import BottleneckKind


def few_connections(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    is_known = resources.threads > 0 or not resources.is_foreign
    return connections(use, resources) if is_known and resources.threads < resources.cores else None


def connections(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    if resources.is_foreign:
        return few_clients(use, resources)
    if use.in_flight is None or use.in_flight < limit.IN_FLIGHT:
        return None
    many = part_of(resources.threads, resources.threads, "connection")
    return Explanation(
        kind=BottleneckKind.CONNECTIONS,
        sentence=f"{many} waited for an answer {100 * use.in_flight:.0f} % of the time",
        remedy="more --connections" + (", or larger requests (--rows-per-request)" if resources.counts_rows else ""),
    )


def is_stalled(use: ResourceUse) -> bool:
    return use.stalled_s is not None and use.stalled_s >= max(limit.STALL_S, limit.STALL_SHARE * use.seconds)


def stall(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Neither a disk nor memory explains it."""
    if not is_stalled(use) or is_paused(use):
        return None
    if held_up(use, resources) or memory(use, resources):
        return None
    idle = use.stalled_cores is not None and use.stalled_cores < limit.OTHERS_CORES
    did = "the server's threads did not run" if idle else "the server's threads ran without answering"
    sentence = f"no {resources.done} for {use.stalled_s:.1f} s"
    return Explanation(
        kind=BottleneckKind.STALL,
        sentence=sentence if use.stalled_cores is None else f"{sentence}: {did}",
        remedy="see the server's log and the machine at that time; a longer window, if the server pauses by itself",
    )


def memory(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    if use.memory_waiting_percent is None or use.memory_waiting_percent < limit.MEMORY_WAITING_PERCENT:
        return None
    return Explanation(
        kind=BottleneckKind.MEMORY,
        sentence=f"something waited for memory {use.memory_waiting_percent:.0f} % of the time",
        remedy="raise --memory, or smaller buffers (--knob)",
    )


def unknown(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    return Explanation(kind=BottleneckKind.UNKNOWN, sentence="no measured quantity explains it")


STOP_THEM = "stop them, or use a dedicated machine"


def hypervisor(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Steal time, more than other programs."""
    stolen = use.stolen_cpu_cores or 0.0
    if not _explained_by_others(use, resources) or stolen <= (use.other_cpu_cores or 0.0):
        return None
    return Explanation(
        kind=BottleneckKind.HYPERVISOR,
        sentence=f"the hypervisor took {stolen:.2f} cores from this machine (steal time)",
        remedy="another time, or a machine with dedicated CPUs",
    )


def other_processes(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    if not _explained_by_others(use, resources):
        return None
    return Explanation(
        kind=BottleneckKind.OTHER_PROCESSES,
        sentence=f"other processes on this machine used {use.other_cpu_cores or 0.0:.2f} cores",
        remedy=STOP_THEM,
    )


def crowded_out(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """In a stall the server waited for a CPU. One that did not run at all in some second was stopped or asleep."""
    cores, others, waiting = use.stalled_cores, use.stalled_other_cores, use.stalled_cpu_waiting_percent
    if not is_stalled(use) or cores is None or others is None or waiting is None:
        return None
    if (
        (use.stalled_cores_min or 0.0) < limit.RAN_CORES
        or waiting < limit.CPU_WAITING_PERCENT
        or others < limit.OTHERS_EXPLAIN * (resources.cores - cores)
    ):
        return None
    return Explanation(
        kind=BottleneckKind.OTHER_PROCESSES,
        sentence=f"other processes on this machine used {others:.2f} cores while no {resources.done} for "
        f"{use.stalled_s:.1f} s, and programs waited for a CPU {waiting:.0f} % of that time",
        remedy=STOP_THEM,
    )


def _explained_by_others(use: ResourceUse, resources: TrialResources) -> bool:
    if (
        use.server_cpu_cores is None
        or max(use.other_cpu_cores or 0.0, use.stolen_cpu_cores or 0.0) < limit.OTHERS_CORES
    ):
        return False
    queued = use.server_queued_cores if resources.is_foreign else None
    if queued is not None and queued < limit.OTHERS_CORES:
        return False  # it did not wait for them
    lacks = resources.cores - use.server_cpu_cores - (use.generator_cpu_cores or 0.0 if resources.shared_cpus else 0.0)
    return use.taken_cores >= limit.OTHERS_EXPLAIN * lacks


def network(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """In one direction."""
    name = max(use.network, key=lambda one: use.network[one], default="")
    if not name or use.network[name] < limit.NETWORK_FULL:
        return None
    return Explanation(
        kind=BottleneckKind.NETWORK,
        sentence=f"the network interface was full: {name} {100 * use.network[name]:.0f} % of its speed",
        remedy="a faster network, smaller rows, or the load generator on the server's machine",
    )


def delayed_by_hypervisor(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    taken = _most_taken(use, resources)
    if taken is None or taken.stolen <= taken.others:
        return None
    return _delayed(
        BottleneckKind.HYPERVISOR,
        _took(("the hypervisor", taken.stolen), ("other processes", taken.others), taken),
        "another time, or a machine with dedicated CPUs",
    )


def delayed_by_others(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    taken = _most_taken(use, resources)
    if taken is None or taken.stolen > taken.others:
        return None
    sentence = _took(("other processes", taken.others), ("the hypervisor", taken.stolen), taken)
    return _delayed(BottleneckKind.OTHER_PROCESSES, sentence, STOP_THEM)


def _most_taken(use: ResourceUse, resources: TrialResources) -> TakenCpus | None:
    """The CPUs of which others had the largest share; None if it was little."""
    if not is_met(use, resources):
        return None
    most = max(use.taken, key=lambda taken: taken.share, default=None)
    return most if most is not None and most.share > limit.TAKEN_SHARE else None


def _took(most: tuple[str, float], least: tuple[str, float], taken: TakenCpus) -> str:
    """The second is named if the first alone took an acceptable share."""
    (who, cores), (also, rest) = most, least
    beside = f" and {also} {100 * rest / taken.cpus:.0f} %" if cores <= limit.TAKEN_SHARE * taken.cpus else ""
    return f"{who} took {100 * cores / taken.cpus:.0f} %{beside} of {taken.whose} {counted(taken.cpus, 'CPU')}"


def _delayed(kind: BottleneckKind, sentence: str, remedy: str) -> Explanation:
    reason = f"the response times are not the server's alone: {sentence}"
    return Explanation(kind=kind, sentence=sentence, remedy=remedy, reason=reason)


def busy_generator(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    busy = (generator_cpu(use, resources) or host_generator_cpu(use, resources)) if is_met(use, resources) else None
    return _delayed(busy.kind, busy.sentence, busy.remedy) if busy is not None else None


def sent_late(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The load generator's own delay is a part of the response times."""
    late = next((one for one in use.late if one.late_ms > acceptable_ms(one)), None)
    if late is None or not is_met(use, resources):
        return None
    sentence = (
        f"the load generator itself delayed requests by {late.late_ms:.3g} ms at {late.percentile}, "
        f"acceptable are {acceptable_ms(late):.3g} ms"
    )
    remedy = f"leave the load generator's CPUs to it alone, or {more_cpus(resources)}"
    return _delayed(BottleneckKind.GENERATOR_LATE, sentence, remedy)


def acceptable_ms(late: Lateness) -> float:
    """The most of a response time that may be the load generator's."""
    share = limit.LATE_SHARE * late.of_ms
    return share if late.has_objective else max(limit.LATE_LEAST_MS, share)
