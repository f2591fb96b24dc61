"""The lines of the load generator: a second of a load, and the summary at its end. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
    slowest_worker_s: the longest sum of one worker's service times in the window. check_cpu_s: CPU time of the load
    generator for the requests whose answers were checked."""

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
    check_cpu_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class LoadProgram:
    """The program that made a load and is not our load generator, as the producer of the load states it. rows: what
    they are, in words. "": not known."""

    name: str
    version: str = ""
    command: str = ""
    rows: str = ""


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
    the network, and there are no response times. late: of an open loop, the part of each response time that is the load
    generator's own, over the whole window. newest_row: the highest number of a row that was made. Both are None if the
    load generator does not report them. program: None for our load generator.

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
    late: Latency | None = None
    newest_row: int | None = None
    rows_distinct: int | None = None
    table_rows: tuple[tuple[int, ...], ...] | None = None
    program: LoadProgram | None = None
