"""The lines of the load generator, and the database's count and sums of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Interval:
    """One line of the load generator, once a second. service_us_*: from the sending."""

    monotonic_ns: int
    t_s: float
    phase: str
    rows: int  # rows, requests: acknowledged in this interval
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
    # *_hdr: of each process (HdrHistogram V2, base64, ns, two digits); service times only in an open loop
    cpu_s: float | None = None
    response_hdr: tuple[str, ...] = ()
    service_hdr: tuple[str, ...] = ()
    operations: Mapping[str, int] = field(default_factory=dict)  # answered requests by operation
    # response times of operations with enough requests
    operations_p99_us: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Latency:
    """In microseconds; None: too few samples."""

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
    """units: what its requests count, in all phases and in the window."""

    name: str
    unit: str
    weight: float
    requests: int
    errors: int
    retries: int
    units_acked: int
    units_window: int
    response: Latency | None = None  # None for a single operation: the summary has them
    service: Latency | None = None
    rows_window: int | None = None
    values_window: int | None = None
    bytes_window: int | None = None
    empty_window: int | None = None
    window_s: float | None = None  # *_window: of its answers; empty_window: those without a row; None: it reads nothing
    failed: int | None = None  # given up
    slowest_worker_s: float | None = None  # the longest sum of one worker's service times
    check_cpu_s: float | None = None  # for requests whose answers were checked


@dataclass(frozen=True, kw_only=True)
class LoadProgram:
    """A foreign one."""

    name: str
    version: str = ""
    command: str = ""
    rows: str = ""  # what they are, in words
    more_threads: str = ""  # more_*: its flags for more of them ("-j 4"); "": it has none
    more_clients: str = ""
    pin: str = ""  # a command that keeps it off the server's CPUs, to paste; "": not known


FINISHED = ("ok", "errors")  # "errors": requests failed and were counted


@dataclass(frozen=True, kw_only=True)
class LoadSummary:
    outcome: str
    window_s: float
    window_start_ns: int
    window_end_ns: int
    last_ack_ns: int | None
    rows_window: int  # acknowledged in the window
    rows_per_s: float | None
    rows_acked: int
    rows_failed: int
    requests: int
    errors: int
    retries: int
    cpu_window_s: float | None  # None: the load ended before the window
    offered_rows_per_s: float | None
    threads: int
    send_s: float  # send_s, make_s: of all threads, from the first request to the last
    make_s: float
    response: Latency
    service: Latency
    partitions: tuple[int, ...] = ()
    rows_unanswered: int = 0  # neither acknowledged nor refused
    operations: tuple[OperationSummary, ...] = ()
    overdue: int | None = None  # due in the window, without an answer at its end
    worker_cores: float | None = None  # of the threads, with making rows and the client library
    is_answered: bool = True  # False: rows count when handed to the network; there are no response times
    late: Latency | None = None  # of an open loop, the load generator's own part
    newest_row: int | None = None  # the highest number of a row
    rows_distinct: int | None = None  # acknowledged ones by table and time
    # (first table, tables, rows of each) of acknowledged first rows with those before the load; None: not known
    table_rows: tuple[tuple[int, ...], ...] | None = None
    program: LoadProgram | None = None
    requests_per_s: float | None = None  # by a foreign program's own report
    is_counted: bool = True  # False: a foreign program prints no rate that is known


@dataclass(frozen=True, kw_only=True)
class TableSums:
    """By table (None: all together), in the order of `RowsSummed.figures`: numbers separated by blanks, so that whole
    numbers of any size stay exact."""

    table: int | None
    name: str  # of the table's device
    right: str
    stored: str  # "-": not returned
    error: str  # how far stored may be from right: a database adds fractions in another order


@dataclass(frozen=True, kw_only=True)
class RowsSummed:
    # rows; first, last, times: ns since the first timestamp, least, greatest, summed; steps: ns in which rows follow
    # each other; of a column COLUMN.values (not NULL), .sum, .least, .greatest, .timed (each value times its ms)
    figures: tuple[str, ...] = ()
    tables: tuple[TableSums, ...] = ()
    of_tables: int = 0
    each: int = 0  # compared one by one, if `tables` has not all of them
    rows: int = 0
    note: str = ""  # why not all were compared
    wrong_tags: tuple[str, ...] = ()  # sentences about the first devices with other tags
    seconds: float = 0.0

    @property
    def tables_compared(self) -> int:
        """Without the entry of all tables together."""
        return self.each or sum(one.table is not None for one in self.tables)


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The database's own count of rows."""

    rows: int
    is_distinct: bool = False  # it stores one row for each table and time
    gaps: tuple[str, ...] = ()
    has_parts: bool = False  # a failed request may have stored some of its rows
