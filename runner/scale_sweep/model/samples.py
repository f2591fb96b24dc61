"""Disks, and counters at one tick: of server, load generator, machine, disks and hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

CEILING_S = 4.0  # of sequential writes by fio; half of it for small blocks
DiskKind = Literal["dir", "device", "loop", "ram"]


@dataclass(frozen=True, kw_only=True)
class DiskSource:
    """Making it touches nothing."""

    kind: DiskKind
    dirs: tuple[str, ...] = ()  # existing mounts
    devices: tuple[str, ...] = ()  # formatted only with `format`; `wipe`: also one with data
    loop_bytes: int | None = None  # of each loop device
    cap_bytes_per_s: int | None = None  # cap_*: of each loop device's writes and reads
    cap_iops: int | None = None
    format: bool = False
    wipe: bool = False
    allow_shared_device: bool = False
    file_system: str = "ext4"  # of devices and loop devices


@dataclass(frozen=True, kw_only=True)
class DataDisk:
    """A directory on its own device."""

    name: str  # d1, d2, ... in the order of the axis
    kind: DiskKind  # of "ram" (tmpfs) only the free space is known
    path: str
    device: str  # "7:0" (major:minor)
    block_name: str  # "loop0"
    file_system: str
    size_bytes: int
    free_bytes: int
    cap_bytes_per_s: int | None = None
    cap_iops: int | None = None


@dataclass(frozen=True, kw_only=True)
class DiskCeiling:
    """By fio: sequential writes, and small writes each followed by fsync."""

    disks: tuple[str, ...]  # written at the same time
    write_mb_per_s: float
    sync_writes_per_s: float | None
    by_disk: Mapping[str, float] = field(default_factory=dict)  # parts of write_mb_per_s


@dataclass(frozen=True, kw_only=True)
class DiskFigures:
    """From the first request to the end of flush and sync."""

    write_mb_per_s: float | None
    share_percent: float | None = None  # of all bytes of the trial's disks
    used_percent: float | None = None  # of its own ceiling (fio)
    busy_percent: float | None = None  # with requests in flight; of a capped loop device used_percent says more
    queue: float | None = None  # mean requests in flight
    free_gb_min: float | None = None


@dataclass(frozen=True, kw_only=True)
class DiskSample:
    """From /proc/diskstats and statvfs. *_total: cumulative."""

    written_bytes_total: int | None
    read_bytes_total: int | None
    writes_total: int | None
    busy_s_total: float | None
    queue_s_total: float | None  # its growth over time is the mean queue
    free_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class HostNetwork:
    """Towards the server's host, before the first trial."""

    host: str
    # *_bytes_per_s: of payload, one direction after the other; of the server's host with all load hosts, None with one
    sent_bytes_per_s: float | None
    received_bytes_per_s: float | None
    round_trip_ms: float | None = None  # median of single bytes; None for the server's host


@dataclass(frozen=True, kw_only=True)
class HostSample:
    """*_total: cumulative. None: not read."""

    monotonic_ns: int  # clock of the server's host
    cpus: int  # of the load generator; 0: no load
    load_cpu_s_total: float | None = None  # of the load generator
    busy_cpu_s_total: float | None = None  # busy_*, stolen_*: of these CPUs
    stolen_cpu_s_total: float | None = None
    sent_bytes_total: float | None = None  # sent_*, received_*: of the interface to the server
    received_bytes_total: float | None = None
    segments_total: float | None = None  # of TCP; *_again_total: sent again
    segments_again_total: float | None = None


@dataclass(frozen=True, kw_only=True)
class HostFigures:
    """Over a trial's window. MB is 10^6 bytes."""

    cpus: int
    load_cpu_cores: float | None = None
    other_cpu_cores: float | None = None
    stolen_cpu_cores: float | None = None
    sent_mb_per_s: float | None = None
    received_mb_per_s: float | None = None
    network_percent: float | None = None  # of what a stream reached, in the fuller direction
    resent_percent: float | None = None  # of its TCP segments


@dataclass(frozen=True, kw_only=True)
class SubjectSample:
    """Server or load generator. *_total: cumulative."""

    cpu_s_total: float | None
    throttled_s_total: float | None
    memory_bytes: int | None
    system_s_total: float | None = None  # in the kernel
    page_faults_total: int | None = None  # of pages that were not mapped


@dataclass(frozen=True, kw_only=True)
class CpuWork:
    """Totals since the trial's start: CPU time in µs of the server's CPUs, pieces of work, and their speeds in
    pieces/ms."""

    monotonic_ns: int
    cpu_us_total: float
    pieces_total: int
    speed_total: float


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Counters are cumulative; rates are computed later."""

    monotonic_ns: int
    server: SubjectSample
    generator: SubjectSample
    memory_available_bytes: int | None
    psi_some_s_total: Mapping[str, float]  # in which some task waited, by resource (cpu, io, memory)
    thread_cpu_s_total: Mapping[str, float]  # of the server, by thread name
    host_cpu_busy_s_total: float | None = None  # of the whole machine
    host_cpu_stolen_s_total: float | None = None  # by its hypervisor
    disks: Mapping[str, DiskSample] = field(default_factory=dict)  # d1, d2
    thread_peak_cores: Mapping[str, float] = field(default_factory=dict)  # of each name, since the sample before
    thread_median_cores: Mapping[str, float] = field(default_factory=dict)  # the median of the others that worked
    generator_peak_cores: Mapping[str, float] = field(default_factory=dict)
    # generator_*: of a foreign load, over its tree of processes, since the sample before; None: nothing to compare with
    # by name, of the thread that wanted a CPU most: it ran or was runnable; queued: it was runnable and did not run
    generator_wanted_cores: Mapping[str, float] = field(default_factory=dict)
    generator_queued_cores: Mapping[str, float] = field(default_factory=dict)
    generator_threads: int | None = None  # that wanted a CPU
    generator_stopped: int | None = None  # now, by a signal or a debugger
    generator_waits_total: Mapping[str, float] = field(default_factory=dict)  # as waits_total, of threads at work
    # "voluntary" (to sleep) and "nonvoluntary"
    thread_switches_total: Mapping[str, float] = field(default_factory=dict)
    thread_queued_s_total: float | None = None  # in which threads of the server could run and did not
    thread_disk_waits: int | None = None  # threads of the server that wait for a disk now
    cpu_busy_s_total: Mapping[str, float] = field(default_factory=dict)  # cpu_busy_s_total, cpu_stolen_s_total: by CPU
    cpu_stolen_s_total: Mapping[str, float] = field(default_factory=dict)
    cpu_mhz: Mapping[str, float] = field(default_factory=dict)  # of each CPU of both sides
    # how often a working connection (or a thread) was seen, by what it waited for
    waits_total: Mapping[str, float] = field(default_factory=dict)
    # "eth0 sent", of those with hardware and a speed
    network_bytes_total: Mapping[str, float] = field(default_factory=dict)
    network_bytes_per_s: Mapping[str, float] = field(default_factory=dict)
    # by name; a rule reads their rates by name too
    cpu_counters_total: Mapping[str, float] = field(default_factory=dict)
    cpu_work: tuple[CpuWork, ...] = ()  # several since the sample before
    energy_j_total: float | None = None  # joules of all processors and memory since the trial's start
    hosts: Mapping[str, HostSample] = field(default_factory=dict)  # by name, if the load is made elsewhere

    @property
    def disk_written_bytes_total(self) -> int | None:
        """All disks together; None if one could not be read."""
        written = [disk.written_bytes_total for disk in self.disks.values()]
        return sum(known) if written and len(known := [w for w in written if w is not None]) == len(written) else None


@dataclass(frozen=True, kw_only=True)
class SamplerCost:
    cpu_s: float
    wall_s: float
    ticks: int
    missed_ticks: int
