"""Which CPUs each side gets. Pure: the machine's facts in, CPU numbers out.

Physical cores before SMT siblings, one NUMA node before the next: all first threads of node 0, then of node 1, ...,
then the second threads in the same order. A step of the curve is a whole core for as long as there are whole cores;
the price, remote memory before siblings on machines with several nodes, is what a server of that size pays too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from runner.host.facts import Host
from runner.model import Placement


def cpu_order(host: Host) -> tuple[int, ...]:
    """The usable CPUs in the order in which they are given to the server."""
    threads_seen: dict[tuple[int, int], int] = {}
    ranked = []
    for cpu in sorted((c for c in host.cpus if c.id in host.allowed), key=lambda c: c.id):
        key = (cpu.package, cpu.core)
        thread = threads_seen.get(key, 0)
        threads_seen[key] = thread + 1
        ranked.append((thread, cpu.node, cpu.package, cpu.core, cpu.id))
    return tuple(cpu for *_, cpu in sorted(ranked))


def place(
    host: Host, cores: float, server_cpus: Sequence[int], client_cpus: Sequence[int], cores_max: float
) -> Placement:
    """CPUs for a level of `cores`. The generator's are those that the largest level leaves free, the same at every
    level; else those that this level leaves free; else it shares the server's last one."""
    order = tuple(server_cpus) or tuple(c for c in cpu_order(host) if c not in client_cpus)
    rest = tuple(c for c in cpu_order(host) if c not in order)
    if len(order) < math.ceil(cores_max):
        order, rest = (*order, *(c for c in cpu_order(host) if c not in order)), ()
    count = math.ceil(cores)
    mine = order[:count]
    left_by_all = (*order[math.ceil(cores_max) :], *rest)
    left_here = (*order[count:], *rest)
    theirs = tuple(client_cpus) or left_by_all or left_here or mine[-1:]
    return Placement(server_cpus=mine, client_cpus=theirs, quota_cores=cores if cores != count else None)
