"""The facts of a trial before it begins and of its load, and its last events: files, figures, verdict."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.work import logical_bytes, row_logical_bytes
from scale_sweep.judge.figures.searched import outcome
from scale_sweep.judge.figures.trial_facts import TrialFacts, facts_text
from scale_sweep.judge.method import METHOD
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.model.events import ArtifactMade, Event, IntervalsPlaced, TrialFinished
from scale_sweep.model.loads import Interval, LoadSummary
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.samples import Sample, SamplerCost


@dataclass(frozen=True, kw_only=True)
class LoadSeen:
    """Also if the load failed. Times are monotonic."""

    load_start_ns: int | None
    measure_start_ns: int | None
    flush_end_ns: int | None
    summary: LoadSummary | None
    sampler_cost: SamplerCost | None
    commits_before: int | None  # at the window's edges, inexact by the time of the answer
    commits_after: int | None
    generator_log: str
    intervals: tuple[Interval, ...]
    samples: tuple[Sample, ...]


def facts_at_first(order: TrialOrder) -> TrialFacts:
    return TrialFacts(
        ceiling_rows_per_s=order.ceiling_rows_per_s,
        disk_ceilings=order.disk_ceilings,
        logical_bytes_per_row=logical_bytes(order.trial.work),
        row_bytes=row_logical_bytes(order.trial.work),
        networks=order.networks,
    )


def ended(
    order: TrialOrder, facts: TrialFacts, server: Mapping[str, str], started: datetime.datetime, wall_s: float
) -> Iterator[Event]:
    """server: as its runtime reported it."""
    trial = order.trial
    yield ArtifactMade(trial_id=trial.trial_id, name="loadgen.jsonl", text=facts.generator_log)
    yield ArtifactMade(trial_id=trial.trial_id, name="server.log", text=facts.log_tail)
    if facts.tool:
        yield IntervalsPlaced(trial_id=trial.trial_id, intervals=facts.intervals)
    facts_file = facts_text(facts, with_summary=not trial.load.is_ours and not facts.tool)
    yield ArtifactMade(trial_id=trial.trial_id, name="facts.json", text=facts_file)
    come_to = outcome(load_axis(order.axis), trial, facts)
    yield TrialFinished(
        result=TrialResult(
            trial=trial,
            measurement=come_to.measurement,
            verdict=come_to.verdict,
            effective=facts.effective,
            server=server,
            log_tail=facts.log_tail,
            started_utc=started.isoformat(timespec="seconds"),
            wall_s=wall_s,
            method=METHOD,
            loaded_by=facts.summary.program if facts.summary else None,
        )
    )


def lost_trial(order: TrialOrder, reason: str) -> Iterator[Event]:
    facts = replace(facts_at_first(order), aborted=reason)
    yield from ended(order, facts, {}, datetime.datetime.now(datetime.UTC), 0.0)
