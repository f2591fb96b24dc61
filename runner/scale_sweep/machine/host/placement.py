"""Chooses the CPUs of server and load generator, by what they share: cores, L3 domains, NUMA nodes, kinds."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence

from scale_sweep.machine.host.host_facts import Cpu, Host
from scale_sweep.model.resources import Placement

Core = tuple[int, int]  # package and core


class Topology:
    """The usable CPUs of a machine: those allowed, at most as many as the quota."""

    def __init__(self, host: Host) -> None:
        usable = sorted((cpu for cpu in host.cpus if cpu.id in host.allowed), key=lambda cpu: cpu.id)
        self.core = {cpu.id: (cpu.package, cpu.core) for cpu in host.cpus}
        self.node = {cpu.id: cpu.node for cpu in host.cpus}
        self.kind = {cpu.id: cpu.kind for cpu in host.cpus}
        self.thread = _threads(usable)  # 0 for the first CPU of a core
        ranked = sorted(usable, key=lambda c: (self.thread[c.id], c.kind, c.node, c.package, c.l3, c.core, c.id))
        ranked = ranked[: max(1, int(host.cpus_max))]  # more busy CPUs, and the kernel stops server and load in turn
        self.order = tuple(cpu.id for cpu in ranked)  # as a server gets them
        self.cores = tuple(dict.fromkeys(self.core[cpu] for cpu in self.order))
        self.threads: dict[Core, list[int]] = {core: [] for core in self.cores}
        for cpu in self.order:
            self.threads[self.core[cpu]].append(cpu)
        numbers: dict[tuple[int, int, int], int] = {}
        for one in ranked:
            numbers.setdefault(_cache(one), len(numbers))
        self.domain_count = len(numbers)  # of L3 caches, numbered in the order of the CPUs
        self.domain = {cpu.id: numbers[_cache(cpu)] for cpu in host.cpus if _cache(cpu) in numbers}

    def domains_of(self, cpus: Iterable[int]) -> set[int]:
        return {self.domain[cpu] for cpu in cpus if cpu in self.domain}

    def is_edge(self, count: int) -> bool:
        """Whether the first `count` cores fill whole L3 domains."""
        before, after = self.cores[:count], self.cores[count:]
        return not self._domains(before) & self._domains(after)

    def _domains(self, cores: Iterable[Core]) -> set[int]:
        return {self.domain[self.threads[core][0]] for core in cores}

    def changes(self, cpus: Sequence[int]) -> tuple[tuple[int, str], ...]:
        """After how many of these CPUs, in their order, another part of the machine begins, and which part."""
        begun = ((count, self._begins(cpus[:count], cpus[count])) for count in range(1, len(cpus)))
        return tuple((count, what) for count, what in begun if what)

    def _begins(self, before: Sequence[int], cpu: int) -> str:
        for values, what in (
            (self.thread, "SMT siblings"),
            (self.kind, "slower cores"),
            (self.node, "another NUMA node"),
            (self.domain, "another L3 domain"),
        ):
            if values[cpu] not in {values[one] for one in before}:
                return what
        return ""


def _cache(cpu: Cpu) -> tuple[int, int, int]:
    return (cpu.node, cpu.package, cpu.l3)


def _threads(cpus: Iterable[Cpu]) -> dict[int, int]:
    """Counted from 0 in each core."""
    seen: dict[Core, int] = {}
    numbers = {}
    for cpu in cpus:
        core = (cpu.package, cpu.core)
        numbers[cpu.id] = seen.get(core, 0)
        seen[core] = numbers[cpu.id] + 1
    return numbers


@functools.lru_cache(maxsize=4)
def topology(host: Host) -> Topology:
    return Topology(host)


CORES_EACH = 8  # physical cores of the machine for each one that the load generator keeps
FEW_CORES = 2  # physical cores of a machine on which server and load generator share, if the server asks for all


def cpu_order(host: Host) -> tuple[int, ...]:
    """The usable CPUs as a server gets them: first threads of node 0, of node 1, ..., then the second threads."""
    return topology(host).order


def server_cpus_max(
    host: Host, server_cpus: Sequence[int], generator_cpus: Sequence[int], *, shares: bool = False
) -> int:
    """How many CPUs the server may have beside the load generator. server_cpus, generator_cpus: named by the user.
    shares: the load generator runs on the server's."""
    top = topology(host)
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
    """The CPUs of a level. cores_max: of the largest level. server_cpus, generator_cpus, shares: as
    `server_cpus_max`."""
    top = topology(host)
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
    """The user's CPUs, then those whose core is the server's alone, outside of the load generator's L3 domains first;
    then siblings of the load generator's CPUs, then these."""
    touched, domains = _cores(top, theirs), top.domains_of(theirs)
    rest = sorted(
        (cpu for cpu in top.order if cpu not in server_cpus),
        key=lambda c: (c in theirs, top.core[c] in touched, top.thread[c], top.kind[c], top.domain[c] in domains),
    )
    return (*server_cpus, *rest)


def _beside(top: Topology, used: Sequence[int]) -> tuple[int, ...]:
    """The load generator's CPUs if the user named the server's: whole cores, else single CPUs, else the last CPU."""
    free = tuple(cpu for cpu in top.order if cpu not in used)
    whole = tuple(cpu for cpu in free if top.core[cpu] not in _cores(top, used))
    return _outside(top, whole, used) or free or tuple(used[-1:])


def _outside(top: Topology, theirs: tuple[int, ...], used: Sequence[int]) -> tuple[int, ...]:
    """The load generator's CPUs outside of the server's L3 domains, if they are enough; else all."""
    domains = top.domains_of(used)
    apart = tuple(cpu for cpu in theirs if top.domain[cpu] not in domains)
    return apart if len(_cores(top, apart)) >= _part(top, whole_domains=False) else theirs


def _part(top: Topology, *, whole_domains: bool) -> int:
    """How many cores the load generator keeps: one in eight. whole_domains: rounded up to whole L3 domains, up to a
    quarter."""
    count = len(top.cores)
    eighth = math.ceil(count / CORES_EACH)
    if not whole_domains:
        return eighth
    at_edges = (n for n in range(eighth, count // 4 + 1) if top.is_edge(count - n))
    return next(at_edges, eighth)


def _reserved(top: Topology, most: int) -> tuple[int, ...]:
    """The load generator's CPUs if the user named none: the last whole cores, as many as the largest level leaves free,
    at least its part if the server fits beside it; else single free CPUs, else the last core, shared."""
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
