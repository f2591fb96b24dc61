"""Measurements: the figures of a trial, its verdict, its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model.bottleneck import Bottleneck
from scale_sweep.model.disk_facts import DiskFigures
from scale_sweep.model.host_samples import HostFigures
from scale_sweep.model.loads import LoadProgram
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import OperationFigures
from scale_sweep.model.steps import Step
from scale_sweep.model.verdict_kinds import VerdictKind as VerdictKind


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The figures of one trial, over its window unless the name says otherwise. None: not measured. server_cpu_percent
    is of what the server was given (100 = all of its cores busy); generator_cpu_percent likewise."""

    # rows, rows_per_s: written and acknowledged, None if no operation writes
    rows: int | None = None
    window_s: float | None = None
    # seconds between the warm-up and the window, discarded because the rate had not settled
    transient_s: float | None = None
    transient_rate: float | None = None  # their rate, in its unit
    rows_per_s: float | None = None
    durable_rows_per_s: float | None = None
    server_cpu_cores: float | None = None
    server_cpu_percent: float | None = None
    generator_cpu_cores: float | None = None
    generator_cpu_percent: float | None = None
    other_cpu_cores: float | None = None  # of all other programs on the machine
    # taken by its hypervisor (steal time). durable_rows_per_s counts to the end of the flush (in a disk sweep: and
    # sync). ceiling_rows_per_s is the generator's own, disk_ceiling_mb_per_s that of the trial's disks together;
    # disk_used_percent is the share of it that was used from the first request to the end of flush and sync
    stolen_cpu_cores: float | None = None
    throttled_s: float | None = None
    disk_write_mb_per_s: float | None = None
    disk_bytes_per_row: float | None = None
    disk_busy_percent: float | None = None
    memory_used_gb: float | None = None
    memory_available_gb: float | None = None
    psi_cpu_percent: float | None = None
    psi_io_percent: float | None = None
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
    late_ms_p50: float | None = None
    late_ms_p95: float | None = None
    late_ms_p99: float | None = None
    late_ms_p999: float | None = None
    late_ms_max: float | None = None
    requests: int | None = None
    errors: int | None = None
    retries: int | None = None
    rows_acked: int | None = None
    rows_counted: int | None = None
    # rows_compared, tables_compared: whose content was compared with what was sent, by sums. late_ms_*: of an open
    # loop, the part of each response time that is the load generator's own
    rows_compared: int | None = None
    tables_compared: int | None = None
    ceiling_rows_per_s: float | None = None
    rate_cv_percent: float | None = None
    rate_drift_percent: float | None = None
    rate_drift_error_percent: float | None = None  # with seconds taken as independent
    sampler_cpu_percent: float | None = None
    missed_ticks: int | None = None
    busiest_thread: str | None = None
    busiest_thread_cores: float | None = None
    commits: int | None = None
    disk_ceiling_mb_per_s: float | None = None
    disk_used_percent: float | None = None
    logical_bytes_per_row: float | None = None  # the values without any overhead
    write_amplification: float | None = None  # bytes on the disks for each of them
    stalled_s: float | None = None  # time without any acknowledgement
    stalled_percent: float | None = None  # seconds of the window below a tenth of the median rate
    hot_thread: str | None = None  # the busiest single thread's name
    hot_thread_cores: float | None = None
    # the share of their time in which the load generator's threads waited for answers, without the client library's own
    # work if that is known
    in_flight_percent: float | None = None
    disks: Mapping[str, DiskFigures] = field(default_factory=dict)
    # by name, if the load is made elsewhere; points.csv has none
    hosts: Mapping[str, HostFigures] = field(default_factory=dict)
    # mean clock rate of the server's CPUs, generator_cpu_mhz: of the load generator's
    server_cpu_mhz: float | None = None
    generator_cpu_mhz: float | None = None
    cpu_mhz: Mapping[str, float] = field(default_factory=dict)  # of each CPU of both, by its number
    data_gb: float | None = None  # the size of the server's files after the flush
    rate_correlation: float | None = None  # between neighbouring seconds
    rate_error_percent: float | None = None  # the standard error of the mean with that correlation
    rate_halves_percent: float | None = None  # second half of the window against the first
    # rate_low, rate_high: the two values that the rate jumped between, where it did
    rate_low: float | None = None
    rate_high: float | None = None
    # context switches of the server's threads. server_instructions_per_cycle, server_cycles_per_miss (of the last-level
    # cache): of the server's CPUs, for all programs on them, if the kernel gives hardware counters
    server_switches_per_s: float | None = None
    # how fast the server's CPUs did the same small piece of work, in pieces for each millisecond of CPU time
    cpu_speed: float | None = None
    cpu_speed_cv_percent: float | None = None  # its spread from second to second
    cpu_speed_slope: float | None = None  # by how many percent the rate rose where the speed rose by 1 %
    # True if rate_cv_percent to rate_halves_percent are those of the rate at an equal speed of the CPUs, because only
    # that was steady
    steady_at_equal_speed: bool | None = None
    server_instructions_per_cycle: float | None = None
    server_cycles_per_miss: float | None = None
    # answered, of the operations without a separate rate, None if they were not counted
    requests_per_s: float | None = None
    preload_rows: int | None = None
    preload_bytes_per_row: float | None = None
    preload_compression: float | None = None  # these bytes for each byte of preload_gb
    preload_raw_bytes_per_row: float | None = None  # of the values alone
    preload_gb: float | None = None  # growth of the server's files until it was at rest, without its log
    preload_log_gb: float | None = None  # of its log
    preload_s: float | None = None  # until it was at rest
    preload_copied: str | None = None  # "reflink" or "copy" if the files were loaded for several trials
    preload_copy_s: float | None = None  # for the copy
    preload_cached_percent: float | None = None  # share of the files in the page cache just before the load
    # handed to the network by a method without answers; then rows, rows_per_s and durable_rows_per_s are of the rows
    # that the database counted, and rows_acked and the response times are None
    rows_sent: int | None = None
    # of all processors and their memory, for all programs, over the rows written; None if the kernel does not count
    # energy
    joules_per_million_rows: float | None = None
    # the highest rate that holds the trial's objective, in the unit of its rate, with its 95 % interval
    capacity_per_s: float | None = None
    capacity_low_per_s: float | None = None
    capacity_high_per_s: float | None = None
    # of that search. All other figures are then those of the closed loop before the search
    steps: tuple[Step, ...] = ()
    # by name; points.csv has none. preload_*: of the data present before the load
    operations: Mapping[str, OperationFigures] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The kind, and all reasons for it and notes for the reader, most important first."""

    kind: VerdictKind
    reasons: tuple[str, ...] = ()
    bottleneck: Bottleneck | None = None
    # the kind that replaces it after a trial with twice the connections has shown that more connections do not help, so
    # that the reason is inside the server. None: no such trial could change the verdict
    once_checked: VerdictKind | None = None


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """One row of points.csv, and the facts behind it."""

    trial: Trial
    measurement: Measurement
    verdict: Verdict
    effective: Mapping[str, str] = field(default_factory=dict)  # the server's own report of its settings
    server: Mapping[str, str] = field(default_factory=dict)  # its runtime's report (image, digest, user)
    log_tail: str = ""
    started_utc: str = ""
    wall_s: float = 0.0
    method: int = 1  # the number of the method that made the verdict (scale_sweep/judge/method.py)
    loaded_by: LoadProgram | None = None  # None for our load generator, and if the load did not end

    @property
    def achieved_per_s(self) -> float | None:
        """The rate that the trial's load counts: requests/s if it does not only write, else rows/s. Of a trial that
        searches, the capacity."""
        m = self.measurement
        if self.trial.load.searches:
            return m.capacity_per_s
        return m.requests_per_s if self.trial.work.counts_requests else m.rows_per_s

    @property
    def is_fitted(self) -> bool:
        """Whether a curve is fitted to it. A rate that was offered makes no curve."""
        return self.trial.role == "point" and self.verdict.kind.is_fitted and not self.trial.load.rate
