"""The figures of a trial and of the steps of its search, its verdict with its bottleneck, its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from scale_sweep.model.loads import LoadProgram
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import OperationFigures
from scale_sweep.model.samples import DiskFigures, HostFigures


class VerdictKind(StrEnum):
    """The worth of a trial's number."""

    VALID = "VALID"
    SOFTWARE_BOTTLENECK = "SOFTWARE_BOTTLENECK"
    UNSTEADY = "UNSTEADY"
    GENERATOR_BOUND = "GENERATOR_BOUND"
    RESOURCE_NOT_SATURATED = "RESOURCE_NOT_SATURATED"
    OFFERED_NOT_MET = "OFFERED_NOT_MET"
    THROTTLED = "THROTTLED"
    ERRORS = "ERRORS"
    LOST_ROWS = "LOST_ROWS"
    WRONG_ROWS = "WRONG_ROWS"
    WRONG_ANSWER = "WRONG_ANSWER"
    ABORTED = "ABORTED"

    @property
    def is_fitted(self) -> bool:
        """Whether the number is a point of the curve."""
        return self in (VerdictKind.VALID, VerdictKind.SOFTWARE_BOTTLENECK)


class BottleneckKind(StrEnum):
    """Why the rate was not higher; rules in docs/verdicts.md."""

    SERVER_CPU = "SERVER_CPU"
    QUOTA = "QUOTA"
    THROTTLING = "THROTTLING"
    GENERATOR_CEILING = "GENERATOR_CEILING"
    GENERATOR_CPU = "GENERATOR_CPU"
    GENERATOR_LATE = "GENERATOR_LATE"
    SHARED_CPU = "SHARED_CPU"
    OTHER_PROCESSES = "OTHER_PROCESSES"
    HYPERVISOR = "HYPERVISOR"
    CONNECTIONS = "CONNECTIONS"
    HOT_THREAD = "HOT_THREAD"
    DISK = "DISK"
    DISK_WAITS = "DISK_WAITS"
    UNEVEN_DISKS = "UNEVEN_DISKS"
    MEMORY = "MEMORY"
    MEMORY_BANDWIDTH = "MEMORY_BANDWIDTH"
    STALL = "STALL"
    LOCKS = "LOCKS"
    NETWORK = "NETWORK"
    OFFERED_RATE = "OFFERED_RATE"
    UNREAD = "UNREAD"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, kw_only=True)
class Bottleneck:
    kind: BottleneckKind
    sentence: str
    remedy: str = ""
    shares: Mapping[str, float] = field(default_factory=dict)  # percent of the window's seconds, by the same rules


class Standing(StrEnum):
    """SWEPT: the axis varies it. OWN: inside the server. EXTERNAL: neither, so the number is not the server's."""

    SWEPT = "swept"
    OWN = "own"
    EXTERNAL = "external"


@dataclass(frozen=True, kw_only=True)
class Stand:
    standing: Standing
    remedy: str = ""  # on this axis
    reason: str = ""  # begins the verdict's reason; "": the rule's own


@dataclass(frozen=True, kw_only=True)
class Step:
    """values: by condition, in the unit of its limit; None: too few requests. excess: ln(value / limit) of the worst
    condition, None: over capacity. *_ms: by percentile."""

    rate: float
    achieved_per_s: float | None
    seconds: float
    requests: int
    verdict: VerdictKind
    values: Mapping[str, float | None] = field(default_factory=dict)
    excess: float | None = None
    usable: bool = True
    why: str = ""
    response_ms: Mapping[str, float | None] = field(default_factory=dict)
    service_ms: Mapping[str, float | None] = field(default_factory=dict)
    late_ms: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return self.usable and self.excess is not None and self.excess < 0


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Over the window unless the name says otherwise; None: not measured. *_cpu_percent: 100 = all of its cores
    busy."""

    rows: int | None = None  # rows, rows_per_s: acknowledged; None: no operation writes
    window_s: float | None = None
    transient_s: float | None = None  # discarded after the warm-up, because the rate had not settled
    transient_rate: float | None = None
    rows_per_s: float | None = None
    durable_rows_per_s: float | None = None
    server_cpu_cores: float | None = None
    server_cpu_percent: float | None = None
    generator_cpu_cores: float | None = None
    generator_cpu_percent: float | None = None
    other_cpu_cores: float | None = None
    stolen_cpu_cores: float | None = None  # steal time
    throttled_s: float | None = None
    disk_write_mb_per_s: float | None = None
    disk_bytes_per_row: float | None = None
    disk_busy_percent: float | None = None
    memory_used_gb: float | None = None
    memory_available_gb: float | None = None
    response_ms_p50: float | None = None
    response_ms_p95: float | None = None
    response_ms_p99: float | None = None
    response_ms_p999: float | None = None
    response_ms_max: float | None = None
    service_ms_p50: float | None = None
    service_ms_p95: float | None = None
    service_ms_p99: float | None = None
    service_ms_p999: float | None = None
    service_ms_max: float | None = None
    late_ms_p99: float | None = None
    requests: int | None = None
    errors: int | None = None
    retries: int | None = None
    rows_acked: int | None = None
    rows_counted: int | None = None
    rows_compared: int | None = None  # *_compared: by sums with what was sent
    tables_compared: int | None = None
    ceiling_rows_per_s: float | None = None
    rate_cv_percent: float | None = None
    rate_drift_percent: float | None = None
    rate_drift_error_percent: float | None = None  # of independent seconds
    sampler_cpu_percent: float | None = None
    missed_ticks: int | None = None
    busiest_thread: str | None = None
    busiest_thread_cores: float | None = None
    commits: int | None = None
    disk_ceiling_mb_per_s: float | None = None
    disk_used_percent: float | None = None
    logical_bytes_per_row: float | None = None  # values alone
    write_amplification: float | None = None  # bytes on disks for each of them
    stalled_s: float | None = None  # without any acknowledgement
    stalled_percent: float | None = None  # seconds below a tenth of the median rate
    hot_thread: str | None = None
    hot_thread_cores: float | None = None
    in_flight_percent: float | None = None  # of the load threads' time, waiting for answers
    disks: Mapping[str, DiskFigures] = field(default_factory=dict)
    hosts: Mapping[str, HostFigures] = field(default_factory=dict)  # by name; not in points.csv
    server_cpu_mhz: float | None = None
    cpu_mhz: Mapping[str, float] = field(default_factory=dict)  # by CPU
    data_gb: float | None = None  # of the server's files after the flush
    rate_correlation: float | None = None  # between neighbouring seconds
    rate_error_percent: float | None = None  # of the mean, with that correlation
    rate_halves_percent: float | None = None  # second half against the first
    rate_low: float | None = None  # rate_low, rate_high: between which it jumped
    rate_high: float | None = None
    # of its threads; *_per_cycle, *_per_miss: of its CPUs, if the kernel has hardware counters
    server_switches_per_s: float | None = None
    cpu_speed: float | None = None  # the same pieces of work for each ms of CPU time
    cpu_speed_cv_percent: float | None = None  # from second to second
    cpu_speed_slope: float | None = None  # percent of rate for each percent of speed
    # rate_cv_percent to rate_halves_percent are at an equal speed, because only that was steady
    steady_at_equal_speed: bool | None = None
    server_cycles_per_miss: float | None = None
    # server_queued_cores to server_waits: only if the samples have the first
    server_queued_cores: float | None = None  # of its threads that could run and did not
    server_taken_cores: float | None = None  # of its CPUs, by other programs and the hypervisor
    server_cycles_per_s: float | None = None  # server_cycles_per_s, server_instructions_per_s: of its CPUs
    server_instructions_per_s: float | None = None
    disk_read_mb_per_s: float | None = None
    server_waits: Mapping[str, float] = field(default_factory=dict)  # shares, by what connections or threads waited for
    requests_per_s: float | None = None  # without operations that have a rate of their own
    preload_rows: int | None = None
    preload_bytes_per_row: float | None = None
    preload_compression: float | None = None  # bytes of values for each byte
    preload_raw_bytes_per_row: float | None = None  # values alone
    preload_gb: float | None = None  # growth of the files, without the log
    preload_log_gb: float | None = None
    preload_s: float | None = None  # until at rest
    preload_copied: str | None = None  # "reflink" or "copy", if several trials share it
    preload_copy_s: float | None = None
    preload_cached_percent: float | None = None  # of the files, in the page cache before the load
    # by a method without answers; rows are then those counted, rows_acked and response times None
    rows_sent: int | None = None
    joules_per_million_rows: float | None = None  # of all processors and memory
    capacity_per_s: float | None = None  # 95 %; the highest rate that holds the objective
    capacity_low_per_s: float | None = None
    capacity_high_per_s: float | None = None
    steps: tuple[Step, ...] = ()  # of a search; the other figures are its closed loop's
    operations: Mapping[str, OperationFigures] = field(default_factory=dict)  # by name; not in points.csv


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """reasons: those that decide first, then notes."""

    kind: VerdictKind
    reasons: tuple[str, ...] = ()
    bottleneck: Bottleneck | None = None
    # replaces kind after twice the connections did not help: the reason is inside the server
    once_checked: VerdictKind | None = None


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    trial: Trial
    measurement: Measurement
    verdict: Verdict
    effective: Mapping[str, str] = field(default_factory=dict)  # as the server reports them
    server: Mapping[str, str] = field(default_factory=dict)  # as its runtime reports it (image, digest, user)
    log_tail: str = ""
    started_utc: str = ""
    wall_s: float = 0.0
    method: int = 1  # scale_sweep/judge/method.py
    loaded_by: LoadProgram | None = None  # None: our load generator

    @property
    def achieved_per_s(self) -> float | None:
        """In the unit of the load's rate; of a search, the capacity."""
        m = self.measurement
        if self.trial.load.searches:
            return m.capacity_per_s
        return m.requests_per_s if self.trial.work.counts_requests else m.rows_per_s

    @property
    def is_fitted(self) -> bool:
        """A rate that was offered makes no curve."""
        return self.trial.role == "point" and self.verdict.kind.is_fitted and not self.trial.load.rate
