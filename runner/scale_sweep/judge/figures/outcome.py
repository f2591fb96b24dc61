"""The figures of one load, the evidence of its verdict, and the verdict, from raw facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scale_sweep.base.units import format_rate, moved_words
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.experiment.work import miscounted, stores
from scale_sweep.experiment.work.sums import wrong_rows
from scale_sweep.judge.figures.counts_per_second import RatedInterval, rated_intervals
from scale_sweep.judge.figures.disturbed import verdict_of_disturbed
from scale_sweep.judge.figures.littles_law import contradiction, occupied_of
from scale_sweep.judge.figures.measurement import commits_in_window, measurement
from scale_sweep.judge.figures.operations import hidden, offered_of
from scale_sweep.judge.figures.resource_use import halves_of, resources_of, second_uses, window_use
from scale_sweep.judge.figures.trial_facts import TrialFacts, unfinished, whole_intervals
from scale_sweep.judge.figures.window_bounds import warmup_rates
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import Evidence, Integrity
from scale_sweep.judge.verdict.thresholds import LEVEL_PERCENT
from scale_sweep.judge.verdict.window_start import compared_seconds, is_level
from scale_sweep.model.measured import Measurement, Verdict
from scale_sweep.model.planned import Trial


def evidence(trial: Trial, facts: TrialFacts, m: Measurement) -> Evidence:
    """m: the trial's own figures. Prepared disks are judged over the whole load, all else over the window."""
    answers, in_order = facts.answers, not trial.work.data.disorder
    s, resources = facts.summary, resources_of(trial, facts)
    has_window = s is not None and s.window_end_ns > s.window_start_ns
    rated = rated_intervals(facts.intervals, trial.work)
    inside = whole_intervals(rated, s) if s is not None else []
    window = window_use(trial, facts, s, inside) if s is not None and has_window else None
    if window is not None and resources.prepared_disks:
        window = replace(window, load_disks=m.disks)
    return Evidence(
        resources=resources,
        measurement=m,
        window=window,
        seconds=tuple(second_uses(trial, facts, s, inside)) if s is not None and has_window else (),
        integrity=Integrity(
            aborted=facts.aborted,
            miscounted=_miscounted(trial, facts, m),
            mismatches=facts.mismatches,
            suspicious=facts.suspicious,
            gaps=_gaps(facts) if m.rows_sent is None and in_order else (),
            unfinished=unfinished(s) if s is not None else "",
            wrong_answers=tuple(sentence for one in answers for sentence in one.wrong),
            wrong_rows=wrong_rows(facts.summed),
        ),
        commits_in_window=commits_in_window(facts) if stores(trial.work) else None,
        overdue=s.overdue if s is not None and (trial.load.rate or trial.work.paced) else None,
        warmup=_not_level(trial, rated) if has_window else "",
        left_out=facts.summed.note if facts.summed else "",
        hidden=hidden(facts),
        transient=_passed_over(facts, resources.unit),
        offered=offered_of(trial, s) if s is not None else (),
        halves=halves_of(facts.samples, inside) if has_window else None,
        contradiction=contradiction(occupied_of(trial, s)) if s is not None and has_window else "",
        claims=s is not None and trial.load.carries_claim and trial.load.is_long(s.window_s),
    )


def _miscounted(trial: Trial, facts: TrialFacts, m: Measurement) -> str:
    """Where nothing is acknowledged, the count can only deny rows that were not sent: what a server refuses may be of
    an earlier request."""
    s = facts.summary
    uncertain = s.rows_failed + s.rows_unanswered if s is not None else 0
    if m.rows_sent is None:
        kept, counted = _kept(trial, facts, m), m.rows_counted
        if kept is not None and counted is not None and _may_be_stored_in_part(facts):
            kept = min(max(kept, counted - trial.work.preload_rows), kept + uncertain)
        return miscounted(trial.work, kept, counted)
    most = m.rows_sent + uncertain
    is_more = (m.rows_counted or 0) > most + trial.work.preload_rows
    return miscounted(trial.work, most, m.rows_counted) if is_more else ""


def _may_be_stored_in_part(facts: TrialFacts) -> bool:
    s, counted = facts.summary, facts.counted
    return bool(s and counted and counted.has_parts and s.rows_failed + s.rows_unanswered)


def _gaps(facts: TrialFacts) -> tuple[str, ...]:
    return facts.counted.gaps if facts.counted and not _may_be_stored_in_part(facts) else ()


def _kept(trial: Trial, facts: TrialFacts, m: Measurement) -> int | None:
    """Acknowledged rows that the database keeps; None: some may have the same time."""
    s, counted = facts.summary, facts.counted
    if s is not None and trial.work.data.disorder and counted and counted.is_distinct:
        return s.rows_distinct
    return m.rows_acked


def _not_level(trial: Trial, intervals: Sequence[RatedInterval]) -> str:
    """ "" too if the warm-up had a fixed length."""
    rates = warmup_rates(intervals)
    if trial.load.warmup_least_s is None or not trial.load.warmup_s or is_level(rates):
        return ""
    if len(rates) + 1 < trial.load.warmup_s:
        return ""  # it was level; the second in which it ended was not looked at
    part = compared_seconds(len(rates))
    return (
        f"the rate was not level when the warm-up ended at its bound of {trial.load.warmup_s:g} s: its last "
        f"{part} seconds and the {part} before them differed by more than {LEVEL_PERCENT:g} %"
    )


def _passed_over(facts: TrialFacts, unit: str) -> str:
    passed, s = facts.transient, facts.summary
    if passed is None or s is None:
        return ""
    still = f", {passed.stalled} of them nearly still" if passed.stalled else ""
    return (
        f"the first {passed.seconds:.1f} s after the warm-up were discarded ({format_rate(passed.rate)} "
        f"{unit}{still}): with them the rate {moved_words(passed.drift_percent)}; "
        f"the window is the {s.window_s:.1f} s after them"
    )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    measurement: Measurement
    verdict: Verdict


def outcome_of_load(axis: AxisFacts, trial: Trial, facts: TrialFacts) -> Outcome:
    measured = measurement(trial, facts)
    verdict = diagnose(evidence(trial, facts, measured), axis)
    return Outcome(measurement=measured, verdict=verdict_of_disturbed(verdict) if trial.disturbed else verdict)
