"""Whether the capacity of a level holds in a longer window on a fresh server, and with twice the connections. Pure.

A search ends with a rate at which the percentile is expected to be its limit. Three trials confirm it, each on a fresh
server: at that rate, 5 % above it, and at that rate with twice the connections. If the first does not hold the
objective, the interval begins no later than at the next lower step that held; if the second holds it, the interval ends
no earlier than there. If the percentile falls with twice the connections by more than the steps scatter about their
regression line, requests waited for a connection: the bottleneck is CONNECTIONS. Refuses to move the capacity itself:
one window says less about it than all steps together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scale_sweep.analysis.confidence import student
from scale_sweep.base.units import format_number, format_rate
from scale_sweep.capacity import Probe, capped, crossing
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import Bottleneck, BottleneckKind, Plan, Step, TrialResult
from scale_sweep.sweep.vary import slug

ROLE = "confirm"
AT, ABOVE, CONNECTIONS = "confirm", "confirm-above", "confirm-connections"  # how the names of the trials end
SHARE_ABOVE = 1.05
FALL_LEAST = math.log(1.05)  # of ln(percentile); a smaller fall does not justify twice the connections
UNSEEN = math.log(1.5)  # of ln(percentile): noise that could hide more gives no answer
PROBABILITY = 0.95  # one-sided
Point = tuple[float, str]


@dataclass(frozen=True, kw_only=True)
class LevelCapacity:
    """The capacity of a point: the geometric mean of its searches, in the unit of the rate. searches: their results."""

    point: Point
    rate: float
    searches: tuple[TrialResult, ...]


@dataclass(frozen=True, kw_only=True)
class Confirmed:
    """The result of the confirming trials of a point. low, high: the rates that the interval must reach, None if it
    need not be wider. lacks_connections: None without an answer. sentences: for the report."""

    point: Point
    low: float | None
    high: float | None
    lacks_connections: bool | None
    sentences: tuple[str, ...]


def capacities(results: Sequence[TrialResult]) -> tuple[LevelCapacity, ...]:
    """The capacity of each point whose searches found one, in the order of the results."""
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


def _mean(rates: Sequence[float | None]) -> float:
    return math.exp(sum(math.log(rate) for rate in rates if rate) / len(rates))


def confirmations(plan: Plan, results: Sequence[TrialResult]) -> tuple[Confirmed, ...]:
    """One for each point with a confirming trial that was measured."""
    trials: dict[Point, dict[str, TrialResult]] = {}
    for result in results:
        if result.trial.role == ROLE:
            trials.setdefault(_point(result), {})[_kind(result)] = result
    unit = plan.sweep.work.rate_words
    return tuple(_confirmed(one, trials[one.point], unit) for one in capacities(results) if one.point in trials)


def _kind(result: TrialResult) -> str:
    name = result.trial.trial_id
    return next(kind for kind in (CONNECTIONS, ABOVE, AT) if name.endswith(f"-{kind}"))


def _confirmed(capacity: LevelCapacity, trials: Mapping[str, TrialResult], unit: str) -> Confirmed:
    at, above, twice = (_step(trials.get(kind)) for kind in (AT, ABOVE, CONNECTIONS))
    sentences, low, high = [], None, None
    if at is not None and AT in trials:
        sentences.append(_words("the capacity", at, unit))
        if at.usable and not at.holds:
            low = _next_lower(capacity)
            sentences[-1] += f"; the interval begins at {format_rate(low)} or below" if low is not None else ""
    if above is not None:
        sentences.append(_words("5 % above it", above, unit))
        if above.holds:
            high = above.rate
    lacks = None
    if at is not None and twice is not None:
        lacks, words = _with_connections(capacity, at, twice)
        sentences.append(f"with twice the connections ({trials[CONNECTIONS].trial.load.connections}) {words}")
    return Confirmed(point=capacity.point, low=low, high=high, lacks_connections=lacks, sentences=tuple(sentences))


def _step(result: TrialResult | None) -> Step | None:
    return result.measurement.steps[0] if result is not None and result.measurement.steps else None


def _words(which: str, step: Step, unit: str) -> str:
    """One window in words: what was offered, what was seen, whether it held."""
    where = f"on a fresh server, {which} ({format_rate(step.rate)} {unit}, {step.seconds:.0f} s)"
    if not step.usable:
        return f"{where} was not confirmed: {step.why}"
    over = "" if step.excess is not None else ": over capacity"
    values = ", ".join(f"{name} {value:.3g}" for name, value in step.values.items() if value is not None)
    return f"{where} {'held' if step.holds else 'did not hold'} the objective{over}{f' ({values})' if values else ''}"


def _next_lower(capacity: LevelCapacity) -> float | None:
    """The highest step below the capacity that held; None if none did."""
    steps = [step for result in capacity.searches for step in result.measurement.steps]
    return max((step.rate for step in steps if step.holds and step.rate < capacity.rate), default=None)


def _with_connections(capacity: LevelCapacity, at: Step, twice: Step) -> tuple[bool | None, str]:
    """Whether the percentile fell by more than its error, and the words for it."""
    if not at.usable or not twice.usable:
        return None, f"there is no answer: {twice.why or at.why}"
    fall = capped(at.excess) - capped(twice.excess)
    margin = _margin(capacity.searches)
    words = f"the percentile was {_percent(-fall)}"
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


def _percent(change: float) -> str:
    percent = 100 * math.expm1(change)
    return f"{abs(percent):.0f} % {'higher' if percent > 0 else 'lower'}"


def with_confirmations(plan: Plan, results: Sequence[TrialResult]) -> tuple[TrialResult, ...]:
    """The results, with the intervals and verdicts of the searches after the confirming trials. Idempotent."""
    by_point = {one.point: one for one in confirmations(plan, results)}
    return tuple(
        _updated(result, by_point[_point(result)])
        if result.trial.role == "point" and result.measurement.capacity_per_s and _point(result) in by_point
        else result
        for result in results
    )


def _updated(result: TrialResult, confirmed: Confirmed) -> TrialResult:
    m, verdict = result.measurement, result.verdict
    ends_low = [rate for rate in (m.capacity_low_per_s, confirmed.low) if rate is not None]
    ends_high = [rate for rate in (m.capacity_high_per_s, confirmed.high) if rate is not None]
    measured = replace(
        m, capacity_low_per_s=min(ends_low, default=None), capacity_high_per_s=max(ends_high, default=None)
    )
    kept = [reason for reason in verdict.reasons if reason not in confirmed.sentences]
    judged = replace(verdict, reasons=(*kept, *confirmed.sentences))
    if confirmed.lacks_connections:
        judged = replace(judged, bottleneck=_lacking(verdict.bottleneck, confirmed.sentences[-1]))
    return replace(result, measurement=measured, verdict=judged)


def _lacking(before: Bottleneck | None, sentence: str) -> Bottleneck:
    kind, remedy = BottleneckKind.CONNECTIONS, "more --connections"
    if before is not None:
        return replace(before, kind=kind, sentence=sentence, remedy=remedy)
    return Bottleneck(kind=kind, sentence=sentence, remedy=remedy)


def sentences(plan: Plan, results: Sequence[TrialResult]) -> tuple[str, ...]:
    """The words of the confirming trials, each with its level."""
    axis = load_axis(plan.sweep.axis)
    return tuple(
        f"{axis.count(format_number(level))}{f' ({subject})' if subject else ''}: {sentence}"
        for one in sorted(confirmations(plan, results), key=lambda one: one.point)
        for level, subject in (one.point,)
        for sentence in one.sentences
    )
