"""The raw facts of a finished trial, from which figures and verdict are made, and their JSON (facts.json)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import TypeVar

from scale_sweep.judge.figures.rated import RatedInterval
from scale_sweep.model import (
    FINISHED,
    AnswersChecked,
    Counted,
    DiskCeiling,
    HostNetwork,
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
    """The time between the warm-up and the window, discarded because the rate had not settled."""

    seconds: float
    rate: float  # units per second of what the rate counts
    drift_percent: float  # the trend of the rate over transient and window together, in percent of its mean
    stalled: int  # the transient's seconds below a tenth of the median rate


@dataclass(frozen=True, kw_only=True)
class StepSeen:
    """One step of a search: the offered rate, and the load generator's lines."""

    rate: float
    summary: LoadSummary
    intervals: tuple[Interval, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TrialFacts:
    """The facts. None or empty: not known, for example because the trial ended early."""

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
    data_bytes: int | None = None  # the size of the server's files on their disks after the flush
    preloaded: Preloaded | None = None  # the data present before the load; None: nothing
    row_bytes: int | None = None  # the size of one preloaded row without overhead
    answers: tuple[AnswersChecked, ...] = ()  # the operations whose answers were checked
    summed: RowsSummed | None = None  # the stored rows beside those that were sent; None: not compared
    # step_rates, steps: of a search, after the closed loop that `summary` and `intervals` are of
    step_rates: tuple[float, ...] = ()
    steps: tuple[StepSeen, ...] = ()
    networks: tuple[HostNetwork, ...] = ()  # of the hosts, if the load is made elsewhere
    beside: tuple[str, ...] = ()  # other sweeps on the server's machine, in words

    @property
    def of_all_loads(self) -> LoadSummary | None:
        """The summary, with the rows of all steps: what the database must hold. None without a summary."""
        if self.summary is None or not self.steps:
            return self.summary
        loads, last = [self.summary, *(step.summary for step in self.steps)], self.steps[-1].summary
        return replace(
            self.summary,
            rows_acked=sum(one.rows_acked for one in loads),
            rows_failed=sum(one.rows_failed for one in loads),
            rows_unanswered=sum(one.rows_unanswered for one in loads),
            rows_distinct=last.rows_distinct,
            table_rows=None if any(one.table_rows is None for one in loads) else last.table_rows,
        )

    @property
    def all_intervals(self) -> tuple[Interval, ...]:
        return (*self.intervals, *(interval for step in self.steps for interval in step.intervals))


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


IN_RAW_FILES = ("summary", "intervals", "samples", "log_tail", "generator_log", "transient", "steps")
STEP_LINES = "step-{:02d}.jsonl"  # the lines of a step, counted from 1


def facts_text(facts: TrialFacts, *, with_summary: bool) -> str:
    """The facts as JSON. with_summary: for a foreign load generator, whose raw output does not hold those figures."""
    left_out = set(IN_RAW_FILES) - ({"summary"} if with_summary else set())
    kept = {f.name: getattr(facts, f.name) for f in fields(facts) if f.name not in left_out}
    plain = {name: _plain(value) for name, value in kept.items()}
    return json.dumps(plain, indent=1, ensure_ascii=False, default=dict)


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def unfinished(summary: LoadSummary) -> str:
    """Why the figures are not those of the requested load; "" if they are."""
    if summary.outcome in FINISHED:
        return ""
    seconds = max(summary.window_s, 0.0)
    if summary.outcome == "interrupted":
        return f"the load was interrupted from outside, {seconds:.1f} s after its window began"
    return f"the load did not end normally ({summary.outcome}), {seconds:.1f} s after its window began"
