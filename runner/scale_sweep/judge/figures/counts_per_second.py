"""Counts of a load in each second, its rates, and the time series of a trial."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from scale_sweep.model.declared import Work
from scale_sweep.model.loads import Interval, LoadSummary, OperationSummary
from scale_sweep.model.samples import Sample


@dataclass(frozen=True, kw_only=True)
class RatedInterval:
    monotonic_ns: int  # monotonic_ns, t_s: its end
    t_s: float
    phase: str
    unit: str  # of the rate, "rows" or "requests"
    rows: int | None  # written and acknowledged
    requests: int | None  # answered, without operations that have a rate of their own; None: no answers
    backlog: int | None  # due and not finished; None in a closed loop, and for groups of different units
    response_us_p99: float | None
    response_us_max: float | None

    @property
    def count(self) -> int:
        return (self.requests if self.unit == "requests" else self.rows) or 0


def rated_intervals(intervals: Iterable[Interval], work: Work, *, is_answered: bool = True) -> list[RatedInterval]:
    """is_answered: whether the protocol has answers."""
    paced = {operation.name for operation in work.paced}
    return [
        RatedInterval(
            monotonic_ns=i.monotonic_ns,
            t_s=i.t_s,
            phase=i.phase,
            unit=work.rate_counts,
            rows=i.rows if work.writes else None,
            requests=_requests(i, paced) if is_answered else None,
            backlog=i.backlog_rows if len(work.groups) == 1 or not work.counts_requests else None,
            response_us_p99=i.response_us_p99,
            response_us_max=i.response_us_max,
        )
        for i in intervals
    ]


def _requests(interval: Interval, paced: Container[str]) -> int:
    if not interval.operations:
        return interval.requests
    return sum(count for name, count in interval.operations.items() if name not in paced)


def divided(value: float | None, by: float) -> float | None:
    return value / by if value is not None else None


def rows_per_s(summary: LoadSummary, work: Work) -> float | None:
    """None if no operation writes."""
    return summary.rows_per_s if work.writes else None


def requests_per_s(summary: LoadSummary, work: Work) -> float | None:
    """Answered within the window; None if they were not counted. Of operations with a rate of their own the mean is
    subtracted: a settled part of the window has no counts of each."""
    if summary.requests_per_s is not None or not summary.is_counted:
        return summary.requests_per_s
    answered = summary.service.count
    is_known = summary.is_answered and summary.is_counted
    if summary.window_s <= 0 or not is_known or (summary.rows_window and not answered):
        return None
    paced = {operation.name for operation in work.paced}
    others = sum(_answered_per_s(operation) for operation in summary.operations if operation.name in paced)
    return answered / summary.window_s - others


def rate_per_s(summary: LoadSummary, work: Work) -> float | None:
    return (requests_per_s if work.counts_requests else rows_per_s)(summary, work)


def _answered_per_s(operation: OperationSummary) -> float:
    if operation.service is None or not operation.window_s:
        return 0.0
    return operation.service.count / operation.window_s


SERIES_COLUMNS = (
    "rows_per_s",
    "requests_per_s",
    "server_cpu_cores",
    "generator_cpu_cores",
    "disk_write_mb_per_s",
    "memory_used_gb",
    "memory_available_gb",
    "response_ms_p99",
    "server_system_cores",
    "server_page_faults_per_s",
)

SHORTEST_S = 0.5  # a last, shorter interval has too few requests for a rate

Row = tuple[float, Mapping[str, float | None]]


def time_series(intervals: Sequence[RatedInterval], samples: Sequence[Sample], start_ns: int) -> tuple[Row, ...]:
    """By time; rows of load generator and sampler stay separate."""
    rows = [*_from_intervals(intervals, start_ns), *_from_samples(samples, start_ns)]
    return tuple(sorted(rows, key=lambda row: row[0]))


def _from_intervals(intervals: Sequence[RatedInterval], start_ns: int) -> list[Row]:
    rows: list[Row] = []
    before = 0.0
    for i in intervals:
        length = i.t_s - (before if i.t_s > before else 0.0)  # a further load counts its time from 0 again
        before = i.t_s
        if length > SHORTEST_S:
            values = {
                "rows_per_s": divided(i.rows, length),
                "requests_per_s": divided(i.requests, length),
                "response_ms_p99": divided(i.response_us_p99, 1000),
            }
            rows.append(((i.monotonic_ns - start_ns) / 1e9, values))
    return rows


def _from_samples(samples: Sequence[Sample], start_ns: int) -> list[Row]:
    rows: list[Row] = []
    for old, new in zip(samples, samples[1:], strict=False):
        seconds = (new.monotonic_ns - old.monotonic_ns) / 1e9
        if seconds <= 0:
            continue

        def rate(a: float | None, b: float | None, seconds: float = seconds) -> float | None:
            return (b - a) / seconds if a is not None and b is not None and b >= a else None

        written = rate(old.disk_written_bytes_total, new.disk_written_bytes_total)
        values = {
            "server_cpu_cores": rate(old.server.cpu_s_total, new.server.cpu_s_total),
            "generator_cpu_cores": rate(old.generator.cpu_s_total, new.generator.cpu_s_total),
            "server_system_cores": rate(old.server.system_s_total, new.server.system_s_total),
            "server_page_faults_per_s": rate(old.server.page_faults_total, new.server.page_faults_total),
            "disk_write_mb_per_s": divided(written, 1e6),
            "memory_used_gb": divided(new.server.memory_bytes, 1e9),
            "memory_available_gb": divided(new.memory_available_bytes, 1e9),
        }
        rows.append(((new.monotonic_ns - start_ns) / 1e9, values))
    return rows
