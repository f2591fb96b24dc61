"""The raw facts of a finished trial, and their JSON (facts.json)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import TypeVar

from scale_sweep.judge.figures.counts_per_second import RatedInterval
from scale_sweep.model.loads import FINISHED, Counted, Interval, LoadSummary, RowsSummed
from scale_sweep.model.questions import AnswersChecked, Preloaded
from scale_sweep.model.samples import DiskCeiling, HostNetwork, Sample, SamplerCost

STEADY_PHASE = "measure"
AnyInterval = TypeVar("AnyInterval", Interval, RatedInterval)


@dataclass(frozen=True, kw_only=True)
class DiscardedTransient:
    """Between warm-up and window: the rate had not settled."""

    seconds: float
    rate: float  # of the load's rate, per second
    drift_percent: float  # of the rate with the window, in percent of its mean
    stalled: int  # seconds below a tenth of the median rate


@dataclass(frozen=True, kw_only=True)
class StepSeen:
    """A step's lines of the load generator."""

    rate: float
    summary: LoadSummary
    intervals: tuple[Interval, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TrialFacts:
    """None or empty: not known, for example because the trial ended early."""

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
    data_bytes: int | None = None  # of the server's files after the flush
    preloaded: Preloaded | None = None  # None: nothing
    row_bytes: int | None = None  # of a preloaded row, without overhead
    answers: tuple[AnswersChecked, ...] = ()  # of the checked operations
    summed: RowsSummed | None = None  # None: not compared
    step_rates: tuple[float, ...] = ()  # of a search, after the closed loop of `summary` and `intervals`
    steps: tuple[StepSeen, ...] = ()
    networks: tuple[HostNetwork, ...] = ()  # of hosts that make the load
    beside: tuple[str, ...] = ()  # other sweeps on the server's machine, in words
    tool: str = ""  # JSON: how the output of another program as the load generator is read
    others: tuple[str, ...] = ()  # the other programs there that used most CPU time during the load, in words

    @property
    def of_all_loads(self) -> LoadSummary | None:
        """With the rows of all steps: what the database must hold."""
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
    """Completely inside the window: a last, shorter one would look like a drop of the rate."""
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
STEP_LINES = "step-{:02d}.jsonl"  # from 1


def facts_text(facts: TrialFacts, *, with_summary: bool) -> str:
    """As JSON. with_summary: for a foreign load generator, whose raw output does not hold it."""
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
    is_cut = summary.outcome == "interrupted"
    what = "was interrupted from outside" if is_cut else f"did not end normally ({summary.outcome})"
    return f"the load {what}, {max(summary.window_s, 0.0):.1f} s after its window began"
