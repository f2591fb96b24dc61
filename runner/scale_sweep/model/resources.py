"""The resources of a trial, the server that gets them, and the cost of its memory pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

CORES, DISKS, MEMORY, CLIENTS = "cores", "disks", "memory", "clients"
GIVEN_BY_THE_LOAD = frozenset({CLIENTS})  # the others are a runtime's


@dataclass(frozen=True, kw_only=True)
class Amount:
    value: float
    unit: str  # core, disk, byte, client


Amounts = Mapping[str, Amount]


@dataclass(frozen=True, kw_only=True)
class Placement:
    server_cpus: tuple[int, ...]
    generator_cpus: tuple[int, ...]
    quota_cores: float | None = None  # the server's CPU time, if no whole number of CPUs
    smt_cpus: tuple[int, ...] = ()  # of the server, whose siblings it has too: no whole cores
    sibling_cpus: tuple[int, ...] = ()  # of the load generator, siblings of the server's
    nodes: tuple[int, ...] = ()  # of the server's CPUs (NUMA)
    memory_nodes: tuple[int, ...] = ()  # to which the server's memory is bound
    l3_domains: tuple[int, ...] = ()  # of the server's CPUs
    shared_l3_domains: tuple[int, ...] = ()  # with CPUs of the load generator too
    slow_cpus: tuple[int, ...] = ()  # of a slower kind than the server's fastest

    @property
    def shared(self) -> tuple[int, ...]:
        return tuple(c for c in self.server_cpus if c in self.generator_cpus)


@dataclass(frozen=True, kw_only=True)
class Resources:
    amounts: Amounts  # an absent one is not limited
    placement: Placement

    def value(self, quantity: str) -> float | None:
        """None: not limited."""
        amount = self.amounts.get(quantity)
        return None if amount is None else amount.value

    @property
    def cores(self) -> float:
        return self.amounts[CORES].value

    @property
    def disks(self) -> int:
        """Counted from d1; 0: the data is in --data-dir."""
        return int(self.value(DISKS) or 0)

    @property
    def memory_bytes(self) -> int | None:
        """None: all memory of the machine."""
        limit = self.value(MEMORY)
        return None if limit is None else int(limit)


@dataclass(frozen=True, kw_only=True)
class ResourceRange:
    cores: tuple[float, ...]
    disks: tuple[int, ...] = ()  # empty: none are prepared
    connections: tuple[int, ...] = ()  # empty: not set by the axis
    memory_bytes: int | None = None  # the least of a server


def on_cores(count: float, placement: Placement) -> Resources:
    """A server that has only its cores."""
    return Resources(amounts={CORES: Amount(value=count, unit="core")}, placement=placement)


LOOPBACK = "127.0.0.1"


class ServerSource(StrEnum):
    INSTALLATION = "installation"
    IMAGE = "image"
    ENDPOINT = "endpoint"
    SIMULATION = "simulation"


@dataclass(frozen=True, kw_only=True)
class SiteRequest:
    """Before a trial's server is described."""

    run_id: str
    trial_id: str
    data_dir: str
    home: str
    port: int | None = None  # None: a free one
    endpoint: str = ""  # host:port of a server that runs already
    disks: tuple[str, ...] = ()  # mount points
    programs: tuple[str, ...] = ()  # outside its home
    address: str = LOOPBACK  # of this machine


@dataclass(frozen=True, kw_only=True)
class Site:
    """A server's place, as the server sees it."""

    data_dir: str
    port: int
    bind_address: str
    home: str = ""
    disks: tuple[str, ...] = ()  # a directory on each disk, from d1 on; empty: in data_dir
    disk_placement: str = ""  # disk_placement, wal_disk: over the disks
    wal_disk: str = ""
    copies: Mapping[str, str] = field(default_factory=dict)  # of programs that the server's user may not reach
    in_image: bool = False  # programs are a container image's
    address: str = LOOPBACK

    def reachable(self, program: str) -> str:
        """A requested program or its copy."""
        return self.copies.get(program, program)


@dataclass(frozen=True, kw_only=True)
class ServerSpec:
    """With paths as the server sees them. folders, links (path → destination), files (path → text): made in this
    order."""

    argv: tuple[str, ...]
    setup: tuple[tuple[str, ...], ...] = ()  # run before argv, one after the other; not on existing files
    env: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()  # all TCP ports that it listens on
    image: str = ""
    counts: str = ""  # of a simulated server: the file in which it counts its work
    hostname: str = ""
    needs_root: str = ""  # why it runs as root where `scale` does
    log_paths: tuple[str, ...] = ()  # besides standard output
    stop_signal: str = "SIGTERM"  # for stop_process; "": the first one
    clean_stop_signal: str = ""  # if the files are used again; "": the same
    stop_process: str = ""
    stop_timeout_s: float = 60.0


@dataclass(frozen=True, kw_only=True)
class ServerOrder:
    spec: ServerSpec
    site: Site
    resources: Resources
    run_id: str
    trial_id: str
    level: str = ""  # in words


@dataclass(frozen=True, kw_only=True)
class Accounting:
    """Where to read CPU time and memory. cgroup1: paths has "cpuacct", "memory" and possibly "cpu"; cgroup2: "unified";
    processes: root_pids and their descendants, and possibly "cpu", the group whose quota they have; counts: the file
    "counts", in which a simulated server counts its work."""

    kind: Literal["cgroup1", "cgroup2", "processes", "counts"]
    paths: Mapping[str, str] = field(default_factory=dict)
    root_pids: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NewPages:
    """CPU time of one new page of 4 KiB, in microseconds."""

    first_us: float
    again_us: float  # the same pages, touched again at once
    last_us: float
    touched_bytes: int
    cheap_bytes: int | None  # from here on at least twice as dear; None: not within touched_bytes
    available_bytes: int  # for new pages

    @property
    def are_dear(self) -> bool:
        return self.cheap_bytes is not None

    @property
    def sentence(self) -> str:
        if self.cheap_bytes is None:
            return f"a new memory page costs {self.last_us:.1f} µs of CPU time, also after {_gb(self.touched_bytes)}"
        if self.cheap_bytes == 0:
            return (
                f"a new memory page costs {self.last_us:.1f} µs of CPU time, and {self.again_us:.1f} µs "
                "if it was freed just before"
            )
        return (
            f"a new memory page costs {self.first_us:.1f} µs of CPU time, and {self.last_us:.1f} µs "
            f"after {_gb(self.cheap_bytes)}"
        )


def _gb(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
