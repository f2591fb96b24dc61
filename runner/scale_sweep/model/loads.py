"""The lines of the load generator: a second of a load, and the summary at its end. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Interval:
    """One line of the load generator, once a second. service_us_*: from the sending; None if the load generator does
    not report it."""

    monotonic_ns: int
    t_s: float
    phase: str
    # rows, requests: acknowledged in this interval
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
    # CPU time of the load generator in the interval. *_hdr: the interval's own histogram from each process
    # (HdrHistogram V2, base64, nanoseconds, two digits); that of service times only in an open loop, where it differs
    cpu_s: float | None = None
    response_hdr: tuple[str, ...] = ()
    service_hdr: tuple[str, ...] = ()
    # answered requests of each operation, by name; empty if the load generator does not report them
    operations: Mapping[str, int] = field(default_factory=dict)
    # 99th percentile of the response time of each operation with enough requests
    operations_p99_us: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Times in microseconds. A percentile with too few samples is None."""

    count: int
    min_us: float | None
    mean_us: float | None
    p50_us: float | None
    p90_us: float | None
    p95_us: float | None
    p99_us: float | None
    p999_us: float | None
    max_us: float | None
    hdr: str  # HdrHistogram V2, base64
    p10_us: float | None = None
    p25_us: float | None = None
    p75_us: float | None = None


@dataclass(frozen=True, kw_only=True)
class OperationSummary:
    """The results of one operation of a load. units: what its requests count (rows, ...), in all phases and in the
    window."""

    name: str
    unit: str
    weight: float
    requests: int
    errors: int
    retries: int
    units_acked: int
    units_window: int
    # response, service: None if the load has one operation, whose times are the summary's own
    response: Latency | None = None
    service: Latency | None = None
    rows_window: int | None = None
    values_window: int | None = None
    bytes_window: int | None = None
    empty_window: int | None = None
    # of the whole window. The window's answers contained these rows, values and bytes, and `empty` of them no row; None
    # for an operation that reads nothing, and if the load generator does not report it
    window_s: float | None = None
    failed: int | None = None  # requests that were given up
    slowest_worker_s: float | None = None  # the longest sum of one worker's service times in the window
    check_cpu_s: float | None = None  # CPU time of the load generator for the requests whose answers were checked


@dataclass(frozen=True, kw_only=True)
class LoadProgram:
    """The program that made a load and is not our load generator, as the producer of the load states it."""

    name: str
    version: str = ""
    command: str = ""
    rows: str = ""  # what they are, in words. "": not known


FINISHED = ("ok", "errors")  # outcomes of a load that ran to its end; "errors": requests failed and were counted


@dataclass(frozen=True, kw_only=True)
class LoadSummary:
    """The load generator's summary."""

    outcome: str
    window_s: float
    window_start_ns: int
    window_end_ns: int
    last_ack_ns: int | None  # None if nothing was acknowledged
    rows_window: int  # acknowledgements inside the window
    rows_per_s: float | None
    rows_acked: int  # all of them
    rows_failed: int
    requests: int
    errors: int
    retries: int
    cpu_window_s: float | None  # None if the load ended before the window; the window is then empty
    offered_rows_per_s: float | None
    threads: int
    # send_s, make_s: of all threads, from the first request to the last
    send_s: float
    make_s: float
    response: Latency
    service: Latency
    partitions: tuple[int, ...] = ()
    rows_unanswered: int = 0  # sent, and neither acknowledged nor refused
    operations: tuple[OperationSummary, ...] = ()  # in the order of the work
    overdue: int | None = None  # requests that were due in the window and had no answer at its end
    # used by the load generator's threads during the window, for everything: making rows, encoding, the client library.
    # Both are None if the load generator does not report them
    worker_cores: float | None = None
    # False if the protocol has no answers: rows count when they are handed to the network, and there are no response
    # times
    is_answered: bool = True
    # of an open loop, the part of each response time that is the load generator's own, over the whole window
    late: Latency | None = None
    # the highest number of a row that was made. Both are None if the load generator does not report them
    newest_row: int | None = None
    rows_distinct: int | None = None  # acknowledged rows that differ by table and time, None if not known
    # runs of tables whose first rows were acknowledged, as (first table, number of tables, rows of each with those
    # before the load); None if it is not known which rows were
    table_rows: tuple[tuple[int, ...], ...] | None = None
    program: LoadProgram | None = None  # None for our load generator
