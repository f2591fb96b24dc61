"""Whether a comparison shows what a script asks for, and the repeats that it needs. Two one-sided tests at 5 % are one
test at 5 % (Schuirmann 1987). Every point must pass, so the gate passes in at most 5 % of the cases in which one point
is beyond the margin, without an adjustment for several points (intersection-union test, Berger 1982)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri, ndtr

from scale_sweep.analysis.compare.ratios import POINTS_LEVEL, Floats, quantile
from scale_sweep.analysis.compare.words import Repeats, ratio_words
from scale_sweep.analysis.confidence import POWER, REPEATS_MAX, SIGNIFICANCE
from scale_sweep.analysis.observations import point_name
from scale_sweep.base.units import change_words, counted
from scale_sweep.model.compared import Gate, GateAnswer, GateResult, PointRatio

_SPREADS = (np.arange(200) + 0.5) / 200  # probabilities at which the distribution of an estimated spread is taken
_SURE = "one-sided 95 %"


@dataclass(frozen=True, kw_only=True)
class GateInputs:
    axis: str
    points: Sequence[PointRatio]  # the tested points
    slower: Sequence[PointRatio] = ()  # than allowed, beyond noise; all points together may be among them
    not_measured: Sequence[str] = ()  # points where only B has no VALID trial
    disturbed: Sequence[str] = ()  # the same, if others took the CPUs of all trials of B
    not_compared: Sequence[str] = ()  # planned by both, without a ratio
    not_judged_because: str = ""
    repeats: Repeats | None = None  # None if they are not known


def slower_points(gate: Gate, points: Sequence[PointRatio]) -> list[PointRatio]:
    return [p for p in points if p.differs and (p.ratio or 1.0) < gate.low]


def gate_result(gate: Gate, inputs: GateInputs) -> GateResult:
    """The answer to a gate, in one sentence."""
    lacking = f"no VALID trial of B at {', '.join(inputs.not_measured or inputs.disturbed)}, but of A"
    if inputs.not_measured:
        return _answer(gate, "not measured", lacking)
    if inputs.disturbed and not inputs.slower:
        return _answer(gate, "not judged", f"{lacking}: others took the CPUs of all trials of B")
    if inputs.not_judged_because:
        return _answer(gate, "not judged", inputs.not_judged_because)
    if inputs.slower:
        point = min(inputs.slower, key=lambda p: p.ratio or 1.0)
        where = f"{_name(point, inputs)}, {ratio_words(point)}"
        return _answer(gate, "slower", f"B is more than {gate.percent:g} % slower at {where}", point)
    unknown = [p for p in inputs.points if p.low_one_sided is None]
    inputs = replace(
        inputs,
        points=[p for p in inputs.points if p.low_one_sided is not None],
        not_compared=(*inputs.not_compared, *(f"{_name(p, inputs)} (no interval)" for p in unknown)),
    )
    worst = min(inputs.points, key=lambda p: _distance(gate, p), default=None)
    if worst is None:
        return _answer(gate, "not judged", "no point has an interval")
    if gate.must_be_shown:
        return _shown_or_not(gate, worst, inputs)
    why = f"B is nowhere more than {gate.percent:g} % slower beyond noise"
    least = 100 * (1 - (worst.low_one_sided or 0.0))
    if least > 0:
        why += f"; it is at most {least:.1f} % slower at {_name(worst, inputs)} ({_SURE})"
    if least > 0 and least >= gate.percent:
        why += f", so this does not show that B is fast enough; --prove-not-slower {gate.percent:g}% tests that"
    return _answer(gate, "not found", why, worst)


def _answer(gate: Gate, answer: GateAnswer, why: str, point: PointRatio | None = None) -> GateResult:
    return GateResult(
        kind=gate.kind,
        percent=gate.percent,
        answer=answer,
        sentence=f"{gate.flag}: {answer}: {why}",
        level=point.level if point is not None else None,
        low=point.low_one_sided if point is not None else None,
        high=point.high_one_sided if point is not None else None,
    )


def _name(point: PointRatio, inputs: GateInputs) -> str:
    name = point_name(point.level, point.variant, inputs.axis)
    return f"{name} together" if point.level is None else name


def _distance(gate: Gate, point: PointRatio) -> float:
    assert point.low_one_sided is not None and point.high_one_sided is not None
    below = math.log(max(point.low_one_sided, 1e-300) / gate.low)
    return min(below, math.log(gate.high / point.high_one_sided)) if gate.kind == "same_within" else below


def _shown_or_not(gate: Gate, worst: PointRatio, inputs: GateInputs) -> GateResult:
    beyond = [p for p in inputs.points if _distance(gate, p) <= 0]
    few = f"at {_name(worst, inputs)}"
    everywhere = few if len(inputs.points) == 1 else f"at each of {counted(len(inputs.points), 'point')}"
    least = "" if len(inputs.points) == 1 else f"; least certain {few}"
    low, high = worst.low_one_sided or 0.0, worst.high_one_sided if gate.kind == "same_within" else None
    ends = " at each end" if high is not None else ""
    interval = f"{least}: {change_words(worst.ratio or 1.0, low, high)}, {_SURE}{ends}"
    claim = f"within {gate.percent:g} % of A" if gate.kind == "same_within" else f"less than {gate.percent:g} % slower"
    if not beyond and not inputs.not_compared:
        return _answer(gate, "shown", f"B is {claim} {everywhere}{interval}", worst)
    where = few if len(inputs.points) == 1 else f"at {len(beyond)} of {counted(len(inputs.points), 'point')}"
    why = f"that B is {claim} {where}{interval}" if beyond else f"that B is {claim} everywhere"
    if inputs.not_compared:
        why += f"; not compared: {', '.join(inputs.not_compared)}"
    repeats, needed = inputs.repeats, None
    if repeats is not None and beyond:
        needed = repeats_needed(gate, inputs.points, repeats)
        if needed is None:
            would = f"More than {REPEATS_MAX} {repeats.unit} would be needed to show it if A and B are equally fast"
        elif needed <= repeats.count:
            would = "If A and B were equally fast, as many would show it with 80 % power: B may be close to the margin"
        else:
            would = f"If A and B are equally fast, {needed} {repeats.unit} would show it with 80 % power"
        why += f". {would}"
    result = _answer(gate, "not shown", why, worst)
    return replace(result, needed=needed, needed_unit=repeats.unit if repeats is not None else "")


def repeats_needed(gate: Gate, points: Sequence[PointRatio], repeats: Repeats) -> int | None:
    """The fewest that pass four times in five if nothing differs; None above REPEATS_MAX."""
    known = [(p.error, p.degrees) for p in points if p.error is not None and p.degrees is not None]
    for count in range(2, REPEATS_MAX + 1):
        share = 1.0
        for error, degrees in known:
            smaller, freer = repeats.error_at(count, error), repeats.degrees_at(count, degrees)
            share *= float(pass_shares(gate, 0.0, smaller, freer, 1).mean())
        if share >= POWER:
            return count
    return None


def pass_shares(gate: Gate, truth: float, error: float, degrees: float, tests: int) -> Floats:
    """The probability that a point passes, at 200 equally likely values of the estimated spread. truth: ln(ratio).
    error: the true standard error, estimated with these degrees. tests: those that --fail-if-slower adjusts for."""
    error = max(error, 1e-12)
    free = np.array([degrees])
    spread = error * np.sqrt(chdtri(degrees, 1 - _SPREADS) / degrees)
    low, high = math.log(gate.low), math.log(gate.high)
    if not gate.must_be_shown:
        fires_below = np.minimum(low, -quantile(free, 1 - SIGNIFICANCE / 2 / tests) * spread)
        return np.asarray(ndtr((truth - fires_below) / error))
    reach = quantile(free, 1 - SIGNIFICANCE) * spread
    above = ndtr((truth - low - reach) / error)
    if gate.kind == "prove_not_slower":
        return np.asarray(above)
    return np.asarray(np.maximum(above + ndtr((high - reach - truth) / error) - 1, 0.0))


def blocks_pass_share(gate: Gate, truths: Sequence[float], std: float, blocks: int) -> float:
    """How often a run of `scale ab` passes. truths: ln(ratio) by level. std: of one trial's ln(rate) and of a block's
    difference. --fail-if-slower pools the levels' spread if a test of equal variances allows it, in 1 − POINTS_LEVEL of
    the cases."""
    levels, error = len(truths), std / math.sqrt(blocks)
    tests = levels + (levels > 1)
    own = [pass_shares(gate, truth, error, float(blocks - 1), tests) for truth in truths]
    alone = math.prod(float(shares.mean()) for shares in own)
    if levels == 1 or gate.must_be_shown:
        return alone
    shared = [pass_shares(gate, truth, error, float(levels * (blocks - 1)), tests) for truth in truths]
    pooled = float(np.prod(np.stack(shared), axis=0).mean())
    return POINTS_LEVEL * alone + (1 - POINTS_LEVEL) * pooled
