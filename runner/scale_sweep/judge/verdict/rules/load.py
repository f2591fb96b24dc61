"""Rules about the load: its ceiling, its CPUs here and on other hosts, and offered rates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scale_sweep.base.units import format_rate
from scale_sweep.judge.verdict import thresholds as limit
from scale_sweep.judge.verdict.evidence import Explanation, HostUse, OfferedOperation, ResourceUse, TrialResources
from scale_sweep.model.measured import BottleneckKind


def more_cpus(resources: TrialResources) -> str:
    if resources.is_foreign:
        return "more CPUs for the load"
    return "add a load host" if resources.is_elsewhere else "add a CPU for the load generator (--generator-cpus)"


def more_threads(resources: TrialResources) -> str:
    """In the flags of the program."""
    return resources.more_threads or "more threads or processes of the tool"


def generator_ceiling(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The rate is near what the load generator makes without a server."""
    ceiling = resources.ceiling_per_s
    if not ceiling or use.rate_per_s is None or use.rate_per_s <= limit.CEILING * ceiling:
        return None
    unit = resources.unit
    where = f" on {' and '.join(resources.round_trips_ms)}" if resources.is_elsewhere else ""
    sentence = f"the load generator alone reaches {format_rate(ceiling)} {unit} with these {_counted(unit)}{where}"
    return Explanation(
        kind=BottleneckKind.GENERATOR_CEILING,
        sentence=sentence,
        remedy=f"{more_cpus(resources)}, and give it more --connections",
        reason=f"{sentence}; {format_rate(use.rate_per_s)} is too near to that",
    )


def _counted(unit: str) -> str:
    return unit.partition("/")[0]


def _or_method(resources: TrialResources) -> str:
    has_methods = resources.counts_rows and not resources.is_foreign
    return ", or a --method that needs less CPU" if has_methods else ""


def generator_spent(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    return _busy(use, resources, limit.GENERATOR_SPENT) if use.server_cpu_cores is not None else None


def generator_cpu(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    return _busy(use, resources, limit.GENERATOR_FULL)


def _busy(use: ResourceUse, resources: TrialResources, least: float) -> Explanation | None:
    if use.generator_cpu_cores is None or not resources.generator_cpus or resources.shared_cpus:
        return None
    share = use.generator_cpu_cores / resources.generator_cpus
    if share < least:
        return None
    return Explanation(
        kind=BottleneckKind.GENERATOR_CPU,
        sentence=f"the load generator's CPUs were {100 * share:.0f} % busy",
        remedy=more_cpus(resources) + _or_method(resources),
        link=" while ",
    )


def hot_generator_thread(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    if use.hot_generator_thread is None or use.hot_generator_thread[1] < limit.GENERATOR_HOT_CORES:
        return None
    name, cores = use.hot_generator_thread
    return Explanation(
        kind=BottleneckKind.GENERATOR_CPU,
        sentence=f"one thread of the load generator ({name}) was {100 * cores:.0f} % busy",
        remedy=more_threads(resources) if resources.is_foreign else "more --connections" + _or_method(resources),
        link=" while ",
    )


def busy_workers(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """No thread could send more."""
    if use.workers_busy is None or use.workers_busy < limit.WORKERS_BUSY:
        return None
    threads = f"each of the {resources.threads} load threads" if resources.threads > 1 else "the one load thread"
    return Explanation(
        kind=BottleneckKind.GENERATOR_CPU,
        sentence=f"{threads} was busy {100 * use.workers_busy:.0f} % of the time, client library included",
        remedy=f"{more_cpus(resources)}, and give it more --connections" + _or_method(resources),
        link=" while ",
    )


def is_paused(use: ResourceUse) -> bool:
    return use.paused_s is not None and use.paused_s >= max(limit.PAUSED_S, limit.PAUSED_SHARE * use.seconds)


def paused(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """It was stopped, or had no CPU."""
    if not is_paused(use):
        return None
    sentence = f"the load generator itself did not run for {use.paused_s:.1f} s"
    return Explanation(
        kind=BottleneckKind.GENERATOR_LATE,
        sentence=sentence,
        remedy="see what stopped it or took its CPUs at that time (SIGSTOP, other programs), and repeat the trial",
        reason=f"{sentence}: neither the rate nor the response times are the server's alone",
    )


def is_met(use: ResourceUse, resources: TrialResources) -> bool | None:
    """None in a closed loop, and if the rate is not known or the load generator's own pause changed it. The number of
    requests at random times varies by its root."""
    offered, units = resources.offered_per_s, resources.random_units
    if not offered or use.rate_per_s is None or is_paused(use):
        return None
    chance = limit.CHANCE_SIGMAS * math.sqrt(offered * units / use.seconds) if units and use.seconds > 0 else 0.0
    chance += resources.cut_units / use.seconds if use.seconds > 0 else 0.0
    return use.rate_per_s >= limit.OFFERED_MET * offered - chance and not grows(use, resources)


def grows(use: ResourceUse, resources: TrialResources) -> bool:
    """More than by chance."""
    if use.backlog_per_s is None or not resources.offered_per_s:
        return False
    return use.backlog_per_s >= limit.BACKLOG_GROWS * resources.offered_per_s


def unmet(offered: Sequence[OfferedOperation]) -> tuple[str, ...]:
    """The window's edges cut a request of each connection; the number at random times varies by its root."""
    return tuple(
        f"{one.name}: {format_rate(one.offered_per_s)} {one.unit}/s offered, {format_rate(one.achieved_per_s)} achieved"
        for one in offered
        if one.achieved_per_s < limit.OFFERED_MET * one.offered_per_s - _by_chance(one)
    )


def _by_chance(one: OfferedOperation) -> float:
    """Units per second that a window may lack although every request was answered in time."""
    if one.seconds <= 0:
        return 0.0
    requests = one.offered_per_s * one.seconds / one.units_of_request
    missing = one.connections + (limit.CHANCE_SIGMAS * math.sqrt(requests) if one.is_poisson else 0.0)
    return missing * one.units_of_request / one.seconds


def offered_rate(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    if not is_met(use, resources):
        return None
    return Explanation(
        kind=BottleneckKind.OFFERED_RATE,
        sentence=f"{format_rate(resources.offered_per_s)} {resources.unit} were offered, and no more",
        remedy="raise --rate, or leave it out",
    )


ANOTHER_HOST = "another load host, or one with more CPUs"


def host_network(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """In one direction."""
    used = [(share, way, host) for host in use.hosts for way, share in host.network.items()]
    if not used:
        return None
    share, way, host = max(used, key=lambda one: one[0])
    if share < limit.NETWORK_FULL:
        return None
    resent = host.resent or 0.0
    again = f", and sent {100 * resent:.1f} % of its segments again" if resent >= limit.RESENT else ""
    return Explanation(
        kind=BottleneckKind.NETWORK,
        sentence=f"the network of {host.name} was full: it {way} {100 * share:.0f} % of the rate of a stream{again}",
        remedy=f"a faster network for {host.name}, or smaller rows",
    )


def host_generator_spent(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    return _busiest(use, limit.GENERATOR_SPENT)


def host_generator_cpu(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    return _busiest(use, limit.GENERATOR_FULL)


def _busiest(use: ResourceUse, least: float) -> Explanation | None:
    def share_of(host: HostUse) -> float:
        return (host.load_cpu_cores or 0.0) / host.cpus

    host = max((one for one in use.hosts if one.cpus), key=share_of, default=None)
    if host is None or share_of(host) < least:
        return None
    return Explanation(
        kind=BottleneckKind.GENERATOR_CPU,
        sentence=f"the load generator's CPUs of {host.name} were {100 * share_of(host):.0f} % busy",
        remedy=ANOTHER_HOST,
        link=" while ",
    )


def host_hypervisor(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """More than other programs did."""
    host = _crowded(use)
    stolen = (host.stolen_cpu_cores or 0.0) if host is not None else 0.0
    if host is None or stolen <= (host.other_cpu_cores or 0.0):
        return None
    return Explanation(
        kind=BottleneckKind.HYPERVISOR,
        sentence=f"the hypervisor took {stolen:.2f} of {host.name}'s cores, which the load generator lacked",
        remedy="another time, or a load host with dedicated CPUs",
    )


def host_other_processes(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    host = _crowded(use)
    others = (host.other_cpu_cores or 0.0) if host is not None else 0.0
    if host is None or (host.stolen_cpu_cores or 0.0) > others:
        return None
    return Explanation(
        kind=BottleneckKind.OTHER_PROCESSES,
        sentence=f"other processes on {host.name} used {others:.2f} cores, which the load generator lacked",
        remedy=f"stop them, or take another load host than {host.name}",
    )


def _crowded(use: ResourceUse) -> HostUse | None:
    full = [h for h in use.hosts if (h.busy or 0.0) >= limit.GENERATOR_FULL and _taken(h) >= limit.OTHERS_CORES]
    explained = [
        host for host in full if _taken(host) >= limit.OTHERS_EXPLAIN * (host.cpus - (host.load_cpu_cores or 0.0))
    ]
    return max(explained, key=_taken, default=None)


def _taken(host: HostUse) -> float:
    return (host.other_cpu_cores or 0.0) + (host.stolen_cpu_cores or 0.0)
