"""The evidence of a verdict: resources, their use, figures, and faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model.measured import BottleneckKind, Measurement
from scale_sweep.model.samples import DiskFigures


@dataclass(frozen=True, kw_only=True)
class TrialResources:
    cores: float
    quota: bool  # the cores are CPU time
    generator_cpus: int
    shared_cpus: tuple[int, ...]  # of both
    threads: int  # of the load generator, each with at most one request in flight
    ceiling_per_s: float | None = None
    offered_per_s: float | None = None
    disk_ceilings_mb_per_s: Mapping[str, float] = field(default_factory=dict)
    prepared_disks: int = 0  # for the server's data
    unit: str = "rows/s"  # of all rates
    random_units: int = 0  # of a request at a random time; 0: none is
    cut_units: int = 0  # of a request, of which the window has so few that one at its edge matters; else 0
    is_elsewhere: bool = False  # the load is made on other hosts
    round_trips_ms: Mapping[str, float] = field(default_factory=dict)  # between each of them and the server
    is_foreign: bool = False  # another program makes the load, whose threads the samples have
    program: str = ""  # its name
    more_threads: str = ""  # more_*: its flags for more of them ("-j 4"); "": it has none
    more_clients: str = ""
    pin: str = ""  # a command that keeps it off the server's CPUs; "": not known
    grants_clients: bool = False  # the level says how many
    is_counted: bool = True  # the rate of the load is known
    is_by_cpu: bool = False  # the load reports nothing each second: the server's CPU use is in place of its rate

    @property
    def counts_rows(self) -> bool:
        return self.unit == "rows/s"

    @property
    def done(self) -> str:
        return "row was acknowledged" if self.counts_rows else "request was answered"


OF_SERVER, OF_LOAD = "the server's", "the load generator's"


@dataclass(frozen=True, kw_only=True)
class OfferedOperation:
    """In units per second."""

    name: str
    unit: str
    offered_per_s: float
    achieved_per_s: float
    units_of_request: int
    connections: int
    seconds: float  # of the window
    is_poisson: bool


@dataclass(frozen=True, kw_only=True)
class TakenCpus:
    """The cores that other programs and the hypervisor took of some CPUs."""

    whose: str  # OF_SERVER, OF_LOAD, both, or a host's
    cpus: int
    others: float
    stolen: float

    @property
    def share(self) -> float:
        return (self.others + self.stolen) / self.cpus


@dataclass(frozen=True, kw_only=True)
class HostUse:
    """A load host, or the server's host then."""

    name: str
    cpus: int  # for the load generator; 0: it makes no load
    load_cpu_cores: float | None = None  # load_*, other_*, stolen_*: of these CPUs
    other_cpu_cores: float | None = None
    stolen_cpu_cores: float | None = None
    sent_per_s: float | None = None  # bytes to and from the server's host; *_most_per_s: of a stream
    received_per_s: float | None = None
    sent_most_per_s: float | None = None
    received_most_per_s: float | None = None
    resent: float | None = None  # share of its TCP segments

    @property
    def network(self) -> Mapping[str, float]:
        """Shares of what a stream reached."""
        pairs = (
            ("sent", self.sent_per_s, self.sent_most_per_s),
            ("received", self.received_per_s, self.received_most_per_s),
        )
        return {way: used / most for way, used, most in pairs if used is not None and most}

    @property
    def busy(self) -> float | None:
        if not self.cpus or self.load_cpu_cores is None or self.other_cpu_cores is None:
            return None
        return (self.load_cpu_cores + self.other_cpu_cores + (self.stolen_cpu_cores or 0.0)) / self.cpus


@dataclass(frozen=True, kw_only=True)
class Lateness:
    """The load generator's own part of response times."""

    percentile: str
    late_ms: float
    of_ms: float  # the response time, or its limit by the objective
    has_objective: bool


@dataclass(frozen=True, kw_only=True)
class ResourceUse:
    """Over a window, or one second of it. None or empty: not read, or not covered by samples. *_cores: means."""

    # as the samples have it (judge/figures/window.py)
    seconds: float = 1.0
    server_cpu_cores: float | None = None
    server_system_cores: float | None = None  # in the kernel
    server_page_faults_per_s: float | None = None
    generator_cpu_cores: float | None = None
    other_cpu_cores: float | None = None  # of other programs; of a trial on the server's CPUs, if each is known
    stolen_cpu_cores: float | None = None  # steal time, on the same CPUs
    cpus: Mapping[int, float] = field(default_factory=dict)  # cpus, cpus_stolen: cores, by CPU
    cpus_stolen: Mapping[int, float] = field(default_factory=dict)
    cpu_mhz: Mapping[str, float] = field(default_factory=dict)
    server_disk_waits: float | None = None  # share of the samples in which some thread of it waited for a disk
    throttled_s: float | None = None
    generator_throttled_s: float | None = None  # of a foreign load
    threads: Mapping[str, float] = field(default_factory=dict)  # the server's cores by thread name
    hot_thread: tuple[str, float] | None = None  # whose busiest thread used most, with its cores
    hot_thread_median: float | None = None  # of the others of that name that worked
    hot_generator_thread: tuple[str, float] | None = None
    # of a foreign load: whose busiest thread wanted a CPU most, with the cores that it ran or was runnable
    hot_generator_wanted: tuple[str, float] | None = None
    hot_generator_queued: float = 0.0  # the part in which it did not run
    generator_threads: float | None = None  # that wanted a CPU
    generator_waits: Mapping[str, float] = field(default_factory=dict)  # as waits, of its threads at work
    # share of the working connections' time by what they waited for, "lock: NAME"; else of threads, "mutex: POOL"
    waits: Mapping[str, float] = field(default_factory=dict)
    # of the server's threads, "voluntary" (to sleep) and "nonvoluntary"
    switches_per_s: Mapping[str, float] = field(default_factory=dict)
    server_queued_cores: float | None = None  # of its threads that could run and did not
    counters_per_s: Mapping[str, float] = field(default_factory=dict)  # of the server's CPUs
    instructions_per_cycle: float | None = None
    server_cycles_per_miss: float | None = None  # of the last-level cache
    # share of an interface's speed, by interface and direction
    network: Mapping[str, float] = field(default_factory=dict)
    disk_bytes: float | None = None
    disk_write_mb_per_s: float | None = None  # of all disks
    disk_read_mb_per_s: float | None = None
    disk_mb_per_s: Mapping[str, float] = field(default_factory=dict)
    disk_busy_percent: Mapping[str, float] = field(default_factory=dict)
    disk_queue: Mapping[str, float] = field(default_factory=dict)  # mean requests in flight
    cpu_waiting_percent: float | None = None  # *_waiting_percent: of the time, some task
    io_waiting_percent: float | None = None
    memory_waiting_percent: float | None = None
    memory_used_bytes_max: int | None = None
    memory_available_bytes_min: int | None = None
    energy_j: float | None = None  # of all processors and memory
    # of a trial (judge/figures/resource_use.py)
    rate_per_s: float | None = None
    throttled: float | None = None  # share of the time
    taken: tuple[TakenCpus, ...] = ()  # of the CPUs of server and load generator
    in_flight: float | None = None  # share of the load threads' time
    workers_busy: float | None = None  # on a CPU themselves
    hosts: tuple[HostUse, ...] = ()  # empty if the load is made here
    # of its whole window
    stalled_s: float | None = None  # the longest time without an acknowledgement
    stalled_cores: float | None = None  # the server's in that time; *_min: in its least second
    stalled_cores_min: float | None = None
    stalled_other_cores: float | None = None
    stalled_cpu_waiting_percent: float | None = None
    backlog_per_s: float | None = None  # of an open loop; None: no steady rise
    late: tuple[Lateness, ...] = ()  # of an open loop
    paused_s: float | None = None  # the longest time in which the load generator itself did nothing
    # from the first request to the end of flush and sync
    load_disks: Mapping[str, DiskFigures] | None = None

    @property
    def taken_cores(self) -> float:
        return (self.other_cpu_cores or 0.0) + (self.stolen_cpu_cores or 0.0)


@dataclass(frozen=True, kw_only=True)
class LoadHalf:
    """count: of the rate. The server's CPU time, its part in the kernel, and page faults."""

    count: float
    cpu_us: float
    system_us: float
    page_faults: float

    @property
    def fault_us(self) -> float:
        """System time for each page fault."""
        return self.system_us / self.page_faults


@dataclass(frozen=True, kw_only=True)
class Integrity:
    """Faults of the number, as sentences."""

    aborted: str = ""
    miscounted: str = ""  # against the database's own count
    mismatches: tuple[str, ...] = ()  # settings
    suspicious: tuple[str, ...] = ()  # lines of the server's log
    gaps: tuple[str, ...] = ()  # tables that lack rows
    unfinished: str = ""  # by the load's own report
    wrong_answers: tuple[str, ...] = ()
    wrong_rows: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that decides a verdict, besides the axis."""

    resources: TrialResources
    measurement: Measurement
    window: ResourceUse | None  # None: there was none
    seconds: tuple[ResourceUse, ...] = ()  # its parts
    integrity: Integrity = Integrity()
    commits_in_window: int | None = None
    overdue: int | None = None  # due requests without an answer at the window's end
    transient: str = ""  # why the window began later
    warmup: str = ""  # that the rate was not level at its end
    left_out: str = ""  # rows that were not compared, and why
    hidden: tuple[str, ...] = ()  # operations with few compared answers
    claims: bool = False  # the window is long enough for the long-run rate
    offered: tuple[OfferedOperation, ...] = ()  # with a rate of their own
    halves: tuple[LoadHalf, LoadHalf] | None = None  # None: not counted
    contradiction: str = ""  # of the rate by the service times (Little's law)


@dataclass(frozen=True, kw_only=True)
class Explanation:
    kind: BottleneckKind
    sentence: str
    remedy: str = ""
    link: str = ": "  # to the use of the axis' own resource
    reason: str = ""  # in place of the sentence
    noted: bool = False  # also for a valid number
