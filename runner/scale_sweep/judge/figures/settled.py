"""Chooses the part of the measured time that the figures cover: all of it, or, if the rate had not settled at first,
the part after the discarded transient. Pure; it uses recorded lines only, so `scale verify` can repeat it.

If the start moves, rows, rate, the load generator's CPU time and the latencies are counted again from the intervals.
Figures from samples follow, because they are taken between the summary's two times. Refuses to cut a second: the window
then begins and ends with an interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.judge.figures.facts import DiscardedTransient, TrialFacts, whole_intervals
from scale_sweep.judge.figures.rated import RatedInterval, rated_intervals
from scale_sweep.judge.verdict import STALLED_SHARE, seconds_to_claim, seconds_to_settle, steadiness
from scale_sweep.loadgen.merge import latency_of
from scale_sweep.model import Interval, Load, LoadSummary, Work


def with_summary(facts: TrialFacts, summary: LoadSummary | None, load: Load, work: Work) -> TrialFacts:
    """The facts with the load generator's summary, for the settled part. The facts must hold the intervals."""
    whole = replace(facts, summary=summary, transient=None)
    if summary is None or not least_seconds(load):
        return whole
    inside = whole_intervals(facts.intervals, summary)
    settle = seconds_to_claim if load.carries_claim and load.is_long(summary.window_s) else seconds_to_settle
    counted = rated_intervals(inside, work)
    passed = settle([i.count for i in counted], least_seconds(load))
    if not passed:
        return whole
    before, after = _cut(facts.intervals, inside[passed - 1], inside[-1])
    if any(i.cpu_s is None or (i.requests and not i.response_hdr) for i in after):
        return whole  # an older load generator did not report what a part of a window needs
    kept = _of_stretch(summary, before.monotonic_ns, after)
    return replace(facts, summary=kept, transient=_passed_over(summary, kept, counted, passed))


def least_seconds(load: Load) -> int:
    """The shortest window whose start may move, in whole seconds; 0: the start never moves.

    It never moves in a window of fixed length, which has no seconds to spare, and in a disk sweep, whose
    acknowledgements need not be steady.
    """
    if load.window_max_s is None or load.duration_s is None or not load.may_discard:
        return 0
    return round(load.duration_s)


def _cut(intervals: Sequence[Interval], last_before: Interval, last: Interval) -> tuple[Interval, list[Interval]]:
    """The interval that ends at the part's start, and all intervals of the part. Short ones stay, because none may be
    lost."""
    start, end = intervals.index(last_before), intervals.index(last)
    return intervals[start], list(intervals[start + 1 : end + 1])


def _of_stretch(summary: LoadSummary, start_ns: int, stretch: Sequence[Interval]) -> LoadSummary:
    end_ns, rows = stretch[-1].monotonic_ns, sum(i.rows for i in stretch)
    window_s = (end_ns - start_ns) / 1e9
    response = latency_of([hdr for i in stretch for hdr in i.response_hdr])
    service = [hdr for i in stretch for hdr in i.service_hdr]
    return replace(
        summary,
        window_start_ns=start_ns,
        window_end_ns=end_ns,
        window_s=window_s,
        rows_window=rows,
        rows_per_s=rows / window_s,
        cpu_window_s=sum(i.cpu_s or 0.0 for i in stretch),
        response=response,
        service=latency_of(service) if service else response,
    )


def _passed_over(
    whole: LoadSummary, kept: LoadSummary, inside: Sequence[RatedInterval], passed: int
) -> DiscardedTransient:
    rates = sorted(i.count for i in inside)
    still = STALLED_SHARE * rates[len(rates) // 2]
    seconds = (kept.window_start_ns - whole.window_start_ns) / 1e9
    counts = [i.count for i in inside[:passed]]
    return DiscardedTransient(
        seconds=seconds,
        rate=sum(counts) / len(counts),
        drift_percent=steadiness([i.count for i in inside]).drift_percent or 0.0,
        stalled=sum(count < still for count in counts),
    )
