"""Resources: what the levels grant one trial, as amounts by quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CORES, DISKS, MEMORY, CLIENTS = "cores", "disks", "memory", "clients"
GIVEN_BY_THE_LOAD = frozenset({CLIENTS})  # as connections of the load generator; the others are a runtime's


@dataclass(frozen=True, kw_only=True)
class Amount:
    """How much of one quantity."""

    value: float
    unit: str  # in the singular: core, disk, byte, client


Amounts = Mapping[str, Amount]


@dataclass(frozen=True, kw_only=True)
class Placement:
    """The CPUs that server and load generator may use. `shared`: the overlap, which a small machine cannot avoid; the
    verdict takes it into account."""

    server_cpus: tuple[int, ...]
    generator_cpus: tuple[int, ...]
    # the CPU time of the server if it is not a whole number of CPUs (0.5 of one CPU), else None
    quota_cores: float | None = None
    # CPUs of the server that are SMT siblings of another one of its own, so that they are not whole cores
    smt_cpus: tuple[int, ...] = ()
    sibling_cpus: tuple[int, ...] = ()  # CPUs of the load generator that are SMT siblings of the server's
    nodes: tuple[int, ...] = ()  # NUMA nodes of the server's CPUs
    # the node to which the server's memory is bound, if its CPUs are on one of several
    memory_nodes: tuple[int, ...] = ()
    l3_domains: tuple[int, ...] = ()  # L3 caches of the server's CPUs, numbered by the machine's order of CPUs
    shared_l3_domains: tuple[int, ...] = ()  # those that the load generator has CPUs of too, on a machine with several
    slow_cpus: tuple[int, ...] = ()  # CPUs of the server whose cores are of a slower kind than its fastest one

    @property
    def shared(self) -> tuple[int, ...]:
        """CPUs that both server and load generator may use."""
        return tuple(c for c in self.server_cpus if c in self.generator_cpus)


@dataclass(frozen=True, kw_only=True)
class Resources:
    """The resources of a trial."""

    amounts: Amounts  # by quantity; one that is absent is not limited
    placement: Placement  # the CPUs that are its cores

    def value(self, quantity: str) -> float | None:
        """The amount in its unit; None: not limited."""
        amount = self.amounts.get(quantity)
        return None if amount is None else amount.value

    @property
    def cores(self) -> float:
        """The server's cores. Every plan grants some."""
        return self.amounts[CORES].value

    @property
    def disks(self) -> int:
        """Prepared disks, counted from d1; 0: the data is in --data-dir."""
        return int(self.value(DISKS) or 0)

    @property
    def memory_bytes(self) -> int | None:
        """The server's memory limit; None: all memory of the machine."""
        limit = self.value(MEMORY)
        return None if limit is None else int(limit)


@dataclass(frozen=True, kw_only=True)
class ResourceRange:
    """The resources of all servers of a sweep, ascending. Defaults of knobs are derived from it."""

    cores: tuple[float, ...]
    disks: tuple[int, ...] = ()  # empty if no disks are prepared
    connections: tuple[int, ...] = ()  # empty if the axis does not set them
    memory_bytes: int | None = None  # the least memory of a server; None: not known


def on_cores(count: float, placement: Placement) -> Resources:
    """The resources of a server that has only its cores, as far as they are known."""
    return Resources(amounts={CORES: Amount(value=count, unit="core")}, placement=placement)
