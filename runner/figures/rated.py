"""What the rate of a load counts: rows if it only writes, else requests. Pure.

Verdict rules, steadiness and windows use one count each second, which they call rows. Refuses to change what is
recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner.figures.facts import TrialFacts
from runner.model import Interval, LoadSummary, Work


def rated_intervals(intervals: Sequence[Interval], work: Work) -> list[Interval]:
    """The intervals, with the counted quantity in the field of rows."""
    if not work.counts_requests:
        return list(intervals)
    return [replace(i, rows=sum(i.operations.values()) if i.operations else i.requests) for i in intervals]


def requests_per_s(summary: LoadSummary, work: Work) -> float | None:
    """Requests answered within the window, per second; None if rows are counted."""
    if not work.counts_requests or summary.window_s <= 0:
        return None
    return summary.service.count / summary.window_s


def rated(facts: TrialFacts, work: Work) -> TrialFacts:
    """The facts, with the counted quantity in the field of rows."""
    summary = facts.summary
    if not work.counts_requests or summary is None:
        return facts
    answered = replace(summary, rows_window=summary.service.count, rows_per_s=requests_per_s(summary, work))
    return replace(facts, intervals=tuple(rated_intervals(facts.intervals, work)), summary=answered)
