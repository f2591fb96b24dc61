"""Whether the server itself leaves cores idle, by a trial with twice the connections."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from scale_sweep.analysis.confidence import block_model, pooled_squares, student
from scale_sweep.analysis.observations import achieved, observations, point_name
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.work import rate_of
from scale_sweep.model.measured import BottleneckKind, TrialResult, Verdict, VerdictKind
from scale_sweep.model.observed import Observation
from scale_sweep.model.planned import Plan

RISE_PERCENT = 5.0  # of the rate; a smaller rise does not justify twice the connections
UNSEEN_PERCENT = 25.0  # of the rate; a server that lacks load gains more from twice the connections
ASSUMED_NOISE = 0.03  # of ln(rate), where no point has two trials
ASSUMED_DEGREES = 1_000  # of that spread, which is then taken as known
DEGREES_MIN = 4  # with fewer, Student's t costs more than the blocks' effects do
PROBABILITY = 0.95  # one-sided
_SERVERS_OWN = "more connections do not help: see what the server's threads wait for (locks, one thread, settings)"
_MORE = "more --connections"
Point = tuple[float, str]


@dataclass(frozen=True, kw_only=True)
class Check:
    point: Point  # level and subject
    is_internal: bool | None  # the rate did not rise; None: the check gives no answer
    sentence: str


class _Rate(NamedTuple):
    """ln(rate) of a trial that counts."""

    point: Point
    block: int
    log: float


class _Expected(NamedTuple):
    """ln(rate) of a point in a block, without the check."""

    log: float
    error: float  # the standard error of the check's difference from it, its own noise included
    degrees: int  # of freedom of that error


def checks(plan: Plan, results: Sequence[TrialResult]) -> tuple[Check, ...]:
    rate = rate_of(plan.sweep.work, durable=load_axis(plan.sweep.axis).is_durable).field
    rates: list[_Rate] = []
    pairs: list[tuple[TrialResult, Observation]] = []
    for result, observed in zip(results, observations(results, rate), strict=True):
        if observed.role == "check":
            pairs.append((result, observed))
        elif observed.role == "point" and observed.value is not None and _counts(result.verdict):
            rates.append(_Rate(observed.point, observed.block, math.log(observed.value)))
    return tuple(_check(result, observed, rates) for result, observed in pairs)


def with_checks(plan: Plan, results: Sequence[TrialResult]) -> tuple[TrialResult, ...]:
    by_point = {check.point: check for check in checks(plan, results)}
    if not by_point:
        return tuple(results)
    named = [observed.point for observed in observations(results, achieved)]
    return tuple(
        replace(result, verdict=_judged(result.verdict, by_point[point]))
        if point in by_point and result.trial.role == "point" and result.verdict.once_checked is not None
        else result
        for result, point in zip(results, named, strict=True)
    )


def _counts(verdict: Verdict) -> bool:
    return VerdictKind.VALID is verdict.kind or verdict.once_checked is VerdictKind.SOFTWARE_BOTTLENECK


def _as_mean(rates: Sequence[_Rate], point: Point) -> _Expected:
    """With the spread pooled over the points."""
    by_point: dict[Point, list[float]] = {}
    for one in rates:
        by_point.setdefault(one.point, []).append(one.log)
    squares, degrees = pooled_squares(by_point.values())
    spread = math.sqrt(squares / degrees) if degrees else ASSUMED_NOISE
    own = by_point[point]
    return _Expected(sum(own) / len(own), spread * math.sqrt(1 + 1 / len(own)), degrees or ASSUMED_DEGREES)


def _in_block(rates: Sequence[_Rate], point: Point, block: int) -> _Expected | None:
    """By the model with effects of blocks; None if it does not know this one."""
    logs = np.array([one.log for one in rates])
    names = {name: at for at, name in enumerate(dict.fromkeys(one.point for one in rates))}
    of_point = np.array([names[one.point] for one in rates])
    blocks = sorted({one.block for one in rates} | {block})
    held = np.array([[float(one.block == number) for number in blocks] for one in rates])
    model, at = block_model(logs, of_point, held), names[point]
    moved = np.array([float(number == block) for number in blocks]) - model.mean_held[at]
    if model.degrees < DEGREES_MIN or not model.is_known(moved):
        return None
    along = model.back.T @ moved
    of_mean = 1 / model.counts[at] + float(along @ along)
    log = float(model.mean_log[at] + moved @ model.effects)
    return _Expected(log, math.sqrt(model.squares / model.degrees * (1 + of_mean)), model.degrees)


def _check(result: TrialResult, observed: Observation, rates: Sequence[_Rate]) -> Check:
    many, point = f"with twice the connections ({result.trial.load.connections})", observed.point
    curve = [one for one in rates if one.point[1] == point[1]]
    expected = None
    if any(one.point == point for one in curve):
        expected = _in_block(curve, point, observed.block) or _as_mean(curve, point)
    if not _counts(result.verdict) or observed.value is None or expected is None:
        why = f"the trial {many} is {result.verdict.kind.value}"
        words = f"{why}, so it is not known whether the reason is inside the server"
        return Check(point=point, is_internal=None, sentence=words)
    rise = math.log(observed.value) - expected.log
    margin = student(expected.degrees, PROBABILITY) * expected.error
    change = 100 * math.expm1(rise)
    words = f"{many} the rate was {abs(change):.1f} % {'higher' if change > 0 else 'lower'}"
    if rise > max(margin, math.log1p(RISE_PERCENT / 100)):
        return Check(point=point, is_internal=False, sentence=f"{words}: the level lacks connections")
    if margin > math.log1p(UNSEEN_PERCENT / 100):
        hidden = f"the noise of the run could hide a rise of {100 * math.expm1(margin):.0f} %"
        return Check(point=point, is_internal=None, sentence=f"{words}, and {hidden}")
    return Check(point=point, is_internal=True, sentence=f"{words}: the reason is inside the server")


def _judged(verdict: Verdict, check: Check) -> Verdict:
    first = verdict.reasons[:1]
    rest = (reason for reason in verdict.reasons[1:] if reason != check.sentence)
    judged = replace(verdict, reasons=(*first, check.sentence, *rest))
    bottleneck = verdict.bottleneck
    if check.is_internal and verdict.once_checked is not None:
        lacks = bottleneck is not None and bottleneck.kind is BottleneckKind.CONNECTIONS
        own = replace(bottleneck, remedy=_SERVERS_OWN) if bottleneck is not None and lacks else bottleneck
        return replace(judged, kind=verdict.once_checked, bottleneck=own)
    if check.is_internal is False and bottleneck is not None:
        lacking = replace(bottleneck, kind=BottleneckKind.CONNECTIONS, sentence=check.sentence, remedy=_MORE)
        return replace(judged, bottleneck=lacking)
    return judged


def sentences(plan: Plan, results: Sequence[TrialResult]) -> tuple[str, ...]:
    ordered = sorted(checks(plan, results), key=lambda check: check.point)
    return tuple(f"{point_name(*check.point, plan.sweep.axis)}: {check.sentence}" for check in ordered)
