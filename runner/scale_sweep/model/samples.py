"""Samples, each of one tick: counters of server, load generator, machine and disks. Refuses to make rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model.disk_facts import DiskSample
from scale_sweep.model.host_samples import HostSample


@dataclass(frozen=True, kw_only=True)
class SubjectSample:
    """Counters of the server or of the load generator at one tick. Names with _total are cumulative."""

    cpu_s_total: float | None
    throttled_s_total: float | None
    memory_bytes: int | None
    system_s_total: float | None = None  # the part of the CPU time that the kernel used for it
    page_faults_total: int | None = None  # pages that it touched and that were not mapped, new ones and others


@dataclass(frozen=True, kw_only=True)
class CpuWork:
    """How fast the server's CPUs did the same small piece of work, at one time. Totals since the trial's start: CPU
    time in microseconds, the number of pieces, and the sum of their speeds in pieces for each millisecond of it."""

    monotonic_ns: int
    cpu_us_total: float
    pieces_total: int
    speed_total: float


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One tick of the sampler. Counters are cumulative; rates are computed later from differences."""

    monotonic_ns: int
    server: SubjectSample
    generator: SubjectSample
    memory_available_bytes: int | None
    # seconds in which some task waited, by resource (cpu, io, memory), if the kernel has PSI
    psi_some_s_total: Mapping[str, float]
    thread_cpu_s_total: Mapping[str, float]  # CPU seconds of the server's threads by thread name, if requested
    host_cpu_busy_s_total: float | None = None  # CPU seconds of the whole machine
    host_cpu_stolen_s_total: float | None = None  # those that its hypervisor took
    disks: Mapping[str, DiskSample] = field(default_factory=dict)  # by name (d1, d2)
    # cores that the busiest single thread of each name used since the sample before
    thread_peak_cores: Mapping[str, float] = field(default_factory=dict)
    # by name, the median use of the threads that worked since the sample before, without the busiest
    thread_median_cores: Mapping[str, float] = field(default_factory=dict)
    generator_peak_cores: Mapping[str, float] = field(default_factory=dict)  # the generator's busiest
    # context switches of the server's threads, "voluntary" (to sleep) and "nonvoluntary"
    thread_switches_total: Mapping[str, float] = field(default_factory=dict)
    # cpu_busy_s_total, cpu_stolen_s_total: the same of each CPU, by its number
    cpu_busy_s_total: Mapping[str, float] = field(default_factory=dict)
    cpu_stolen_s_total: Mapping[str, float] = field(default_factory=dict)
    cpu_mhz: Mapping[str, float] = field(default_factory=dict)  # clock rate of each CPU of both sides, by its number
    # how often a working connection was seen, by what it waited for; if the database does not report it, how often a
    # thread was
    waits_total: Mapping[str, float] = field(default_factory=dict)
    # by interface and direction ("eth0 sent"), of those with hardware and a speed
    network_bytes_total: Mapping[str, float] = field(default_factory=dict)
    network_bytes_per_s: Mapping[str, float] = field(default_factory=dict)  # each one's speed
    # cycles, instructions and llc_misses of the server's CPUs; empty if not available
    cpu_counters_total: Mapping[str, float] = field(default_factory=dict)
    # how fast the server's CPUs did the same work, several times since the sample before
    cpu_work: tuple[CpuWork, ...] = ()
    # joules of all processors and their memory since the trial's start, if the kernel counts them
    energy_j_total: float | None = None
    # the newest sample of each host by its name, if the load is made elsewhere
    hosts: Mapping[str, HostSample] = field(default_factory=dict)

    @property
    def disk_written_bytes_total(self) -> int | None:
        """Bytes of all disks together; None if one of them could not be read, or there is none."""
        written = [disk.written_bytes_total for disk in self.disks.values()]
        return sum(known) if written and len(known := [w for w in written if w is not None]) == len(written) else None


@dataclass(frozen=True, kw_only=True)
class SamplerCost:
    """The cost of sampling: CPU seconds of the sampler, ticks taken and ticks missed."""

    cpu_s: float
    wall_s: float
    ticks: int
    missed_ticks: int
