"""What each stage of a trial came to know, frozen when the stage is over. Data only.

The fields are those of TrialFacts, which is put together from them. A stage that was not reached adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from runner.figures.facts import TrialFacts
from runner.model import AnswersChecked, Counted, Interval, LoadSummary, Preloaded, Sample, SamplerCost


@dataclass(frozen=True, kw_only=True)
class SchemaMade:
    """The server as it says that it is set, and where that is not as planned."""

    effective: Mapping[str, str]
    mismatches: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RowsThere:
    """What reads find."""

    preloaded: Preloaded


@dataclass(frozen=True, kw_only=True)
class Answered:
    """How answers compared with the right ones, so far."""

    answers: tuple[AnswersChecked, ...]


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """All that was seen while the server was loaded, also where the load failed; times are monotonic.

    commits_before, commits_after: the server's count at the window's begin and end. Inexact by what it commits between
    the moment itself and the answer, mostly a few milliseconds; and where the rate had not settled at first, what was
    left out of the window is counted with it.
    """

    load_start_ns: int | None
    measure_start_ns: int | None
    flush_end_ns: int | None
    summary: LoadSummary | None
    sampler_cost: SamplerCost | None
    commits_before: int | None
    commits_after: int | None
    generator_log: str
    intervals: tuple[Interval, ...]
    samples: tuple[Sample, ...]


@dataclass(frozen=True, kw_only=True)
class Verified:
    """The truth about the rows, by the database's own count; None where it keeps none. data_bytes: of its files."""

    counted: Counted | None
    data_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The server's last words, and those of them that make the number doubtful."""

    log_tail: str
    suspicious: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Aborted:
    """Why the trial did not come to its end."""

    aborted: str


StageResult = SchemaMade | RowsThere | Answered | Loaded | Verified | Ended | Aborted


def with_stage(facts: TrialFacts, stage: StageResult) -> TrialFacts:
    """The facts and what the stage added."""
    return replace(facts, **{f.name: getattr(stage, f.name) for f in fields(stage)})
