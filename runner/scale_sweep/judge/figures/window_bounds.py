"""When a window may begin and end, and which part of the measured time the figures cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.judge.figures.counts_per_second import RatedInterval, rated_intervals
from scale_sweep.judge.figures.trial_facts import STEADY_PHASE, DiscardedTransient, TrialFacts, whole_intervals
from scale_sweep.judge.verdict.steady import look_at, look_seconds, steadiness, troubles
from scale_sweep.judge.verdict.thresholds import STALLED_SHARE
from scale_sweep.judge.verdict.window_start import is_level, seconds_to_claim, seconds_to_settle
from scale_sweep.loadgen.merge import latency_of
from scale_sweep.model.declared import Work
from scale_sweep.model.declared_parts import Load
from scale_sweep.model.loads import Interval, LoadSummary

WARMUP_PHASE = "warmup"
EDGE_S = 1.2  # the window ends with the interval after the deciding one


def window_is_enough(load: Load, intervals: Sequence[RatedInterval], measure_start_ns: int | None) -> bool:
    """Whether a growing window has its requested length and is steady, also after a discarded transient. One that
    carries the claim is checked only at its looks; with too few seconds to decide it is enough."""
    if load.window_max_s is None or load.duration_s is None or measure_start_ns is None:
        return False
    inside = [i for i in intervals if i.phase == STEADY_PHASE]
    if not inside or (inside[-1].monotonic_ns - measure_start_ns) / 1e9 < load.duration_s - EDGE_S:
        return False
    if load.is_sparse:
        return True
    rates = [i.count for i in inside]
    if not (load.carries_claim and load.is_long(load.duration_s)):
        discarded = seconds_to_settle(rates, least_seconds(load))
        return discarded is not None and not troubles(steadiness(rates[discarded:]), claims=False)
    look = _new_look(load.duration_s, load.window_max_s, [(i.monotonic_ns - measure_start_ns) / 1e9 for i in inside])
    return look is not None and seconds_to_claim(rates, least_seconds(load), look) is not None


def warmup_is_enough(load: Load, intervals: Sequence[RatedInterval]) -> bool:
    """Only seconds of the warm-up are looked at, never those of the window."""
    if load.warmup_least_s is None or not intervals or intervals[-1].t_s + EDGE_S < load.warmup_least_s:
        return False
    return load.is_sparse or is_level(warmup_rates(intervals))


def warmup_rates(intervals: Sequence[RatedInterval]) -> list[int]:
    return [i.count for i in intervals if i.phase == WARMUP_PHASE]


def _new_look(duration_s: float, window_max_s: float, ends_s: Sequence[float]) -> int | None:
    """That the last interval reached, from 1; None between two. ends_s: since the window's start."""
    looks = look_seconds(duration_s, window_max_s)
    before = look_at(ends_s[-2] + EDGE_S, looks) if len(ends_s) > 1 else None
    now = look_at(ends_s[-1] + EDGE_S, looks)
    return now if now != before else None


def with_summary(facts: TrialFacts, summary: LoadSummary | None, load: Load, work: Work) -> TrialFacts:
    """For the settled part. The facts must hold the intervals."""
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
        return whole  # not reported by an older load generator
    kept = _of_stretch(summary, before.monotonic_ns, after)
    return replace(facts, summary=kept, transient=_passed_over(summary, kept, counted, passed))


def least_seconds(load: Load) -> int:
    """0: the start never moves: with a fixed length, and in a disk sweep, which need not be steady."""
    if load.window_max_s is None or load.duration_s is None or not load.may_discard or load.is_sparse:
        return 0
    return round(load.duration_s)


def _cut(intervals: Sequence[Interval], last_before: Interval, last: Interval) -> tuple[Interval, list[Interval]]:
    """The interval that ends at the part's start, and all of the part."""
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
    counts = [i.count for i in inside]
    still = STALLED_SHARE * sorted(counts)[len(counts) // 2]
    return DiscardedTransient(
        seconds=(kept.window_start_ns - whole.window_start_ns) / 1e9,
        rate=sum(counts[:passed]) / passed,
        drift_percent=steadiness(counts).drift_percent or 0.0,
        stalled=sum(count < still for count in counts[:passed]),
    )
