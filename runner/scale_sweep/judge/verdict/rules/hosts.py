"""Rules about hosts of their own: the network between load and server, and the CPUs of each load host."""

from __future__ import annotations

from collections.abc import Callable

from scale_sweep.judge.verdict.evidence import HostUse, ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.rule import Explanation
from scale_sweep.judge.verdict.thresholds import (
    GENERATOR_FULL,
    GENERATOR_SPENT,
    NETWORK_FULL,
    OTHERS_CORES,
    OTHERS_EXPLAIN,
    RESENT,
)
from scale_sweep.model import BottleneckKind

ANOTHER_HOST = "another load host, or one with more CPUs"


def host_network(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """A host moved nearly as much as a stream did, in one direction."""
    used = [(share, way, host) for host in use.hosts for way, share in host.network.items()]
    if not used:
        return None
    share, way, host = max(used, key=lambda one: one[0])
    if share < NETWORK_FULL:
        return None
    resent = host.resent or 0.0
    again = f", and sent {100 * resent:.1f} % of its segments again" if resent >= RESENT else ""
    return Explanation(
        kind=BottleneckKind.NETWORK,
        sentence=f"the network of {host.name} was full: it {way} {100 * share:.0f} % of the rate of a stream{again}",
        remedy=f"a faster network for {host.name}, or smaller rows",
    )


def host_generator_spent(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The load generator's CPUs of a host had no idle time: it could not ask for more, whatever the server used."""
    return _busiest(use, lambda host: (host.load_cores or 0.0) / host.cpus, GENERATOR_SPENT)


def host_generator_cpu(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    return _busiest(use, lambda host: (host.load_cores or 0.0) / host.cpus, GENERATOR_FULL)


def _busiest(use: ResourceUse, share_of: Callable[[HostUse], float], least: float) -> Explanation | None:
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
    """The hypervisor of a load host took what its load generator lacked, more than other programs did."""
    host = _crowded(use)
    stolen = (host.stolen_cores or 0.0) if host is not None else 0.0
    if host is None or stolen <= (host.other_cores or 0.0):
        return None
    return Explanation(
        kind=BottleneckKind.HYPERVISOR,
        sentence=f"the hypervisor took {stolen:.2f} of {host.name}'s cores, which the load generator lacked",
        remedy="another time, or a load host with dedicated CPUs",
    )


def host_other_processes(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Other programs on a load host took what its load generator lacked."""
    host = _crowded(use)
    others = (host.other_cores or 0.0) if host is not None else 0.0
    if host is None or (host.stolen_cores or 0.0) > others:
        return None
    return Explanation(
        kind=BottleneckKind.OTHER_PROCESSES,
        sentence=f"other processes on {host.name} used {others:.2f} cores, which the load generator lacked",
        remedy=f"stop them, or take another load host than {host.name}",
    )


def _crowded(use: ResourceUse) -> HostUse | None:
    """The load host whose CPUs were full because of others; None if there is none."""
    full = [host for host in use.hosts if (host.busy or 0.0) >= GENERATOR_FULL and _taken(host) >= OTHERS_CORES]
    explained = [host for host in full if _taken(host) >= OTHERS_EXPLAIN * (host.cpus - (host.load_cores or 0.0))]
    return max(explained, key=_taken, default=None)


def _taken(host: HostUse) -> float:
    return (host.other_cores or 0.0) + (host.stolen_cores or 0.0)
