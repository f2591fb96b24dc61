"""The nouns of the project, frozen: what is asked, what is planned, what was measured.

Data only: no I/O, no clock, standard library alone. Units end the names (`_s`, `_ns`, `_bytes`, `_mb` = 10^6 bytes,
`_gb` = 10^9 bytes, `_percent`); a value that could not be measured is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Axis = Literal["cores", "disks"]
Origin = Literal["default", "file", "flag", "host"]


class VerdictKind(StrEnum):
    """What a trial's number is worth; only VALID trials are fitted."""

    VALID = "VALID"
    UNSTEADY = "UNSTEADY"
    GENERATOR_BOUND = "GENERATOR_BOUND"
    RESOURCE_NOT_SATURATED = "RESOURCE_NOT_SATURATED"
    OFFERED_NOT_MET = "OFFERED_NOT_MET"
    THROTTLED = "THROTTLED"
    ERRORS = "ERRORS"
    LOST_ROWS = "LOST_ROWS"
    ABORTED = "ABORTED"


# ---- what is asked -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One stretch of a rule: levels first..last (None: open) take this value."""

    first: float | None
    last: float | None
    value: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A knob's value along the axis: one value, or pieces such as 1..4=4,5..=12."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What is written, not how hard: the shape of the rows and of the requests."""

    tables: int
    columns: tuple[str, ...]
    tags: tuple[str, ...]
    values: str
    rows_per_request: int
    interlace_rows: int
    start_ms: int
    step_ms: int


@dataclass(frozen=True, kw_only=True)
class Load:
    """How hard, and for how long: fixed work (rows) or a fixed window after the warm-up (duration_s); one is None."""

    method: str
    rows: int | None
    duration_s: float | None
    warmup_s: float
    rate: float
    arrival: str


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A declared experiment, resolved: every setting has a value, and `origin` says where it came from."""

    name: str
    question: str
    axis: Axis
    levels: tuple[float, ...]
    target: str
    runtime: str
    version: str
    image: str
    home: str
    endpoint: str
    workload: Workload
    load: Load
    knobs: Mapping[str, Rule]
    replicates: int
    seed: int
    sample_hz: float
    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    memory_bytes: int | None
    data_dir: str
    loader: str
    placement: str
    reference: str
    tags: Mapping[str, str]
    origin: Mapping[str, Origin]


# ---- what is planned -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Which CPUs each side may use. `shared` is the overlap: unavoidable on a small machine, counted in the verdict.

    quota_cores is the CPU time the server may use when that is not a whole number of CPUs (0.5 of one CPU), else None.
    """

    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    quota_cores: float | None = None

    @property
    def shared(self) -> tuple[int, ...]:
        """CPUs that both sides may use."""
        return tuple(c for c in self.server_cpus if c in self.client_cpus)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One measured execution: a point of the axis, a replicate, and every knob's value at that point."""

    trial_id: str
    order: int
    level: float
    replicate: int
    cores: float
    disks: int
    placement: Placement
    knobs: Mapping[str, str]
    seed: int


@dataclass(frozen=True, kw_only=True)
class Confound:
    """A second factor that moves along the axis, so that the curve is not the axis's alone."""

    knob: str
    values: tuple[str, ...]
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The trials in the order they will run (seeded, interleaved), and what to know before believing them."""

    sweep: Sweep
    trials: tuple[Trial, ...]
    confounds: tuple[Confound, ...]
    notes: tuple[str, ...]
    seconds_estimated: float


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something found before anything starts. A blocking finding stops the sweep; its remedy says what to do."""

    blocking: bool
    subject: str
    sentence: str
    remedy: str = ""


# ---- servers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where a server will live, told to the target so that it can write commands: paths are as the server sees them."""

    data_dir: str
    port: int
    bind_address: str
    home: str = ""


@dataclass(frozen=True, kw_only=True)
class ServerSpec:
    """What a target wants started, in no runtime's terms. Paths are as the server sees them (Site).

    setup: commands run to the end, one after the other, before argv. files: absolute path → text, written first.
    refuses_root: the server will not run as root. log_paths: files worth keeping, besides standard output.
    ports: every TCP port that the server listens on. stop_signal goes to the process with this name (stop_process,
    empty: the first one).
    """

    argv: tuple[str, ...]
    setup: tuple[tuple[str, ...], ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    image: str = ""
    hostname: str = ""
    refuses_root: bool = False
    log_paths: tuple[str, ...] = ()
    stop_signal: str = "SIGTERM"
    stop_process: str = ""
    stop_timeout_s: float = 60.0


@dataclass(frozen=True, kw_only=True)
class Accounting:
    """Where a subject's CPU and memory are read: cgroup directories by controller, or a process tree.

    kind "cgroup1": paths has "cpuacct", "memory" and perhaps "cpu"; "cgroup2": paths has "unified";
    "processes": root_pids and all their descendants.
    """

    kind: Literal["cgroup1", "cgroup2", "processes"]
    paths: Mapping[str, str] = field(default_factory=dict)
    root_pids: tuple[int, ...] = ()


# ---- what was measured ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SubjectSample:
    """Counters of one side (server or generator) at one tick; cumulative where the name has _total."""

    cpu_s_total: float | None
    throttled_s_total: float | None
    memory_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One tick of the sampler. Cumulative counters; rates are made later from differences.

    thread_cpu_s_total: CPU seconds of the server's threads by thread name, where asked for.
    psi_some_s_total: seconds in which some task waited, by resource (cpu, io, memory), where the kernel has PSI.
    """

    monotonic_ns: int
    server: SubjectSample
    generator: SubjectSample
    disk_written_bytes_total: int | None
    disk_read_bytes_total: int | None
    disk_busy_s_total: float | None
    memory_available_bytes: int | None
    psi_some_s_total: Mapping[str, float]
    thread_cpu_s_total: Mapping[str, float]
    host_cpu_busy_s_total: float | None = None


@dataclass(frozen=True, kw_only=True)
class SamplerCost:
    """What watching cost: CPU seconds of the sampler, ticks taken and ticks missed."""

    cpu_s: float
    wall_s: float
    ticks: int
    missed_ticks: int


@dataclass(frozen=True, kw_only=True)
class Interval:
    """One line of the load core, once a second. rows and requests are of this interval and acknowledged."""

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


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Microseconds; a percentile with too few samples is None. hdr: HdrHistogram V2, base64."""

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


@dataclass(frozen=True, kw_only=True)
class LoadSummary:
    """The load core's last word. rows_window counts acknowledgements inside the window, rows_acked all of them."""

    outcome: str
    window_s: float
    window_start_ns: int
    window_end_ns: int
    last_ack_ns: int
    rows_window: int
    rows_per_s: float | None
    rows_acked: int
    rows_failed: int
    requests: int
    errors: int
    retries: int
    cpu_window_s: float
    offered_rows_per_s: float | None
    threads: int
    send_s: float
    make_s: float
    response: Latency
    service: Latency
    partitions: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The figures of one trial, over its window unless the name says otherwise.

    server_cpu_percent is of what the server was given (100 = all of its cores busy); client_cpu_percent likewise.
    durable_rows_per_s counts to the end of the flush. ceiling_rows_per_s is the generator's own.
    """

    rows: int | None = None
    window_s: float | None = None
    rows_per_s: float | None = None
    durable_rows_per_s: float | None = None
    server_cpu_cores: float | None = None
    server_cpu_percent: float | None = None
    client_cpu_cores: float | None = None
    client_cpu_percent: float | None = None
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
    ceiling_rows_per_s: float | None = None
    rate_cv_percent: float | None = None
    rate_drift_percent: float | None = None
    sampler_cpu_percent: float | None = None
    missed_ticks: int | None = None
    busiest_thread: str | None = None
    busiest_thread_cores: float | None = None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The kind, and every reason that led there or that a reader must know, most important first."""

    kind: VerdictKind
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """One row of points.csv and the facts behind it. `effective` is what the server said its settings are."""

    trial: Trial
    measurement: Measurement
    verdict: Verdict
    effective: Mapping[str, str] = field(default_factory=dict)
    log_tail: str = ""
    started_utc: str = ""
    wall_s: float = 0.0


# ---- events: a trial says, the campaign hands on, sinks listen ------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TrialStarted:
    trial: Trial
    position: int
    total: int


@dataclass(frozen=True, kw_only=True)
class PhaseEntered:
    """provision, ready, schema, warmup, measure, drain, flush, verify, teardown."""

    trial_id: str
    phase: str
    monotonic_ns: int


@dataclass(frozen=True, kw_only=True)
class IntervalSeen:
    trial_id: str
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class SampleTaken:
    trial_id: str
    sample: Sample


@dataclass(frozen=True, kw_only=True)
class Noted:
    trial_id: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class ArtifactMade:
    """A file for the trial's directory: spec, raw load core output, server log."""

    trial_id: str
    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class TrialFinished:
    result: TrialResult


Event = TrialStarted | PhaseEntered | IntervalSeen | SampleTaken | Noted | ArtifactMade | TrialFinished


# ---- the fit -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A parameter with its standard error (None: cannot be told from these points)."""

    value: float
    std_err: float | None


@dataclass(frozen=True, kw_only=True)
class ModelFit:
    """One model on the VALID points. X(n) = gamma n / (1 + alpha(n-1) + beta n(n-1)); unused parameters are absent."""

    model: Literal["linear", "amdahl", "usl"]
    parameters: Mapping[str, Estimate]
    rss: float
    aicc: float | None
    band: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class PointSummary:
    """All VALID trials of one level: mean rate with n and spread, speed-up and efficiency against the first level."""

    level: float
    n: int
    rows_per_s_mean: float
    rows_per_s_std: float | None
    speedup: float | None
    efficiency: float | None


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """The curve: points, candidate models, the chosen one (None: too few points), and one honest sentence."""

    points: tuple[PointSummary, ...]
    models: tuple[ModelFit, ...]
    chosen: str | None
    sentence: str
    cautions: tuple[str, ...] = ()
    peak_level: float | None = None


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """A run read back from results/: what a report is made of."""

    path: str
    manifest: Mapping[str, object]
    plan: Plan
    results: tuple[TrialResult, ...]
    timeseries: Mapping[str, tuple[tuple[float, Mapping[str, float | None]], ...]]
    fit: FitReport | None = None
