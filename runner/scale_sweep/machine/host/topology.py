"""The order of a machine's CPUs, and what they share: cores, L3 domains, NUMA nodes, kinds of cores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scale_sweep.machine.host.host_facts import Cpu, Host

Core = tuple[int, int]  # package and core, as the kernel numbers them


class Topology:
    """The usable CPUs of a machine: those allowed, at most as many as the quota.

    order: as a server gets them. cores: in the same order; threads: the CPUs of each. core, thread, node, kind, domain:
    of each CPU; thread 0 is the first CPU of its core, kind 0 the fastest kind of core. Domains are L3 caches, numbered
    in this order.
    """

    def __init__(self, host: Host) -> None:
        usable = sorted((cpu for cpu in host.cpus if cpu.id in host.allowed), key=lambda cpu: cpu.id)
        self.core = {cpu.id: (cpu.package, cpu.core) for cpu in host.cpus}
        self.node = {cpu.id: cpu.node for cpu in host.cpus}
        self.kind = {cpu.id: cpu.kind for cpu in host.cpus}
        self.thread = _threads(usable)
        ranked = sorted(usable, key=lambda c: (self.thread[c.id], c.kind, c.node, c.package, c.l3, c.core, c.id))
        ranked = ranked[: max(1, int(host.cpus_max))]  # more busy CPUs, and the kernel stops server and load in turn
        self.order = tuple(cpu.id for cpu in ranked)
        self.cores = tuple(dict.fromkeys(self.core[cpu] for cpu in self.order))
        self.threads: dict[Core, list[int]] = {core: [] for core in self.cores}
        for cpu in self.order:
            self.threads[self.core[cpu]].append(cpu)
        numbers: dict[tuple[int, int, int], int] = {}
        for one in ranked:
            numbers.setdefault(_cache(one), len(numbers))
        self.domain_count = len(numbers)
        self.domain = {cpu.id: numbers[_cache(cpu)] for cpu in host.cpus if _cache(cpu) in numbers}

    def domains_of(self, cpus: Iterable[int]) -> set[int]:
        """The L3 domains of some CPUs."""
        return {self.domain[cpu] for cpu in cpus if cpu in self.domain}

    def is_edge(self, count: int) -> bool:
        """Whether the first `count` cores fill whole L3 domains."""
        before, after = self.cores[:count], self.cores[count:]
        return not self._domains(before) & self._domains(after)

    def _domains(self, cores: Iterable[Core]) -> set[int]:
        return {self.domain[self.threads[core][0]] for core in cores}

    def changes(self, cpus: Sequence[int]) -> tuple[tuple[int, str], ...]:
        """After how many of these CPUs, in their order, another part of the machine begins, and which part."""
        edges = []
        for count in range(1, len(cpus)):
            if what := self._begins(cpus[:count], cpus[count]):
                edges.append((count, what))
        return tuple(edges)

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
    """Which CPU of its core each one is, counted from 0."""
    seen: dict[Core, int] = {}
    numbers = {}
    for cpu in cpus:
        core = (cpu.package, cpu.core)
        numbers[cpu.id] = seen.get(core, 0)
        seen[core] = numbers[cpu.id] + 1
    return numbers
