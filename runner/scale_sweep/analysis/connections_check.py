"""Tests with twice the connections whether the server itself leaves cores idle at a level.

Too few connections look like a lock: in both cases requests wait and nothing is busy. A level whose trials may be
limited inside the server is therefore measured once more with twice the connections. The level counts
(SOFTWARE_BOTTLENECK) only if its rate does not rise. Pure: it reads stored trials only. Refuses to count a level that
was not checked.

The test: ln of the check's rate less the mean of ln of the level's rates, one-sided at 5 %, with Student's t and the
spread of ln(rate) pooled over the points of the run. A rise counts from RISE_PERCENT on. If the noise could hide a rise
of UNSEEN_PERCENT, the check gives no answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scale_sweep.analysis.noise.spread import student
from scale_sweep.analysis.observations import achieved, observations
from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.work import rate_of
from scale_sweep.model import BottleneckKind, Plan, TrialResult, Verdict, VerdictKind

RISE_PERCENT = 5.0  # of the rate; a smaller rise does not justify twice the connections
UNSEEN_PERCENT = 25.0  # of the rate; a server that lacks load gains more from twice the connections
ASSUMED_NOISE = 0.03  # of ln(rate), where no point has two trials
ASSUMED_DEGREES = 1_000  # of that spread, which is then taken as known
PROBABILITY = 0.95  # one-sided
_SERVERS_OWN = "more connections do not help: see what the server's threads wait for (locks, one thread, settings)"
_MORE = "more --connections"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check. point: level and subject. is_internal: the rate did not rise; None: the check gives no answer."""

    point: tuple[float, str]
    is_internal: bool | None
    sentence: str


def checks(plan: Plan, results: Sequence[TrialResult]) -> tuple[Check, ...]:
    """The check of each point that has one, in the order of the results."""
    rate = rate_of(plan.sweep.work, durable=load_axis(plan.sweep.axis).is_durable).field
    points: dict[tuple[float, str], list[float]] = {}
    pairs = []
    for result, observed in zip(results, observations(results, rate), strict=True):
        if observed.role == "check":
            pairs.append((result, observed))
        elif observed.role == "point" and observed.value is not None and _counts(result.verdict):
            points.setdefault(observed.point, []).append(math.log(observed.value))
    noise = _noise(list(points.values()))
    return tuple(
        _check(result, observed.point, observed.value, points.get(observed.point, []), noise)
        for result, observed in pairs
    )


def with_checks(plan: Plan, results: Sequence[TrialResult]) -> tuple[TrialResult, ...]:
    """The results, with the verdict of each checked trial updated. Idempotent."""
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


def _noise(points: Sequence[Sequence[float]]) -> tuple[float, int]:
    """The pooled spread of ln(rate), and its degrees of freedom."""
    squares, degrees = 0.0, 0
    for logs in points:
        mean = sum(logs) / len(logs)
        squares += sum((value - mean) ** 2 for value in logs)
        degrees += len(logs) - 1
    return (math.sqrt(squares / degrees), degrees) if degrees else (ASSUMED_NOISE, ASSUMED_DEGREES)


def _check(
    result: TrialResult, point: tuple[float, str], rate: float | None, logs: Sequence[float], noise: tuple[float, int]
) -> Check:
    many = f"with twice the connections ({result.trial.load.connections})"
    if not _counts(result.verdict) or rate is None or not logs:
        why = f"the trial {many} is {result.verdict.kind.value}"
        words = f"{why}, so it is not known whether the reason is inside the server"
        return Check(point=point, is_internal=None, sentence=words)
    spread, degrees = noise
    rise = math.log(rate) - sum(logs) / len(logs)
    margin = student(degrees, PROBABILITY) * spread * math.sqrt(1 + 1 / len(logs))
    words = f"{many} the rate was {_percent(rise)}"
    if rise > max(margin, math.log1p(RISE_PERCENT / 100)):
        return Check(point=point, is_internal=False, sentence=f"{words}: the level lacks connections")
    if margin > math.log1p(UNSEEN_PERCENT / 100):
        hidden = f"the noise of the run could hide a rise of {100 * math.expm1(margin):.0f} %"
        return Check(point=point, is_internal=None, sentence=f"{words}, and {hidden}")
    return Check(point=point, is_internal=True, sentence=f"{words}: the reason is inside the server")


def _percent(rise: float) -> str:
    change = 100 * math.expm1(rise)
    return f"{abs(change):.1f} % {'higher' if change > 0 else 'lower'}"


def _judged(verdict: Verdict, check: Check) -> Verdict:
    """The verdict of one trial of the level, with the check's sentence after the first reason."""
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
    """One sentence for each check, with its level."""
    axis = load_axis(plan.sweep.axis)
    return tuple(
        f"{axis.count(format_number(level))}{f' ({subject})' if subject else ''}: {check.sentence}"
        for check in checks(plan, results)
        for level, subject in (check.point,)
    )
