"""The results of the stages of a trial, each frozen at the end of its stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from scale_sweep.judge.figures.trial_facts import StepSeen, TrialFacts
from scale_sweep.model import AnswersChecked, Counted, Interval, LoadSummary, Preloaded, RowsSummed, Sample, SamplerCost


@dataclass(frozen=True, kw_only=True)
class SchemaMade:
    """The server's own report of its settings, and the differences from the plan."""

    effective: Mapping[str, str]
    mismatches: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RowsThere:
    """The rows that reads find."""

    preloaded: Preloaded


@dataclass(frozen=True, kw_only=True)
class AnswersCompared:
    """The comparison of answers with the right ones, so far."""

    answers: tuple[AnswersChecked, ...]


@dataclass(frozen=True, kw_only=True)
class LoadSeen:
    """Everything seen during the load, also if it failed. Times are monotonic."""

    load_start_ns: int | None
    measure_start_ns: int | None
    flush_end_ns: int | None
    summary: LoadSummary | None
    sampler_cost: SamplerCost | None
    # commits_before, commits_after: the server's count at the window's start and end. They are inexact by commits
    # between that moment and the answer, usually a few milliseconds. Commits of a discarded transient are counted too
    commits_before: int | None
    commits_after: int | None
    generator_log: str
    intervals: tuple[Interval, ...]
    samples: tuple[Sample, ...]


@dataclass(frozen=True, kw_only=True)
class Searched:
    """The steps of a search, after the closed loop."""

    step_rates: tuple[float, ...]
    steps: tuple[StepSeen, ...]


@dataclass(frozen=True, kw_only=True)
class Verified:
    """The database's own count of rows; None if it has none."""

    counted: Counted | None
    data_bytes: int | None = None  # of its files
    beside: tuple[str, ...] = ()  # other sweeps


@dataclass(frozen=True, kw_only=True)
class RowsCompared:
    """The stored rows beside those that were sent; None: not compared."""

    summed: RowsSummed | None


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The server's last log lines, and those of them that make the number doubtful."""

    log_tail: str
    suspicious: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Aborted:
    """The reason why the trial ended early."""

    aborted: str


StageResult = SchemaMade | RowsThere | AnswersCompared | LoadSeen | Searched | Verified | RowsCompared | Ended | Aborted


def with_stage(facts: TrialFacts, stage: StageResult) -> TrialFacts:
    return replace(facts, **{f.name: getattr(stage, f.name) for f in fields(stage)})
