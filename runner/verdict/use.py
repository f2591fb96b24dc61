"""What the rules of attribution look at: what was used over some time, and what was given. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Given:
    """What both sides had. quota: the server's cores are CPU time, not whole CPUs. threads: of the generator, each with
    one request in flight at most. shared_cpus: how many CPUs both sides may use."""

    cores: float
    quota: bool
    client_cpus: int
    shared_cpus: int
    threads: int
    ceiling_rows_per_s: float | None = None
    offered_rows_per_s: float | None = None
    disk_ceilings_mb_per_s: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Use:
    """Over a window, or one second of it; None where it was not read.

    throttled: share of the time in which the server was held back by its quota. hot_thread: the server's busiest single
    thread by pool name, with the cores that it used. in_flight: share of the generator's threads that waited for an
    answer. stolen_cores: what the hypervisor took from this machine (steal time).
    """

    rows_per_s: float | None = None
    server_cores: float | None = None
    client_cores: float | None = None
    other_cores: float | None = None
    stolen_cores: float | None = None
    throttled: float | None = None
    hot_thread: tuple[str, float] | None = None
    disk_busy_percent: Mapping[str, float] = field(default_factory=dict)
    disk_mb_per_s: Mapping[str, float] = field(default_factory=dict)
    io_waiting_percent: float | None = None
    memory_waiting_percent: float | None = None
    in_flight: float | None = None

    @property
    def taken_cores(self) -> float:
        """By other processes and the hypervisor together."""
        return (self.other_cores or 0.0) + (self.stolen_cores or 0.0)
