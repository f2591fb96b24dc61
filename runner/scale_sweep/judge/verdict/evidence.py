"""The evidence of a verdict: resources, their use, figures, and faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.judge.verdict.occupied import Occupied
from scale_sweep.model import DiskFigures, Measurement


@dataclass(frozen=True, kw_only=True)
class TrialResources:
    """The resources of server and load generator."""

    cores: float
    quota: bool  # the server's cores are CPU time, not whole CPUs
    generator_cpus: int
    shared_cpus: tuple[int, ...]  # those that both may use
    threads: int  # of the load generator, each with at most one request in flight
    ceiling_per_s: float | None = None
    offered_per_s: float | None = None
    disk_ceilings_mb_per_s: Mapping[str, float] = field(default_factory=dict)
    prepared_disks: int = 0  # the number of disks prepared for the server's data; 0 if it is on an ordinary disk
    # of rates, rows/s or requests/s, here and in ResourceUse. Rates are None if none was measured, or none was offered
    # (closed loop)
    unit: str = "rows/s"
    random_units: int = 0  # units of a request that comes at a random time; 0 if none does
    is_elsewhere: bool = False  # the load is made on other hosts
    # of the network between each of them and the server
    round_trips_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def counts_rows(self) -> bool:
        """Whether the load only writes. If it also reads, rates are of requests."""
        return self.unit == "rows/s"

    @property
    def done(self) -> str:
        """The words for one unit of finished work."""
        return "row was acknowledged" if self.counts_rows else "request was answered"


@dataclass(frozen=True, kw_only=True)
class OfferedOperation:
    """The rate of an operation with a rate of its own, in units per second, and the achieved one."""

    name: str
    unit: str
    offered_per_s: float
    achieved_per_s: float
    units_of_request: int  # what one request counts
    connections: int
    seconds: float  # of the window
    is_poisson: bool


@dataclass(frozen=True, kw_only=True)
class TakenCpus:
    """Some CPUs, and the cores of them that other programs and the hypervisor took."""

    whose: str  # "the server's", or "the load generator's"; of shared CPUs both
    cpus: int
    others: float
    stolen: float

    @property
    def share(self) -> float:
        """The share of these CPUs that others had."""
        return (self.others + self.stolen) / self.cpus


@dataclass(frozen=True, kw_only=True)
class HostUse:
    """A host of a load that is made elsewhere, or the server's host then. None: not read."""

    name: str
    cpus: int  # that the load generator may use there, 0 on a host that makes no load
    # load_cores, other_cores, stolen_cores: of these CPUs, by the load generator, by other programs, by the hypervisor
    load_cores: float | None = None
    other_cores: float | None = None
    stolen_cores: float | None = None
    # sent_per_s, received_per_s: bytes towards and from the server's host; *_most_per_s: what a stream reached
    sent_per_s: float | None = None
    received_per_s: float | None = None
    sent_most_per_s: float | None = None
    received_most_per_s: float | None = None
    resent: float | None = None  # share of its TCP segments that it sent again

    @property
    def network(self) -> Mapping[str, float]:
        """The share of what a stream reached, "sent" and "received"."""
        pairs = (
            ("sent", self.sent_per_s, self.sent_most_per_s),
            ("received", self.received_per_s, self.received_most_per_s),
        )
        return {way: used / most for way, used, most in pairs if used is not None and most}

    @property
    def busy(self) -> float | None:
        """The share of the load generator's CPUs that something had."""
        if not self.cpus or self.load_cores is None or self.other_cores is None:
            return None
        return (self.load_cores + self.other_cores + (self.stolen_cores or 0.0)) / self.cpus


@dataclass(frozen=True, kw_only=True)
class Lateness:
    """The load generator's own part of the response times at a percentile."""

    percentile: str
    late_ms: float
    of_ms: float  # the response time there, or its limit by the objective
    has_objective: bool


@dataclass(frozen=True, kw_only=True)
class ResourceUse:
    """Use over a window, or over one second of it; None if it was not read."""

    seconds: float = 1.0  # its length
    rate_per_s: float | None = None
    server_cores: float | None = None
    generator_cores: float | None = None
    # used by other programs, on the server's CPUs if each CPU's time is known, else on the machine
    other_cores: float | None = None
    stolen_cores: float | None = None  # taken by the hypervisor (steal time), on the same CPUs
    throttled: float | None = None  # share of that time in which the quota throttled the server
    hot_thread: tuple[str, float] | None = None  # the server's busiest single thread by pool name, with its cores
    hot_thread_median: float | None = None  # of the other threads of that name that worked
    hot_generator_thread: tuple[str, float] | None = None  # the load generator's busiest thread
    # share of the time of working connections by what they waited for, "lock: NAME" for a lock; if the server does not
    # report it, of its threads that ran or waited for a lock, "mutex: POOL". Empty if neither was read
    waits: Mapping[str, float] = field(default_factory=dict)
    # context switches of the server's threads, "voluntary" and "nonvoluntary"
    switches_per_s: Mapping[str, float] = field(default_factory=dict)
    # instructions_per_cycle, cycles_per_miss: of the server's CPUs, for all programs on them; None without hardware
    # counters. A miss is one of the last-level cache
    instructions_per_cycle: float | None = None
    cycles_per_miss: float | None = None
    # use as a share of an interface's speed, by interface and direction; virtual interfaces have none
    network: Mapping[str, float] = field(default_factory=dict)
    stalled_s: float | None = None  # the longest time without an acknowledgement
    # the server's use in that time, stalled_cores_min: in the second of it with the least
    stalled_cores: float | None = None
    stalled_cores_min: float | None = None
    stalled_other_cores: float | None = None  # the use of other programs
    stalled_cpu_waiting_percent: float | None = None  # of that time, in which some task waited for a CPU
    disk_busy_percent: Mapping[str, float] = field(default_factory=dict)
    disk_mb_per_s: Mapping[str, float] = field(default_factory=dict)
    io_waiting_percent: float | None = None
    memory_waiting_percent: float | None = None
    in_flight: float | None = None  # share of the load generator's threads' time spent waiting for an answer
    workers_busy: float | None = None  # on a CPU themselves
    # the growth of the backlog of an open loop; None if it was no steady rise, in a closed loop, and for a second
    backlog_per_s: float | None = None
    # what others had of the CPUs of server and load generator; empty if the kernel does not report each CPU's time
    taken: tuple[TakenCpus, ...] = ()
    late: tuple[Lateness, ...] = ()  # the load generator's lateness in an open loop; empty for a second
    # the disks from the first request to the end of flush and sync, in the order of the axis; None for a second of the
    # window, whose own figures count instead
    load_disks: Mapping[str, DiskFigures] | None = None
    # those of the load and the server's; empty if the load is made on the server's machine
    hosts: tuple[HostUse, ...] = ()

    @property
    def taken_cores(self) -> float:
        return (self.other_cores or 0.0) + (self.stolen_cores or 0.0)


@dataclass(frozen=True, kw_only=True)
class LoadHalf:
    """One half of the window: count, in what the rate counts, and the server's CPU time, the part of it in the kernel,
    and page faults."""

    count: float
    cpu_us: float
    system_us: float
    page_faults: float

    @property
    def fault_us(self) -> float:
        """Microseconds of system time for each page fault."""
        return self.system_us / self.page_faults


@dataclass(frozen=True, kw_only=True)
class Integrity:
    """Faults that make a number wrong, as sentences."""

    aborted: str = ""  # why the trial ended early
    miscounted: str = ""  # a contradiction with the database's own count
    mismatches: tuple[str, ...] = ()  # settings that differ from the plan
    suspicious: tuple[str, ...] = ()  # lines of the server's log
    gaps: tuple[str, ...] = ()  # tables that lack rows in between
    unfinished: str = ""  # why the load did not run to its end, by its own report
    wrong_answers: tuple[str, ...] = ()  # to queries whose right answer is known
    wrong_rows: tuple[str, ...] = ()  # stored rows that differ from those that were sent


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Everything that decides a verdict, besides the axis."""

    resources: TrialResources
    measurement: Measurement
    window: ResourceUse | None  # None if there was none
    seconds: tuple[ResourceUse, ...] = ()  # its parts
    integrity: Integrity = Integrity()
    commits_in_window: int | None = None  # None if the server does not count them
    # requests of an open loop that were due and had no answer at the window's end; None if the load generator does not
    # report them
    overdue: int | None = None
    transient: str = ""  # why the window began later than the warm-up's end; "" if it did not
    warmup: str = ""  # that it ended at its bound and the rate was not level; "" if it was
    left_out: str = ""  # which stored rows were not compared with those that were sent, and why; "" if all were
    hidden: tuple[str, ...] = ()  # operations of whose answers few were compared
    claims: bool = False  # the window is long enough to claim the long-run rate; else the rules of a short window apply
    offered: tuple[OfferedOperation, ...] = ()  # the operations with a rate of their own
    # of the window; None where the server's system time and page faults were not counted
    halves: tuple[LoadHalf, LoadHalf] | None = None
    occupied: Occupied | None = None  # None where rate and service times cannot be compared
