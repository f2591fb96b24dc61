"""Makes one trial again from its raw files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hdrh.histogram import HdrHistogram

from scale_sweep.base.errors import LoadError, StoreError
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge import method
from scale_sweep.judge.figures.counts_per_second import rated_intervals
from scale_sweep.judge.figures.searched import outcome
from scale_sweep.judge.figures.tool_facts import read_again
from scale_sweep.judge.figures.trial_facts import STEP_LINES, StepSeen, TrialFacts
from scale_sweep.judge.figures.window_bounds import least_seconds, with_summary
from scale_sweep.loadgen.handle import Recorded, recorded_of
from scale_sweep.model.loads import Latency, LoadSummary
from scale_sweep.model.measured import Measurement, TrialResult, Verdict
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.results.store.codec import from_json
from scale_sweep.results.store.reader import done_of, folder_of, read_samples
from scale_sweep.results.store.stored import Folder, lines_of, read_text
from scale_sweep.results.store.texts import series_text
from scale_sweep.verify.digests import Disagreement, OtherMethod, as_json, differences, figure_differs, leaves


@dataclass(frozen=True, kw_only=True)
class TrialAgain:
    result: TrialResult  # the stored one, with all replaced that can be computed; a verdict of another method is kept
    judged: Verdict  # by today's method
    series: str  # the text of series.csv
    figures: int
    disagreements: tuple[Disagreement, ...]
    other_method: OtherMethod


def trial_again(run: Folder, plan: Plan, stored: TrialResult) -> TrialAgain:
    """Raises StoreError or LoadError that names the raw file."""
    trial = stored.trial
    folder = folder_of(trial)
    facts, inconsistent = _facts(run, folder, trial)
    again = outcome(load_axis(plan.sweep.axis), trial, facts)
    is_ours = stored.method == method.METHOD
    made = replace(
        stored,
        measurement=again.measurement if is_ours else _judged_as(stored.measurement, again.measurement),
        verdict=again.verdict if is_ours else stored.verdict,
        effective=facts.effective,
        log_tail=facts.log_tail,
        loaded_by=facts.summary.program if facts.summary else None,
    )
    is_answered = again.measurement.rows_sent is None
    rated = rated_intervals(facts.all_intervals, trial.work, is_answered=is_answered)
    series = series_text(rated, facts.samples, facts.measure_start_ns or 0)
    before, after = as_json(stored), as_json(made)
    disagreements = [Disagreement(file=f"{folder}/loadgen.jsonl", sentence=sentence) for sentence in inconsistent]
    disagreements += [figure_differs(done_of(trial), one) for one in differences(before, after)]
    return TrialAgain(
        result=made,
        judged=again.verdict,
        series=series,
        figures=leaves(after["measurement"]) + leaves(after["verdict"]) + leaves(after["effective"]),
        disagreements=tuple(disagreements),
        other_method=OtherMethod() if is_ours else OtherMethod(compared=1, differ=int(again.verdict != stored.verdict)),
    )


def _judged_as(stored: Measurement, again: Measurement) -> Measurement:
    steps = tuple(
        replace(new, verdict=old.verdict, usable=old.usable, why=old.why, excess=old.excess)
        for new, old in zip(again.steps, stored.steps, strict=False)
    )
    return replace(
        again,
        steps=(*steps, *again.steps[len(steps) :]),
        capacity_per_s=stored.capacity_per_s,
        capacity_low_per_s=stored.capacity_low_per_s,
        capacity_high_per_s=stored.capacity_high_per_s,
    )


def _facts(run: Folder, folder: str, trial: Trial) -> tuple[TrialFacts, tuple[str, ...]]:
    facts = replace(
        from_json(read_text(run, f"{folder}/facts.json"), TrialFacts, run / folder / "facts.json"),
        log_tail=read_text(run, f"{folder}/server.log"),
        samples=read_samples(run, trial),
    )
    if facts.tool:
        try:
            return read_again(facts, list(lines_of(run, f"{folder}/loadgen.jsonl"))), ()
        except (ValueError, TypeError, KeyError, re.error) as error:
            raise StoreError(f"{run / folder}: the tool's output cannot be read again: {error}") from None
    if not trial.load.is_ours:
        return facts, ()
    recorded = _recorded(run, f"{folder}/loadgen.jsonl", with_times=least_seconds(trial.load) > 0)
    facts = with_summary(replace(facts, intervals=recorded.intervals), recorded.summary, trial.load, trial.work)
    facts = replace(facts, steps=tuple(_steps(run, folder, facts.step_rates)))
    complete = recorded.summary is not None and not facts.aborted
    return facts, tuple(_inconsistent(recorded.summary, facts)) if complete and recorded.summary else ()


def _recorded(run: Folder, name: str, *, with_times: bool = False) -> Recorded:
    try:
        return recorded_of(lines_of(run, name), with_times=with_times)
    except LoadError as error:
        raise StoreError(f"{run / name}: {error.message}") from None


def _steps(run: Folder, folder: str, rates: Sequence[float]) -> Iterator[StepSeen]:
    """StoreError for a step that is missing or did not end."""
    for number, rate in enumerate(rates, 1):
        name = f"{folder}/{STEP_LINES.format(number)}"
        recorded = _recorded(run, name)
        if recorded.summary is None:
            raise StoreError(f"{run / name}: the load has no summary")
        yield StepSeen(rate=rate, summary=recorded.summary, intervals=recorded.intervals)


def _inconsistent(summary: LoadSummary, facts: TrialFacts) -> Iterator[str]:
    seen = sum(i.rows for i in facts.intervals)
    if seen != summary.rows_acked:
        yield f"its intervals hold {seen} rows, its summary {summary.rows_acked}"
    if summary.rows_per_s and summary.window_s:
        rate = summary.rows_window / summary.window_s
        if abs(rate - summary.rows_per_s) > 1e-6 * rate:
            yield f"its summary has {summary.rows_per_s:.10g} rows/s, its rows over its window are {rate:.10g}"
    for name, latency in (("response", summary.response), ("service", summary.service)):
        if latency.hdr and (held := _held(latency)) != latency.count:
            yield f"its {name} histogram holds {held} requests, its summary has {latency.count}"


def _held(latency: Latency) -> int:
    try:
        return int(HdrHistogram.decode(latency.hdr).get_total_count())
    except Exception:  # the decoder may raise anything for a damaged histogram
        return -1
