"""Compares two runs; `assembled` makes a Comparison from tested ratios of any source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scale_sweep.analysis.compare.gates import GateInputs, gate_result, slower_points
from scale_sweep.analysis.compare.manifests import differing
from scale_sweep.analysis.compare.pairs import (
    PointLogs,
    Unpaired,
    check_comparable,
    compare_points,
    false_alarms,
    family,
    pair_points,
)
from scale_sweep.analysis.compare.ratios import Floats, Tested, quantile, together
from scale_sweep.analysis.compare.words import (
    Sides,
    cautions,
    name_of,
    nothing_words,
    quick_words,
    repeats_of_trials,
    sentence,
)
from scale_sweep.analysis.confidence import POWER, SIGNIFICANCE
from scale_sweep.analysis.observations import point_name
from scale_sweep.base.errors import UsageError
from scale_sweep.model.compared import Comparison, Gate, PointRatio, Spread
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult

ONE_SESSION = (
    "there is one run a side: the spread between sessions (a restart, neighbours, another day) is not known, and a "
    "difference of two sessions cannot be tested against it"
)
SINGLE = "there are single trials: the spread between trials is not known"


def compare_runs(a: StoredRun, b: StoredRun, gate: Gate | None = None) -> Comparison:
    """A point differs if its p-value is below 5 % after Holm's step-down over all points and their mean. UsageError for
    runs of different kinds. A gate is not judged: there is one run of each."""
    check_comparable((a, b))
    paired, unpaired = pair_points(a, b)
    result = compare_points(paired) if paired else None
    rows = [plain(p) for p in paired]
    ratios = TestedRatios(points=tuple(rows), overall=overall_row(paired) if result else None, unpaired=tuple(unpaired))
    if result is not None:
        tested, spread = result
        whole = together(tested) if len(paired) > 1 else None
        ratios = ratios.with_tests(tested, whole, family(tested)[0], spread)
    is_single = result is None or result[1] == "seconds"
    sides = Sides(
        name_a=name_of(a),
        name_b=name_of(b),
        sweep=a.plan.sweep,
        differing=differing(a, b),
        gate=gate,
        same=a.path == b.path,
        chance=false_alarms(paired, SIGNIFICANCE, gate.percent / 100 if gate is not None else None) if result else None,
        not_judged_because=f"{SINGLE}, and {ONE_SESSION}" if is_single else ONE_SESSION,
        repeats=None if is_single else repeats_of_trials(ratios.points),
    )
    comparison = assembled(sides, ratios)
    return with_quick_cautions(comparison, a.results, b.results)


def with_quick_cautions(comparison: Comparison, a: Sequence[TrialResult], b: Sequence[TrialResult]) -> Comparison:
    return replace(comparison, cautions=(*comparison.cautions, *quick_words(a, b)))


def plain(*points: PointLogs) -> PointRatio:
    rate_a, rate_b = (math.exp(float(np.mean([np.mean(getattr(p, side)) for p in points]))) for side in ("a", "b"))
    return PointRatio(
        level=points[0].level if len(points) == 1 else None,
        variant=points[0].variant if len(points) == 1 else "",
        trials_a=sum(p.trials[0] if p.trials else len(p.a) for p in points),
        trials_b=sum(p.trials[1] if p.trials else len(p.b) for p in points),
        rate_a=rate_a,
        rate_b=rate_b,
        ratio=rate_b / rate_a,
    )


def overall_row(points: Sequence[PointLogs]) -> PointRatio | None:
    return plain(*points) if len(points) > 1 else None


ALL_POINTS = "all points"


@dataclass(frozen=True, kw_only=True)
class TestedRatios:
    points: tuple[PointRatio, ...]  # in the order of the axis
    overall: PointRatio | None  # all points together; None for one point
    unpaired: tuple[Unpaired, ...]  # points without a ratio
    spread: Spread | None = None

    def with_tests(
        self, tested: Tested, whole: Tested | None, adjusted: Floats, spread: Spread, looks: int = 1
    ) -> TestedRatios:
        """adjusted: p-values of the points and, last, of whole. looks: tests, which together have the 5 %
        (Bonferroni)."""

        def one(point: PointRatio, tests: Tested, at: int, p_adjusted: float) -> PointRatio:
            difference, error = float(tests.difference[at]), float(tests.error[at])
            degrees, level = np.array([float(tests.degrees[at])]), SIGNIFICANCE / looks
            reach = float(quantile(degrees, 1 - level / 2)[0]) * error
            power = quantile(degrees, 1 - level / 2 / len(adjusted)) + quantile(degrees, POWER)
            p_adjusted = min(1.0, looks * p_adjusted)
            compared = replace(
                point,
                ratio=math.exp(difference),
                low=math.exp(difference - reach),
                high=math.exp(difference + reach),
                p_value=float(tests.p_value[at]),
                p_holm=p_adjusted,
                smallest_percent=100 * (1 - math.exp(-float(power[0]) * error)),
                spread=spread,
                own_spread=bool(tests.own[at]),
                differs=p_adjusted < SIGNIFICANCE,
            )
            return _with_ends(compared, tests, at, looks)

        points = tuple(one(p, tested, at, float(adjusted[at])) for at, p in enumerate(self.points))
        overall = self.overall
        if whole is not None and overall is not None:
            overall = one(overall, whole, 0, float(adjusted[-1]))
        return replace(self, points=points, overall=overall, spread=spread)

    def with_ends(self, own: Tested, looks: int = 1) -> TestedRatios:
        """One-sided intervals of other tests."""
        points = tuple(_with_ends(p, own, at, looks) for at, p in enumerate(self.points))
        return replace(self, points=points)


def assembled(sides: Sides, ratios: TestedRatios) -> Comparison:
    """Adds the sentence, the cautions and the answer to the gate."""
    axis, gate = sides.sweep.axis, sides.gate
    whole = (*ratios.points, ratios.overall) if ratios.overall is not None else ratios.points
    points = sorted([*ratios.points, *map(_missing, ratios.unpaired)], key=lambda p: (p.level or 0.0, p.variant))
    slower = slower_points(gate, whole) if gate is not None else []
    lost, left = (_names([u for u in ratios.unpaired if u.lost is lost], axis) for lost in (True, False))
    disturbed = _names([u for u in ratios.unpaired if u.lost and u.is_disturbed], axis)
    judged = GateInputs(
        axis=axis,
        points=ratios.points,
        slower=slower,
        not_measured=tuple(name for name in lost if name not in disturbed),
        disturbed=disturbed,
        not_compared=left,
        not_judged_because=sides.not_judged_because,
        repeats=sides.repeats,
    )
    return Comparison(
        run_a=sides.name_a,
        run_b=sides.name_b,
        axis=axis,
        rate=sides.sweep.work.rate_words,
        confidence_percent=100 * (1 - SIGNIFICANCE),
        points=tuple(points),
        overall=ratios.overall,
        differing=sides.differing,
        false_alarms=sides.chance,
        sentence=(
            sentence(ratios.points, ratios.overall, axis, sides.repeats)
            if ratios.points
            else nothing_words(ratios.unpaired)
        ),
        cautions=cautions(points, whole, sides, ratios.spread),
        allowed_percent=gate.percent if gate is not None else None,
        slower=tuple(ALL_POINTS if p.level is None else point_name(p.level, p.variant, axis) for p in slower),
        unjudged=lost,
        lacks_valid=bool(disturbed)
        or (not ratios.points and any(u.is_planned and not u.open_loop for u in ratios.unpaired)),
        sessions_a=sides.sessions[0],
        sessions_b=sides.sessions[1],
        session_percent=sides.session_percent,
        not_judged_because=sides.not_judged_because,
        session_order=sides.order,
        gate=gate_result(gate, judged) if gate is not None else None,
    )


def _with_ends(point: PointRatio, tested: Tested, at: int, looks: int) -> PointRatio:
    difference, error, degrees = (float(one[at]) for one in (tested.difference, tested.error, tested.degrees))
    if degrees <= 0:
        return replace(point, error=None, degrees=None, low_one_sided=None, high_one_sided=None)
    reach = float(quantile(np.array([degrees]), 1 - SIGNIFICANCE / looks)[0]) * error
    low, high = math.exp(difference - reach), math.exp(difference + reach)
    return replace(point, error=error, degrees=degrees, low_one_sided=low, high_one_sided=high)


def _names(unpaired: Sequence[Unpaired], axis: str) -> tuple[str, ...]:
    return tuple(point_name(u.level, u.variant, axis) for u in unpaired if u.is_planned)


def _missing(point: Unpaired) -> PointRatio:
    return PointRatio(
        level=point.level, variant=point.variant, trials_a=point.trials_a, trials_b=point.trials_b, missing=point.why
    )


def compare_with_first(runs: Sequence[StoredRun]) -> tuple[Comparison, ...]:
    """UsageError for runs that cannot be compared."""
    if len(runs) < 2:
        raise UsageError("one run is named; the first is the base, the others are compared with it")
    if len({run.path for run in runs}) < len(runs):
        raise UsageError("a run is named twice", remedy="name each host's run once")
    check_comparable(runs)
    methods = sorted({run.plan.sweep.method for run in runs})
    if len(methods) > 1:
        raise UsageError(
            f"the runs write by two methods: {' and '.join(methods)}", remedy="compare runs of one --method"
        )
    return tuple(compare_runs(runs[0], run) for run in runs[1:])
