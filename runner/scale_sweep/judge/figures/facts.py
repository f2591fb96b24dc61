"""The raw facts of a finished trial, from which figures and verdict are made. Data only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from scale_sweep.judge.figures.rated import RatedInterval
from scale_sweep.model import (
    AnswersChecked,
    Counted,
    DiskCeiling,
    Interval,
    LoadSummary,
    Preloaded,
    RowsSummed,
    Sample,
    SamplerCost,
)

STEADY_PHASE = "measure"
AnyInterval = TypeVar("AnyInterval", Interval, RatedInterval)


@dataclass(frozen=True, kw_only=True)
class DiscardedTransient:
    """The time between the warm-up and the window, discarded because the rate had not settled.

    rate: units per second of what the rate counts. drift_percent: the trend of the rate over transient and window
    together, in percent of its mean. stalled: the transient's seconds below a tenth of the median rate.
    """

    seconds: float
    rate: float
    drift_percent: float
    stalled: int


@dataclass(frozen=True, kw_only=True)
class TrialFacts:
    """The facts. None or empty: not known, for example because the trial ended early.

    data_bytes: the size of the server's files on their disks after the flush. preloaded: the data present before the
    load; None: nothing. row_bytes: the size of one preloaded row without overhead. answers: the operations whose
    answers were checked. summed: the stored rows beside those that were sent; None: not compared.
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
    summed: RowsSummed | None = None


def whole_intervals(intervals: Sequence[AnyInterval], summary: LoadSummary) -> list[AnyInterval]:
    """The intervals that are completely inside the window. A last, shorter one would look like a drop of the rate."""
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
