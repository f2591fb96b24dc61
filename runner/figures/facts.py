"""What a trial has collected when it is over: the raw facts that its figures and its verdict are made of. Data only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runner.model import AnswersChecked, Counted, DiskCeiling, Interval, LoadSummary, Preloaded, Sample, SamplerCost

STEADY_PHASE = "measure"


@dataclass(frozen=True, kw_only=True)
class DiscardedTransient:
    """What was measured after the warm-up and before the window, because the rate had not settled.

    drift_percent: of the rate over both together, in percent of its mean; stalled: of its seconds, those under a tenth
    of the median rate.
    """

    seconds: float
    rows_per_s: float
    drift_percent: float
    stalled: int


@dataclass(frozen=True, kw_only=True)
class TrialFacts:
    """What is known of a trial; None or empty: not known, as where it ended early.

    data_bytes: what the server's files take on their disks when everything is flushed. preloaded: what was there
    before the load, None: nothing; row_bytes: of one of its rows, without any overhead. answers: of the operations
    whose answers were checked.
    """

    load_start_ns: int | None = None
    measure_start_ns: int | None = None
    flush_end_ns: int | None = None
    summary: LoadSummary | None = None
    sampler_cost: SamplerCost | None = None
    counted: Counted | None = None
    commits_before: int | None = None
    commits_after: int | None = None
    ceiling_rows_per_s: float | None = None
    aborted: str = ""
    log_tail: str = ""
    generator_log: str = ""
    effective: Mapping[str, str] = field(default_factory=dict)
    mismatches: tuple[str, ...] = ()
    suspicious: tuple[str, ...] = ()
    intervals: tuple[Interval, ...] = ()
    samples: tuple[Sample, ...] = ()
    disk_ceilings: tuple[DiskCeiling, ...] = ()
    logical_bytes_per_row: float | None = None
    transient: DiscardedTransient | None = None
    data_bytes: int | None = None
    preloaded: Preloaded | None = None
    row_bytes: int | None = None
    answers: tuple[AnswersChecked, ...] = ()


def whole_intervals(intervals: Sequence[Interval], summary: LoadSummary) -> list[Interval]:
    """The intervals that lie whole inside the window; a last, shorter one would look like a fall of the rate."""
    inside = []
    before = 0.0
    for interval in intervals:
        length_ns = (interval.t_s - before) * 1e9
        before = interval.t_s
        if (
            interval.phase == STEADY_PHASE
            and length_ns > 0.95e9
            and interval.monotonic_ns - length_ns >= summary.window_start_ns - 2e7
            and interval.monotonic_ns <= summary.window_end_ns + 2e7
        ):
            inside.append(interval)
    return inside
