"""Counts of a load in each second, in rows and in requests, and which of both is its rate."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from scale_sweep.model import Interval, LoadSummary, OperationSummary, Work


@dataclass(frozen=True, kw_only=True)
class RatedInterval:
    """One interval of a load."""

    # monotonic_ns, t_s: its end
    monotonic_ns: int
    t_s: float
    phase: str
    unit: str  # what the rate counts, "rows" or "requests"
    rows: int | None  # written and acknowledged; None if no operation writes
    requests: int | None  # answered, of the operations without a rate of their own; None if the protocol has no answers
    # units that are due and not finished; None in a closed loop, and where groups of operations count different units.
    # response_us_*: response times
    backlog: int | None
    response_us_p99: float | None
    response_us_max: float | None

    @property
    def count(self) -> int:
        """Units of the rate, as `unit` says."""
        return (self.requests if self.unit == "requests" else self.rows) or 0


def rated_intervals(intervals: Iterable[Interval], work: Work, *, is_answered: bool = True) -> list[RatedInterval]:
    """The intervals in what this work counts. is_answered: whether the protocol has answers."""
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


def rows_per_s(summary: LoadSummary, work: Work) -> float | None:
    """Rows acknowledged within the window, per second; None if no operation writes."""
    return summary.rows_per_s if work.writes else None


def requests_per_s(summary: LoadSummary, work: Work) -> float | None:
    """Requests answered within the window, per second; None if they were not counted: the protocol has no answers, or
    another program made the load.

    Requests of operations with a rate of their own are subtracted at their mean rate over the whole window, because a
    settled part of it has no counts of each operation.
    """
    answered = summary.service.count
    if summary.window_s <= 0 or not summary.is_answered or (summary.rows_window and not answered):
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
