"""What the rate of a load counts: rows if it only writes, else requests. Pure.

Verdict rules, steadiness and windows use one count each second, which they call rows. An operation with a rate of its
own beside others is not counted: its rate was offered, and does not show what the server can do. Refuses to change what
is recorded.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

from scale_sweep.judge.figures.facts import TrialFacts
from scale_sweep.model import Interval, LoadSummary, OperationSummary, Work


def rated_intervals(intervals: Sequence[Interval], work: Work) -> list[Interval]:
    """The intervals, with the counted quantity in the field of rows."""
    if not work.counts_requests:
        return list(intervals)
    paced = {operation.name for operation in work.paced}
    return [replace(i, rows=_requests(i, paced), **_backlog(work)) for i in intervals]


def _requests(interval: Interval, paced: Container[str]) -> int:
    if not interval.operations:
        return interval.requests
    return sum(count for name, count in interval.operations.items() if name not in paced)


def _backlog(work: Work) -> dict[str, Any]:
    """No backlog where groups of operations have their own: they count different units."""
    return {"backlog_rows": None} if len(work.groups) > 1 else {}


def requests_per_s(summary: LoadSummary, work: Work) -> float | None:
    """Requests answered within the window, per second; None if rows are counted.

    Requests of operations with a rate of their own are subtracted at their mean rate over the whole window, because a
    settled part of it has no counts of each operation.
    """
    if not work.counts_requests or summary.window_s <= 0:
        return None
    paced = {operation.name for operation in work.paced}
    others = sum(_answered_per_s(operation) for operation in summary.operations if operation.name in paced)
    return summary.service.count / summary.window_s - others


def _answered_per_s(operation: OperationSummary) -> float:
    if operation.service is None or not operation.window_s:
        return 0.0
    return operation.service.count / operation.window_s


def rated(facts: TrialFacts, work: Work) -> TrialFacts:
    """The facts, with the counted quantity in the field of rows."""
    summary = facts.summary
    if not work.counts_requests or summary is None:
        return facts
    rate = requests_per_s(summary, work)
    counted = summary.service.count if rate is None else round(rate * summary.window_s)
    answered = replace(summary, rows_window=counted, rows_per_s=rate)
    return replace(facts, intervals=tuple(rated_intervals(facts.intervals, work)), summary=answered)
