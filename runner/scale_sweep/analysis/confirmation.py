"""Whether a capacity holds in longer windows on fresh servers, and with twice the connections."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scale_sweep.analysis.confidence import student
from scale_sweep.analysis.observations import point_name
from scale_sweep.base.units import format_rate
from scale_sweep.capacity.search import Capacity, Probe, capped, confirmed, crossing
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Step, TrialResult, VerdictKind
from scale_sweep.model.planned import Plan
from scale_sweep.sweep.vary import slug

ROLE = "confirm"
AT, CONNECTIONS = "confirm", "confirm-connections"  # how the names of the trials end; further windows have numbers
FALL_LEAST = math.log(1.05)  # of ln(percentile); a smaller fall does not justify twice the connections
UNSEEN = math.log(1.5)  # of ln(percentile): noise that could hide more gives no answer
PROBABILITY = 0.95  # one-sided
Point = tuple[float, str]


@dataclass(frozen=True, kw_only=True)
class LevelCapacity:
    """The geometric mean of a point's searches."""

    point: Point
    rate: float
    searches: tuple[TrialResult, ...]  # their results


@dataclass(frozen=True, kw_only=True)
class Confirmed:
    point: Point
    rate: float  # its capacity before them
    windows: tuple[Probe, ...]  # in their order
    lacks_connections: bool | None  # None without an answer
    sentences: tuple[str, ...]  # for the report


def capacities(results: Sequence[TrialResult]) -> tuple[LevelCapacity, ...]:
    searches: dict[Point, list[TrialResult]] = {}
    for result in results:
        m = result.measurement
        if result.trial.role == "point" and m.capacity_per_s and result.verdict.kind.is_fitted:
            searches.setdefault(_point(result), []).append(result)
    return tuple(
        LevelCapacity(point=point, rate=_mean([r.measurement.capacity_per_s for r in own]), searches=tuple(own))
        for point, own in searches.items()
    )


def _point(result: TrialResult) -> Point:
    return result.trial.level, slug(result.trial.variant)


def _is_of_connections(result: TrialResult) -> bool:
    return result.trial.trial_id.endswith(f"-{CONNECTIONS}")


def _mean(rates: Sequence[float | None]) -> float:
    return math.exp(sum(math.log(rate) for rate in rates if rate) / len(rates))


def windows_of(results: Sequence[TrialResult]) -> dict[Point, tuple[Probe, ...]]:
    windows: dict[Point, tuple[Probe, ...]] = {}
    for result in sorted(results, key=lambda r: r.trial.replicate):
        step = _step(result) if result.trial.role == ROLE and not _is_of_connections(result) else None
        if step is not None:
            probe = Probe(rate=step.rate, excess=step.excess, usable=step.usable)
            windows[_point(result)] = (*windows.get(_point(result), ()), probe)
    return windows


def confirmations(plan: Plan, results: Sequence[TrialResult]) -> tuple[Confirmed, ...]:
    trials: dict[Point, list[TrialResult]] = {}
    for result in sorted(results, key=lambda r: r.trial.replicate):
        if result.trial.role == ROLE:
            trials.setdefault(_point(result), []).append(result)
    unit, windows = plan.sweep.work.rate_words, windows_of(results)
    return tuple(
        _confirmed(one, trials[one.point], windows.get(one.point, ()), unit)
        for one in capacities(results)
        if one.point in trials
    )


def _confirmed(
    capacity: LevelCapacity, trials: Sequence[TrialResult], windows: tuple[Probe, ...], unit: str
) -> Confirmed:
    known = [(result, step) for result in trials if (step := _step(result)) is not None]
    steps = [step for result, step in known if not _is_of_connections(result)]
    sentences, lacks = [_words(step, unit) for step in steps], None
    for result, twice in known:
        if _is_of_connections(result) and steps:
            lacks, words = _with_connections(capacity, steps[0], twice)
            sentences.append(f"with twice the connections ({result.trial.load.connections}) {words}")
    return Confirmed(
        point=capacity.point, rate=capacity.rate, windows=windows, lacks_connections=lacks, sentences=tuple(sentences)
    )


def _step(result: TrialResult) -> Step | None:
    return result.measurement.steps[0] if result.measurement.steps else None


def _words(step: Step, unit: str) -> str:
    where = f"on a fresh server, {format_rate(step.rate)} {unit} for {step.seconds:.0f} s"
    if not step.usable:
        return f"{where} confirmed nothing: {step.why}"
    over = "" if step.excess is not None else ": over capacity"
    values = ", ".join(f"{name} {value:.3g}" for name, value in step.values.items() if value is not None)
    return f"{where} {'held' if step.holds else 'did not hold'} the objective{over}{f' ({values})' if values else ''}"


def _with_connections(capacity: LevelCapacity, at: Step, twice: Step) -> tuple[bool | None, str]:
    if not at.usable or not twice.usable:
        return None, f"there is no answer: {twice.why or at.why}"
    fall = capped(at.excess) - capped(twice.excess)
    margin = _margin(capacity.searches)
    percent = 100 * math.expm1(-fall)
    words = f"the percentile was {abs(percent):.0f} % {'higher' if percent > 0 else 'lower'}"
    if fall > max(margin, FALL_LEAST):
        return True, f"{words}: requests wait for a connection"
    if margin > UNSEEN:
        return None, f"{words}, and the scatter of the steps could hide a fall of {100 * -math.expm1(-margin):.0f} %"
    return False, f"{words}: it does not lack connections"


def _margin(searches: Sequence[TrialResult]) -> float:
    """The difference of ln(percentile) that two windows reach by chance."""
    squares, degrees = 0.0, 0.0
    for result in searches:
        usable = [Probe(rate=s.rate, excess=s.excess) for s in result.measurement.steps if s.usable]
        cross = crossing(usable)
        own = max(1.0, cross.worth - 2.0)
        squares, degrees = squares + own * cross.spread**2, degrees + own
    return student(degrees, PROBABILITY) * math.sqrt(2 * squares / degrees)


def with_confirmations(plan: Plan, results: Sequence[TrialResult]) -> tuple[TrialResult, ...]:
    by_point = {one.point: one for one in confirmations(plan, results)}
    return tuple(
        _updated(result, by_point[_point(result)])
        if result.trial.role == "point" and result.measurement.capacity_per_s and _point(result) in by_point
        else result
        for result in results
    )


def _updated(result: TrialResult, confirmation: Confirmed) -> TrialResult:
    m, verdict = result.measurement, result.verdict
    ends = Capacity(rate=confirmation.rate, low=m.capacity_low_per_s, high=m.capacity_high_per_s, probes=0)
    after = confirmed(ends, confirmation.windows)
    rate = m.capacity_per_s * after.rate / confirmation.rate if m.capacity_per_s and after.rate is not None else None
    measured = replace(m, capacity_per_s=rate, capacity_low_per_s=after.low, capacity_high_per_s=after.high)
    added = (*([f"no capacity: {after.why}"] if after.rate is None else []), *confirmation.sentences)
    kept = tuple(reason for reason in verdict.reasons if reason not in added)
    if after.rate is None:
        kind = VerdictKind.UNSTEADY
        return replace(result, measurement=measured, verdict=replace(verdict, kind=kind, reasons=(*added, *kept)))
    judged = replace(verdict, reasons=(*kept, *added))
    if confirmation.lacks_connections:
        lacks, remedy, why = BottleneckKind.CONNECTIONS, "more --connections", confirmation.sentences[-1]
        before = verdict.bottleneck or Bottleneck(kind=lacks, sentence=why, remedy=remedy)
        judged = replace(judged, bottleneck=replace(before, kind=lacks, sentence=why, remedy=remedy))
    return replace(result, measurement=measured, verdict=judged)


def sentences(plan: Plan, results: Sequence[TrialResult]) -> tuple[str, ...]:
    ordered = sorted(confirmations(plan, results), key=lambda one: one.point)
    return tuple(f"{point_name(*one.point, plan.sweep.axis)}: {words}" for one in ordered for words in one.sentences)
