"""Chooses the CPUs of server and load generator. Pure: from the machine's facts to CPU numbers.

The load generator has the same CPUs at every level: whole physical cores that the largest level leaves free, with their
SMT siblings. The server gets the rest: physical cores before SMT siblings, one NUMA node before the next. So a step of
the curve is a whole core as long as whole cores are left. If that is not possible, the placement names the CPUs that
are siblings of others, and the plan reports them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from scale_sweep.machine.host.host_facts import Host
from scale_sweep.model import Placement

Core = tuple[int, int]  # package and core, as the kernel numbers them
SERVER_CORES_EACH = 8  # physical cores for each one that the load generator keeps when the server asks for nearly all


def cpu_order(host: Host) -> tuple[int, ...]:
    """The usable CPUs: first threads of node 0, then of node 1, ..., then the second threads in the same order."""
    threads_seen: dict[Core, int] = {}
    ranked = []
    for cpu in sorted((c for c in host.cpus if c.id in host.allowed), key=lambda c: c.id):
        key = (cpu.package, cpu.core)
        thread = threads_seen.get(key, 0)
        threads_seen[key] = thread + 1
        ranked.append((thread, cpu.node, cpu.package, cpu.core, cpu.id))
    return tuple(cpu for *_, cpu in sorted(ranked))


def place(
    host: Host, cores: float, server_cpus: Sequence[int], generator_cpus: Sequence[int], cores_max: float
) -> Placement:
    """The CPUs of a level. cores_max: of the largest level. server_cpus, generator_cpus: those that the user named.

    A server with more cores than this machine runs on another one: the load generator has all CPUs of this machine.
    """
    order, core_of = cpu_order(host), _core_of(host)
    most, count = math.ceil(cores_max), math.ceil(cores)
    if most > len(order) and not server_cpus:
        return Placement(server_cpus=(), generator_cpus=tuple(generator_cpus) or order)
    if generator_cpus:
        theirs = tuple(generator_cpus)
    elif server_cpus:
        theirs = _beside(order, core_of, server_cpus[:most])
    else:
        theirs = _reserved(order, core_of, most)
    mine = _for_the_server(order, core_of, server_cpus, theirs)[:count]
    return Placement(
        server_cpus=mine,
        generator_cpus=theirs,
        quota_cores=cores if cores != count else None,
        smt_cpus=tuple(cpu for i, cpu in enumerate(mine) if core_of.get(cpu) in _cores(mine[:i], core_of)),
        sibling_cpus=tuple(c for c in theirs if c not in mine and core_of.get(c) in _cores(mine, core_of)),
        nodes=tuple(sorted({c.node for c in host.cpus if c.id in mine})),
    )


def _core_of(host: Host) -> Mapping[int, Core]:
    return {cpu.id: (cpu.package, cpu.core) for cpu in host.cpus}


def _cores(cpus: Iterable[int], core_of: Mapping[int, Core]) -> set[Core | None]:
    return {core_of.get(cpu) for cpu in cpus}


def _for_the_server(
    order: Sequence[int], core_of: Mapping[int, Core], server_cpus: Sequence[int], theirs: Sequence[int]
) -> tuple[int, ...]:
    """The CPUs that the user named, then those whose core is the server's alone, then siblings of the generator's CPUs,
    then the load generator's own."""
    touched = _cores(theirs, core_of)
    rest = sorted((c for c in order if c not in server_cpus), key=lambda c: (c in theirs, core_of[c] in touched))
    return (*server_cpus, *rest)


def _beside(order: Sequence[int], core_of: Mapping[int, Core], used: Sequence[int]) -> tuple[int, ...]:
    """The load generator's CPUs if the user named the server's: whole cores, else single CPUs, else the last CPU."""
    free = tuple(c for c in order if c not in used)
    whole = tuple(c for c in free if core_of[c] not in _cores(used, core_of))
    return whole or free or tuple(used[-1:])


def _reserved(order: Sequence[int], core_of: Mapping[int, Core], most: int) -> tuple[int, ...]:
    """The load generator's CPUs if the user named none: the last whole cores.

    It gets as many as the server's largest level leaves free on cores of their own; at least one in eight if the server
    can have its CPUs beside them. Else it gets single free CPUs, else the last core, which it then shares with the
    server.
    """
    cores = list(dict.fromkeys(core_of[c] for c in order))
    threads = {core: [c for c in order if core_of[c] == core] for core in cores}
    wanted = max(len(cores) - most, math.ceil(len(cores) / SERVER_CORES_EACH))
    while wanted > 0 and sum(len(threads[core]) for core in cores[:-wanted]) < most:
        wanted -= 1
    if wanted > 0:
        last = set(cores[-wanted:])
        return tuple(c for c in order if core_of[c] in last)
    last_core = threads[cores[-1]]
    left = len(order) - most
    if left > 0 or len(cores) == 1:
        return tuple(last_core[-max(1, left) :])
    return tuple(last_core)
