"""The outcome of a trial: of its one load, or of its search, whose steps are judged each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.base.texts import alike
from scale_sweep.base.units import counted, format_rate
from scale_sweep.capacity.objective import excess_of, requests_needed
from scale_sweep.capacity.search import OPENING_S, WARMUP_S, Capacity, Probe, answer_of, held_words, next_rate
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.experiment.work import rate_of
from scale_sweep.judge.figures.counts_per_second import rate_per_s
from scale_sweep.judge.figures.operations import milliseconds
from scale_sweep.judge.figures.outcome import Outcome, outcome_of_load
from scale_sweep.judge.figures.trial_facts import StepSeen, TrialFacts
from scale_sweep.judge.verdict.bottleneck import verdict_of
from scale_sweep.model.declared_parts import ERRORS, Clause, Load, Objective
from scale_sweep.model.derived import OTHERS_WERE
from scale_sweep.model.loads import Latency, LoadSummary
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Step, Verdict, VerdictKind
from scale_sweep.model.planned import Trial
from scale_sweep.model.samples import Sample


def opening_of(trial: Trial) -> Trial:
    load = replace(trial.load, objective=None, arrival="constant", duration_s=OPENING_S, window_max_s=None)
    return replace(trial, load=replace(load, carries_claim=False))


def step_of(trial: Trial, rate: float) -> Trial:
    load: Load = replace(
        trial.load,
        rate=rate,
        warmup_s=WARMUP_S,
        warmup_least_s=None,
        window_max_s=None,
        may_discard=False,
        carries_claim=False,
        trace_every=0,
    )
    return replace(trial, load=load)


_WRONG = set(map(VerdictKind, ("ABORTED", "LOST_ROWS", "WRONG_ROWS", "WRONG_ANSWER", "ERRORS")))
COUNTS = (VerdictKind.VALID, VerdictKind.SOFTWARE_BOTTLENECK, VerdictKind.UNSTEADY)
OVER = (VerdictKind.OFFERED_NOT_MET, VerdictKind.ERRORS)  # of a step: over capacity, unless others explain it
DISTURBED = (
    BottleneckKind.OTHER_PROCESSES,
    BottleneckKind.HYPERVISOR,
    BottleneckKind.GENERATOR_CPU,
    BottleneckKind.GENERATOR_CEILING,
    BottleneckKind.GENERATOR_LATE,
    BottleneckKind.THROTTLING,
    BottleneckKind.NETWORK,
)
TOO_FAST = (VerdictKind.GENERATOR_BOUND, VerdictKind.OFFERED_NOT_MET)
SPARE = 3  # samples
PERCENTILES = ("p50", "p90", "p95", "p99", "p999", "max")


def outcome_of_search(axis: AxisFacts, trial: Trial, facts: TrialFacts) -> Outcome:
    """The verdict is on the capacity; short steps have none."""
    opening = outcome_of_load(axis, opening_of(trial), replace(facts, summary=facts.of_all_loads))
    judged = [_judged(axis, trial, facts, seen) for seen in facts.steps]
    steps = tuple(step for step, _ in judged)
    answer = answer_of([probe_of(step) for step in steps])
    known = answer if trial.load.is_long(0.0) else replace(answer, rate=None, low=None, high=None)
    measured = replace(
        opening.measurement,
        capacity_per_s=known.rate,
        capacity_low_per_s=known.low,
        capacity_high_per_s=known.high,
        steps=steps,
    )
    return Outcome(measurement=measured, verdict=_verdict(axis, trial, opening.verdict, judged, answer))


def outcome_of_rate(axis: AxisFacts, trial: Trial, facts: TrialFacts) -> Outcome:
    judged = outcome_of_load(axis, trial, facts)
    if facts.summary is None:
        return judged
    step = _step(trial, facts.summary, judged.verdict)
    return replace(judged, measurement=replace(judged.measurement, steps=(step,)))


def next_step_rate(trial: Trial, opening: LoadSummary | None, steps: Sequence[Step]) -> float | None:
    """None: the search is over, or its closed loop (opening) did nothing."""
    begin = rate_per_s(opening, trial.work) if opening is not None else None
    return next_rate(begin, [probe_of(step) for step in steps]) if begin else None


def probe_of(step: Step) -> Probe:
    too_fast = not step.usable and step.verdict in TOO_FAST
    return Probe(rate=step.rate, excess=step.excess, usable=step.usable, too_fast=too_fast)


def judged_step(axis: AxisFacts, trial: Trial, facts: TrialFacts, seen: StepSeen) -> Step:
    return _judged(axis, trial, facts, seen)[0]


def _judged(axis: AxisFacts, trial: Trial, facts: TrialFacts, seen: StepSeen) -> tuple[Step, Verdict]:
    at, summary = step_of(trial, seen.rate), seen.summary
    own = TrialFacts(
        summary=summary,
        intervals=seen.intervals,
        samples=_beside(facts.samples, summary),
        ceiling_rows_per_s=facts.ceiling_rows_per_s,
        disk_ceilings=facts.disk_ceilings,
        logical_bytes_per_row=facts.logical_bytes_per_row,
        row_bytes=facts.row_bytes,
    )
    verdict = outcome_of_load(axis, at, own).verdict
    return _step(at, summary, verdict), verdict


def _beside(samples: Sequence[Sample], summary: LoadSummary) -> tuple[Sample, ...]:
    """Samples of the window, with SPARE around it: those of other steps take time to read."""
    first = bisect_left(samples, summary.window_start_ns, key=lambda sample: sample.monotonic_ns)
    last = bisect_right(samples, summary.window_end_ns, key=lambda sample: sample.monotonic_ns)
    return tuple(samples[max(0, first - SPARE) : last + SPARE])


def _step(trial: Trial, summary: LoadSummary, verdict: Verdict) -> Step:
    objective = trial.load.objective or Objective(clauses=())
    values = {clause.name: value_of(clause, summary) for clause in objective.clauses}
    is_over = _is_over(verdict, objective)
    excess = None if is_over else excess_of(objective, values)
    why = "" if is_over else _why_unusable(verdict, objective, summary, excess)
    return Step(
        rate=trial.load.rate,
        achieved_per_s=rate_per_s(summary, trial.work),
        seconds=summary.window_s,
        requests=summary.service.count,
        verdict=verdict.kind,
        values=values,
        excess=excess,
        usable=not why,
        why=why,
        response_ms=milliseconds(summary.response, PERCENTILES),
        service_ms=milliseconds(summary.service, PERCENTILES),
        late_ms=milliseconds(summary.late, PERCENTILES),
    )


def _is_over(verdict: Verdict, objective: Objective) -> bool:
    disturbed = verdict.bottleneck is not None and verdict.bottleneck.kind in DISTURBED
    if verdict.kind is VerdictKind.ERRORS and any(clause.quantity == ERRORS for clause in objective.clauses):
        return False
    return verdict.kind in OVER and not disturbed


def _why_unusable(verdict: Verdict, objective: Objective, summary: LoadSummary, excess: float | None) -> str:
    """Why it says nothing about the server, if it was not over capacity; "" if it does."""
    if verdict.kind not in (*COUNTS, VerdictKind.ERRORS):
        if verdict.bottleneck is not None and verdict.bottleneck.kind in DISTURBED:
            return verdict.bottleneck.sentence
        reason = verdict.reasons[0] if verdict.reasons else ""
        return f"{verdict.kind.value}: {reason}"
    if excess is None:
        needed = requests_needed(objective)
        return (
            f"{counted(summary.service.count, 'request')} in {summary.window_s:.0f} s, {needed:,} are needed: smaller "
            "requests (--rows-per-request) or longer steps (--duration)"
        )
    return ""


def value_of(clause: Clause, summary: LoadSummary) -> float | None:
    """In the unit of the clause's limit; None with too few requests."""
    if clause.quantity == ERRORS:
        return 100 * summary.errors / summary.requests if summary.requests else None
    times: Latency | None = summary.response
    if clause.operation:
        own = {one.name: one.response for one in summary.operations}
        times = own.get(clause.operation) or (summary.response if len(own) == 1 else None)
    return milliseconds(times, PERCENTILES).get(clause.quantity)


def _verdict(
    axis: AxisFacts, trial: Trial, opening: Verdict, judged: Sequence[tuple[Step, Verdict]], answer: Capacity
) -> Verdict:
    """opening: on the closed loop, and on the rows of all loads."""
    if opening.kind in _WRONG:
        return opening
    steps = [step for step, _ in judged]
    left_out = [verdict for step, verdict in judged if not step.usable]
    out = (*_left_out(steps), *_first_again(steps, answer))
    if answer.rate is not None:
        words = held_words(steps, rate_of(trial.work, durable=False).words, trial.load.duration_s or 0.0)
        held = () if trial.load.is_long(0.0) else (f"no capacity: {words}",)
        return Verdict(kind=VerdictKind.VALID, reasons=(*held, *out), bottleneck=opening.bottleneck)
    reasons = (_no_answer(trial, steps, answer), *out)
    if left_out and not answer.has_enough:
        return _disturbed(axis, left_out, reasons)
    if not any(step.holds for step in steps):
        return Verdict(kind=VerdictKind.OFFERED_NOT_MET, reasons=reasons, bottleneck=opening.bottleneck)
    kind = VerdictKind.RESOURCE_NOT_SATURATED if answer.all_hold else VerdictKind.UNSTEADY
    return Verdict(kind=kind, reasons=reasons)


def _disturbed(axis: AxisFacts, verdicts: Sequence[Verdict], reasons: tuple[str, ...]) -> Verdict:
    """On the bottleneck of most steps that were left out."""
    known = [verdict.bottleneck for verdict in verdicts if verdict.bottleneck is not None]
    bottlenecks = [one for one in known if one.kind in DISTURBED]
    if not bottlenecks:
        kind = Counter(verdict.kind for verdict in verdicts).most_common(1)[0][0]
        return Verdict(kind=VerdictKind.UNSTEADY if kind in COUNTS else kind, reasons=reasons)
    most = Counter(one.kind for one in bottlenecks).most_common(1)[0][0]
    of_kind = [one for one in bottlenecks if one.kind is most]
    shares: Counter[str] = Counter()
    for one in bottlenecks:
        shares.update({kind: share / len(bottlenecks) for kind, share in one.shares.items()})
    return Verdict(
        kind=verdict_of(most, axis),
        reasons=reasons,
        bottleneck=Bottleneck(
            kind=most,
            sentence=alike(one.sentence for one in of_kind)[0][1],
            remedy=of_kind[0].remedy,
            shares=dict(shares.most_common()),
        ),
    )


def _no_answer(trial: Trial, steps: Sequence[Step], answer: Capacity) -> str:
    objective = trial.load.objective
    name = objective.clauses[0].name if objective is not None else ""
    known = [(value, step.rate) for step in steps if step.usable and (value := step.values.get(name)) is not None]
    if not known or any(step.holds for step in steps):
        return f"no capacity: {answer.why}"
    value, rate = min(known)
    unit = rate_of(trial.work, durable=False).words
    return f"no capacity: {answer.why}; the lowest {name} was {value:.3g} at {format_rate(rate)} {unit}"


def _left_out(steps: Sequence[Step]) -> tuple[str, ...]:
    out = [step for step in steps if not step.usable]
    if not out:
        return ()
    causes = [f"{count} × {why}" for count, why in alike(step.why for step in out)]
    return (f"{len(out)} of {counted(len(steps), 'step')} left out: {'; '.join(causes)}",)


def _first_again(steps: Sequence[Step], answer: Capacity) -> tuple[str, ...]:
    """That the first step does not count, if so."""
    if answer.probes == sum(step.usable for step in steps):
        return ()
    return ("the first step does not count: it followed the closed loop, and at the same rate a later step held",)


def outcome(axis: AxisFacts, trial: Trial, facts: TrialFacts) -> Outcome:
    """Judges a search, the rate of a trial that confirms, or the load of any other."""
    judged = outcome_of_load if trial.load.objective is None else outcome_of_rate
    come_to = (outcome_of_search if trial.load.searches else judged)(axis, trial, facts)
    verdict = come_to.verdict
    beside = (f"another sweep of `scale` ran on this machine: {one}" for one in facts.beside)
    is_theirs = verdict.bottleneck is not None and verdict.bottleneck.kind is BottleneckKind.OTHER_PROCESSES
    others = [f"{OTHERS_WERE}{', '.join(facts.others)}"] if facts.others and is_theirs else []
    return replace(come_to, verdict=replace(verdict, reasons=(*verdict.reasons, *others, *beside)))
