"""Chooses the CPUs of server and load generator."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from scale_sweep.machine.host.host_facts import Host
from scale_sweep.machine.host.topology import Core, Topology
from scale_sweep.model import Placement

CORES_EACH = 8  # physical cores of the machine for each one that the load generator keeps
FEW_CORES = 2  # physical cores of a machine on which server and load generator share, if the server asks for all


def cpu_order(host: Host) -> tuple[int, ...]:
    """The usable CPUs in the order in which a server gets them: first threads of node 0, then of node 1, ..., then the
    second threads in the same order."""
    return Topology(host).order


def server_cpus_max(
    host: Host, server_cpus: Sequence[int], generator_cpus: Sequence[int], *, shares: bool = False
) -> int:
    """How many CPUs the server may have beside the load generator: those that the user named for it, or left to it, or
    all but the load generator's part. server_cpus, generator_cpus: those that the user named. shares: the load
    generator runs on those of the server."""
    top = Topology(host)
    if server_cpus:
        return len(server_cpus)
    if not host.makes_load or shares:
        return len(top.order)
    if generator_cpus:
        return sum(cpu not in generator_cpus for cpu in top.order) or len(top.order)
    if len(top.cores) <= FEW_CORES:
        return len(top.order)
    return sum(len(top.threads[core]) for core in top.cores[: -_part(top, whole_domains=True)])


def place(
    host: Host,
    cores: float,
    server_cpus: Sequence[int],
    generator_cpus: Sequence[int],
    cores_max: float,
    *,
    shares: bool = False,
) -> Placement:
    """The CPUs of a level. cores_max: of the largest level. server_cpus, generator_cpus: those that the user named.
    shares: the load generator runs on the server's.

    A server with more cores than this machine runs on another one: the load generator has all CPUs of this machine. If
    the load is made elsewhere, all CPUs are the server's.
    """
    top = Topology(host)
    most, count = math.ceil(cores_max), math.ceil(cores)
    if not host.makes_load or shares:
        alone = _for_the_server(top, server_cpus, ())[:count]
        return _described(top, alone, alone if shares else (), cores if cores != count else None)
    if most > len(top.order) and not server_cpus:
        return Placement(server_cpus=(), generator_cpus=tuple(generator_cpus) or top.order)
    if generator_cpus:
        theirs = tuple(generator_cpus)
    elif server_cpus:
        theirs = _beside(top, server_cpus[:most])
    else:
        theirs = _reserved(top, most)
    mine = _for_the_server(top, server_cpus, theirs)[:count]
    return _described(top, mine, theirs, cores if cores != count else None)


def _described(top: Topology, mine: tuple[int, ...], theirs: tuple[int, ...], quota: float | None) -> Placement:
    """The placement with the kinds of its CPUs."""
    nodes = tuple(sorted({top.node[cpu] for cpu in mine if cpu in top.node}))
    fastest = min((top.kind[cpu] for cpu in mine if cpu in top.kind), default=0)
    domains, cores = top.domains_of(mine), _cores(top, mine)
    firsts = {core: cpu for cpu in reversed(mine) if (core := top.core.get(cpu))}
    return Placement(
        server_cpus=mine,
        generator_cpus=theirs,
        quota_cores=quota,
        smt_cpus=tuple(cpu for cpu in mine if cpu in top.core and firsts[top.core[cpu]] != cpu),
        sibling_cpus=tuple(cpu for cpu in theirs if cpu not in mine and top.core.get(cpu) in cores),
        nodes=nodes,
        memory_nodes=nodes if len(nodes) == 1 and len(set(top.node.values())) > 1 else (),
        l3_domains=tuple(sorted(domains)),
        shared_l3_domains=tuple(sorted(domains & top.domains_of(theirs))) if top.domain_count > 1 else (),
        slow_cpus=tuple(cpu for cpu in mine if top.kind.get(cpu, fastest) > fastest),
    )


def _cores(top: Topology, cpus: Iterable[int]) -> set[Core | None]:
    return {top.core.get(cpu) for cpu in cpus}


def _for_the_server(top: Topology, server_cpus: Sequence[int], theirs: Sequence[int]) -> tuple[int, ...]:
    """The CPUs that the user named, then those whose core is the server's alone, outside of the load generator's L3
    domains first; then siblings of the load generator's CPUs, then the load generator's own."""
    touched, domains = _cores(top, theirs), top.domains_of(theirs)
    rest = sorted(
        (cpu for cpu in top.order if cpu not in server_cpus),
        key=lambda cpu: (
            cpu in theirs,
            top.core[cpu] in touched,
            top.thread[cpu],
            top.kind[cpu],
            top.domain[cpu] in domains,
        ),
    )
    return (*server_cpus, *rest)


def _beside(top: Topology, used: Sequence[int]) -> tuple[int, ...]:
    """The load generator's CPUs if the user named the server's: whole cores, outside of the server's L3 domains if
    these are enough; else single CPUs, else the last CPU."""
    free = tuple(cpu for cpu in top.order if cpu not in used)
    whole = tuple(cpu for cpu in free if top.core[cpu] not in _cores(top, used))
    return _outside(top, whole, used) or free or tuple(used[-1:])


def _outside(top: Topology, theirs: tuple[int, ...], used: Sequence[int]) -> tuple[int, ...]:
    """Those CPUs of the load generator that are outside of the server's L3 domains, if they are enough; else all."""
    domains = top.domains_of(used)
    apart = tuple(cpu for cpu in theirs if top.domain[cpu] not in domains)
    return apart if len(_cores(top, apart)) >= _part(top, whole_domains=False) else theirs


def _part(top: Topology, *, whole_domains: bool) -> int:
    """How many physical cores the load generator keeps: one in eight. whole_domains: rounded up to whole L3 domains,
    unless these are more than a quarter of the machine."""
    count = len(top.cores)
    eighth = math.ceil(count / CORES_EACH)
    if not whole_domains:
        return eighth
    at_edges = (n for n in range(eighth, count // 4 + 1) if top.is_edge(count - n))
    return next(at_edges, eighth)


def _reserved(top: Topology, most: int) -> tuple[int, ...]:
    """The load generator's CPUs if the user named none: the last whole cores.

    It gets as many as the server's largest level leaves free on cores of their own; at least its part if the server
    can have its CPUs beside them, in whole L3 domains if the server needs SMT siblings anyway. Else it gets single free
    CPUs, else the last core, which it then shares with the server.
    """
    cores = top.cores
    needs_siblings = most > len(cores) - _part(top, whole_domains=False)
    wanted = max(len(cores) - most, _part(top, whole_domains=needs_siblings))
    while wanted > 0 and sum(len(top.threads[core]) for core in cores[:-wanted]) < most:
        wanted -= 1
    if wanted > 0:
        last = set(cores[-wanted:])
        theirs = tuple(cpu for cpu in top.order if top.core[cpu] in last)
        return _outside(top, theirs, [cpu for cpu in top.order if cpu not in theirs][:most])
    last_core = top.threads[cores[-1]]
    left = len(top.order) - most
    if left > 0 or len(cores) == 1:
        return tuple(last_core[-max(1, left) :])
    return tuple(last_core)
