"""The stretch of the measuring that the trial's figures are of: all of it, or, where the rate had not settled when the
measuring began, what came after. Pure, and from recorded lines alone, so that `scale verify` does it again.

A figure is of one stretch: where the start moves, rows, rate, the generator's CPU and the latencies are counted anew
from the intervals, and what the samples tell follows, since it is taken between the summary's two times. Refuses to cut
a second: the window then begins and ends where an interval does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner.figures.facts import DiscardedTransient, TrialFacts, whole_intervals
from runner.figures.rated import rated_intervals
from runner.loadgen.merge import latency_of
from runner.model import Interval, Load, LoadSummary, Work
from runner.verdict import STALLED_SHARE, seconds_to_claim, seconds_to_settle, steadiness


def with_summary(facts: TrialFacts, summary: LoadSummary | None, load: Load, work: Work | None = None) -> TrialFacts:
    """The facts with the load generator's last word, of the stretch that has settled. The intervals must be there.

    work: what is done, which says what the rate counts; None: rows.
    """
    whole = replace(facts, summary=summary, transient=None)
    if summary is None or not least_seconds(load):
        return whole
    inside = whole_intervals(facts.intervals, summary)
    settle = seconds_to_claim if load.carries_claim and load.is_long(summary.window_s) else seconds_to_settle
    counted = rated_intervals(inside, work) if work is not None else inside
    passed = settle([i.rows for i in counted], least_seconds(load))
    if not passed:
        return whole
    before, after = _cut(facts.intervals, inside[passed - 1], inside[-1])
    if any(i.cpu_s is None or (i.requests and not i.response_hdr) for i in after):
        return whole  # written by a load generator that did not tell what a part of a window needs
    kept = _of_stretch(summary, before.monotonic_ns, after)
    return replace(facts, summary=kept, transient=_passed_over(summary, kept, counted, passed))


def least_seconds(load: Load) -> int:
    """The shortest window whose start may move, in whole seconds; 0: the start never moves.

    A window of fixed length has no seconds to spare; in a disk sweep the rate of acknowledgements need not be steady.
    """
    if load.window_max_s is None or load.duration_s is None or not load.may_discard:
        return 0
    return round(load.duration_s)


def _cut(intervals: Sequence[Interval], last_before: Interval, last: Interval) -> tuple[Interval, list[Interval]]:
    """The interval that ends where the stretch begins, and all of the stretch, short ones too: none may be lost."""
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


def _passed_over(whole: LoadSummary, kept: LoadSummary, inside: Sequence[Interval], passed: int) -> DiscardedTransient:
    rates = sorted(i.rows for i in inside)
    still = STALLED_SHARE * rates[len(rates) // 2]
    seconds = (kept.window_start_ns - whole.window_start_ns) / 1e9
    rows = [i.rows for i in inside[:passed]]
    return DiscardedTransient(
        seconds=seconds,
        rows_per_s=sum(rows) / len(rows),
        drift_percent=steadiness([i.rows for i in inside]).drift_percent or 0.0,
        stalled=sum(r < still for r in rows),
    )
