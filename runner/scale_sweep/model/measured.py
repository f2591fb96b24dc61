"""Measurements: lines of the load generator, samples, figures, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model.bottleneck import Bottleneck
from scale_sweep.model.disk_facts import DiskFigures
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import OperationFigures
from scale_sweep.model.verdict_kinds import VerdictKind as VerdictKind


@dataclass(frozen=True, kw_only=True)
class Interval:
    """One line of the load generator, once a second. rows and requests: acknowledged in this interval.

    service_us_*: from the sending; None if the load generator does not report it. cpu_s: CPU time of the load generator
    in the interval. *_hdr: the interval's own histogram from each process (HdrHistogram V2, base64, nanoseconds, two
    digits); that of service times only in an open loop, where it differs. operations: answered requests of each
    operation, by name; empty if the load generator does not report them. operations_p99_us: 99th percentile of the
    response time of each operation with enough requests.
    """

    monotonic_ns: int
    t_s: float
    phase: str
    rows: int
    rows_total: int
    requests: int
    errors: int
    retries: int
    response_us_p50: float | None
    response_us_p99: float | None
    response_us_max: float | None
    backlog_rows: int | None
    service_us_p50: float | None = None
    service_us_p99: float | None = None
    service_us_max: float | None = None
    cpu_s: float | None = None
    response_hdr: tuple[str, ...] = ()
    service_hdr: tuple[str, ...] = ()
    operations: Mapping[str, int] = field(default_factory=dict)
    operations_p99_us: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Times in microseconds. A percentile with too few samples is None. hdr: HdrHistogram V2, base64."""

    count: int
    min_us: float | None
    mean_us: float | None
    p50_us: float | None
    p90_us: float | None
    p95_us: float | None
    p99_us: float | None
    p999_us: float | None
    max_us: float | None
    hdr: str
    p10_us: float | None = None
    p25_us: float | None = None
    p75_us: float | None = None


@dataclass(frozen=True, kw_only=True)
class OperationSummary:
    """The results of one operation of a load. units: what its requests count (rows, ...), in all phases and in the
    window. response, service: None if the load has one operation, whose times are the summary's own. window_s: of the
    whole window. The window's answers contained these rows, values and bytes, and `empty` of them no row; None for an
    operation that reads nothing, and if the load generator does not report it. failed: requests that were given up.
    slowest_worker_s: the longest sum of one worker's service times in the window."""

    name: str
    unit: str
    weight: float
    requests: int
    errors: int
    retries: int
    units_acked: int
    units_window: int
    response: Latency | None = None
    service: Latency | None = None
    rows_window: int | None = None
    values_window: int | None = None
    bytes_window: int | None = None
    empty_window: int | None = None
    window_s: float | None = None
    failed: int | None = None
    slowest_worker_s: float | None = None


FINISHED = ("ok", "errors")  # outcomes of a load that ran to its end; "errors": requests failed and were counted


@dataclass(frozen=True, kw_only=True)
class LoadSummary:
    """The load generator's summary. rows_window: acknowledgements inside the window. rows_acked: all of them.

    rows_unanswered: sent, and neither acknowledged nor refused. rows_distinct: acknowledged rows that differ by table
    and time, None if not known. table_rows: runs of tables whose first rows were acknowledged, as (first table,
    number of tables, rows of each with those before the load); None if it is not known which rows
    were. operations: in the order of the work. overdue: requests that were due in the window and had no answer at its
    end. worker_cores: used by the load generator's threads during the window, for everything: making rows, encoding,
    the client library. Both are None if the load generator does not report them. send_s, make_s: of all threads, from
    the first request to the last. is_answered: False if the protocol has no answers: rows count when they are handed to
    the network, and there are no response times.

    last_ack_ns: None if nothing was acknowledged. cpu_window_s: None if the load ended before the window; the window is
    then empty.
    """

    outcome: str
    window_s: float
    window_start_ns: int
    window_end_ns: int
    last_ack_ns: int | None
    rows_window: int
    rows_per_s: float | None
    rows_acked: int
    rows_failed: int
    requests: int
    errors: int
    retries: int
    cpu_window_s: float | None
    offered_rows_per_s: float | None
    threads: int
    send_s: float
    make_s: float
    response: Latency
    service: Latency
    partitions: tuple[int, ...] = ()
    rows_unanswered: int = 0
    operations: tuple[OperationSummary, ...] = ()
    overdue: int | None = None
    worker_cores: float | None = None
    is_answered: bool = True
    rows_distinct: int | None = None
    table_rows: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The figures of one trial, over its window unless the name says otherwise. None: not measured.

    server_cpu_percent is of what the server was given (100 = all of its cores busy); generator_cpu_percent likewise.
    other_cpu_cores: of all other programs on the machine; stolen_cpu_cores: taken by its hypervisor (steal time).
    durable_rows_per_s counts to the end of the flush (in a disk sweep: and sync). ceiling_rows_per_s is the generator's
    own, disk_ceiling_mb_per_s that of the trial's disks together; disk_used_percent is the share of it that was used
    from the first request to the end of flush and sync. logical_bytes_per_row: the values without any overhead;
    write_amplification: bytes on the disks for each of them. stalled_s: time without any acknowledgement. transient_s:
    seconds between the warm-up and the window, discarded because the rate had not settled; transient_rate: their rate,
    in its unit. stalled_percent: seconds of the window below a tenth of the median rate. rate_drift_error_percent: with
    seconds taken as independent. rate_correlation: between neighbouring seconds. rate_error_percent: the standard error
    of the mean with that correlation. rate_halves_percent: second half of the window against the first. rate_low,
    rate_high: the two values that the rate jumped between, where it did. hot_thread: the busiest single thread's name.
    in_flight_percent: the share of their time in which the load generator's threads waited for answers, without the
    client library's own work if that is known. server_cpu_mhz: mean clock rate of the server's CPUs, generator_cpu_mhz:
    of the load generator's; cpu_mhz: of each CPU of both, by its number. data_gb: the size of the server's files after
    the flush. server_switches_per_s: context switches of the server's threads. server_instructions_per_cycle,
    server_cycles_per_miss (of the last-level cache): of the server's CPUs, for all programs on them, if the kernel
    gives hardware counters. rows, rows_per_s: written and acknowledged, None if no operation writes. requests_per_s:
    answered, of the operations without a rate of their own, None if they were not counted. operations: by name;
    points.csv has none. preload_*: of the data present before the load. preload_gb: growth of the server's files until
    it was at rest, without its log; preload_log_gb: of its log; preload_raw_bytes_per_row: of the values alone;
    preload_compression: these bytes for each byte of preload_gb; preload_s: until it was at rest; preload_copied:
    "reflink" or "copy" if the files were loaded for several trials; preload_copy_s: for the copy;
    preload_cached_percent: share of the files in the page cache just before the load. cpu_speed: how fast the server's
    CPUs did the same small piece of work, in pieces for each millisecond of CPU time; cpu_speed_cv_percent: its spread
    from second to second; cpu_speed_slope: by how many percent the rate rose where the speed rose by 1 %.
    steady_at_equal_speed: True if rate_cv_percent to rate_halves_percent are those of the rate at an equal speed of the
    CPUs, because only that was steady. rows_compared, tables_compared: whose content was compared with what was sent,
    by sums. rows_sent: handed to the network by a method without answers; then rows, rows_per_s and durable_rows_per_s
    are of the rows that the database counted, and rows_acked and the response times are None.
    """

    rows: int | None = None
    window_s: float | None = None
    transient_s: float | None = None
    transient_rate: float | None = None
    rows_per_s: float | None = None
    durable_rows_per_s: float | None = None
    server_cpu_cores: float | None = None
    server_cpu_percent: float | None = None
    generator_cpu_cores: float | None = None
    generator_cpu_percent: float | None = None
    other_cpu_cores: float | None = None
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
    response_ms_max: float | None = None
    service_ms_p50: float | None = None
    service_ms_p99: float | None = None
    requests: int | None = None
    errors: int | None = None
    retries: int | None = None
    rows_acked: int | None = None
    rows_counted: int | None = None
    rows_compared: int | None = None
    tables_compared: int | None = None
    ceiling_rows_per_s: float | None = None
    rate_cv_percent: float | None = None
    rate_drift_percent: float | None = None
    rate_drift_error_percent: float | None = None
    sampler_cpu_percent: float | None = None
    missed_ticks: int | None = None
    busiest_thread: str | None = None
    busiest_thread_cores: float | None = None
    commits: int | None = None
    disk_ceiling_mb_per_s: float | None = None
    disk_used_percent: float | None = None
    logical_bytes_per_row: float | None = None
    write_amplification: float | None = None
    stalled_s: float | None = None
    stalled_percent: float | None = None
    hot_thread: str | None = None
    hot_thread_cores: float | None = None
    in_flight_percent: float | None = None
    disks: Mapping[str, DiskFigures] = field(default_factory=dict)
    server_cpu_mhz: float | None = None
    generator_cpu_mhz: float | None = None
    cpu_mhz: Mapping[str, float] = field(default_factory=dict)
    data_gb: float | None = None
    rate_correlation: float | None = None
    rate_error_percent: float | None = None
    rate_halves_percent: float | None = None
    rate_low: float | None = None
    rate_high: float | None = None
    server_switches_per_s: float | None = None
    cpu_speed: float | None = None
    cpu_speed_cv_percent: float | None = None
    cpu_speed_slope: float | None = None
    steady_at_equal_speed: bool | None = None
    server_instructions_per_cycle: float | None = None
    server_cycles_per_miss: float | None = None
    requests_per_s: float | None = None
    preload_rows: int | None = None
    preload_bytes_per_row: float | None = None
    preload_compression: float | None = None
    preload_raw_bytes_per_row: float | None = None
    preload_gb: float | None = None
    preload_log_gb: float | None = None
    preload_s: float | None = None
    preload_copied: str | None = None
    preload_copy_s: float | None = None
    preload_cached_percent: float | None = None
    rows_sent: int | None = None
    operations: Mapping[str, OperationFigures] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The kind, and all reasons for it and notes for the reader, most important first.

    once_checked: the kind that replaces it after a trial with twice the connections has shown that more connections do
    not help, so that the reason is inside the server. None: no such trial could change the verdict.
    """

    kind: VerdictKind
    reasons: tuple[str, ...] = ()
    bottleneck: Bottleneck | None = None
    once_checked: VerdictKind | None = None


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """One row of points.csv, and the facts behind it.

    effective: the server's own report of its settings. server: its runtime's report (image, digest, user). method: the
    number of the method that made the verdict (scale_sweep/judge/method.py).
    """

    trial: Trial
    measurement: Measurement
    verdict: Verdict
    effective: Mapping[str, str] = field(default_factory=dict)
    server: Mapping[str, str] = field(default_factory=dict)
    log_tail: str = ""
    started_utc: str = ""
    wall_s: float = 0.0
    method: int = 1

    @property
    def achieved_per_s(self) -> float | None:
        """The rate that the trial's load counts: requests/s if it does not only write, else rows/s."""
        m = self.measurement
        return m.requests_per_s if self.trial.work.counts_requests else m.rows_per_s
