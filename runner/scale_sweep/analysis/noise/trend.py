"""Did the rate drift during the run?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from scale_sweep.analysis.confidence import POWER, SIGNIFICANCE, student
from scale_sweep.analysis.noise.drift_test import FIRST_COLD, Coefficient, Shape, TrialLog, shape_of
from scale_sweep.model import Observation, Ratio, Trend

ROUNDING = 1e-4
Group = tuple[float, str, float | None]


@dataclass(frozen=True, kw_only=True)
class Line:
    """The regression of a run, and whether it found a drift. Its figures are those of the shape."""

    shape: Shape

    @property
    def slope(self) -> float:
        """The change of ln(value) with each trial."""
        return self.shape.slope.value

    @property
    def squares(self) -> float:
        return self.shape.squares

    @property
    def degrees(self) -> int:
        """Those of the residuals."""
        return self.shape.degrees

    @property
    def length(self) -> float:
        """From the first order to the last."""
        return self.shape.length

    @property
    def terms(self) -> int:
        """The number of terms that are removed with a drift: the slope, and a bend if there is one."""
        return 2 if self.shape.bend else 1

    @property
    def is_drifting(self) -> bool:
        """Whether the values drift, at 5 %, or bend. A drift below 0.01 % of them is rounding."""
        return self._is_more(self.shape.slope, self.length, SIGNIFICANCE) or self.is_bent

    @property
    def is_bent(self) -> bool:
        """Whether the values rise and fall, or fall and rise."""
        bend = self.shape.bend
        return bend is not None and self._is_more(bend, (self.length / 2) ** 2, 1.0)

    @staticmethod
    def _is_more(term: Coefficient, times: float, level: float) -> bool:
        return term.p_value < level and abs(term.value) * times > ROUNDING

    def log_at(self, order: float) -> float:
        """ln of the factor by which drift and bend changed the value of a trial; its mean over the run is 0."""
        from_middle = order - self.shape.middle
        bend = self.shape.bend.value if self.shape.bend else 0.0
        return self.slope * from_middle + bend * (from_middle**2 - self.shape.mean_square)

    def leverage(self, orders: Sequence[float]) -> float:
        """The variance that removing drift and bend adds to a mean of these trials, in units of one trial's variance:
        a mean far from the middle of the run is moved far by an inexact slope."""
        from_middle = [order - self.shape.middle for order in orders]
        added = (sum(from_middle) / len(orders)) ** 2 / self.shape.slope.spread
        if self.shape.bend is None:
            return added
        square = sum(x * x for x in from_middle) / len(orders)
        return added + (square - self.shape.mean_square) ** 2 / self.shape.bend.spread


def log_value(observed: Observation) -> float | None:
    """ln of the value; None if there is no value above 0."""
    value = observed.value
    return math.log(value) if value is not None and math.isfinite(value) and value > 0 else None


_known_shape = lru_cache(maxsize=64)(shape_of)  # the parts of a report ask for the same ones again


def line_of(observed: Sequence[Observation]) -> Line | None:
    """The regression; None if there are too few replicates, or all trials have the same order."""
    groups = _groups(observed)
    logs = [TrialLog(order=order, log=log, group=group) for group, of_it in groups.items() for order, log in of_it]
    shape = _known_shape(tuple(logs), min(one.order for one in observed)) if logs else None
    return Line(shape=shape) if shape is not None else None


def _groups(observed: Sequence[Observation]) -> Mapping[Group, list[tuple[float, float]]]:
    """(order, ln value) of the counting trials, by point. An ablation trial's knobs make it a group of its own."""
    groups: dict[Group, list[tuple[float, float]]] = {}
    for one in observed:
        log = log_value(one)
        if not one.mark and log is not None:
            groups.setdefault((*one.point, one.knobs_of_level), []).append((float(one.order), log))
    return groups


def trend_of(observed: Sequence[Observation]) -> Trend | None:
    """The drift from the first trial to the last, as a ratio; None if it cannot be estimated."""
    line = line_of(observed)
    if line is None:
        return None
    shape, first = line.shape, line.shape.first
    change, half = line.slope * line.length, shape.slope_half * line.length
    seen = half * (1 + student(line.degrees, POWER) / student(line.degrees))
    bend = shape.bend.value * (line.length / 2) ** 2 if shape.bend and line.is_bent else 0.0
    is_named = first is not None and first.p_value < FIRST_COLD and abs(first.value) > ROUNDING
    return Trend(
        ratio=Ratio(value=math.exp(change), low=math.exp(change - half), high=math.exp(change + half)),
        p_value=shape.slope.p_value,
        degrees=line.degrees,
        smallest_percent=100 * math.expm1(seen),
        is_drifting=line.is_drifting,
        bend_percent=100 * math.expm1(bend) if bend else None,
        first_percent=100 * math.expm1(first.value) if first is not None and is_named else None,
        alike=shape.alike,
    )


def at_the_middle(observed: Sequence[Observation], line: Line) -> tuple[Observation, ...]:
    """The values without drift and bend: as they would be in the middle of a run that only drifts."""

    def moved(one: Observation) -> Observation:
        if one.value is None:
            return one
        return replace(one, value=one.value * math.exp(-line.log_at(one.order)))

    return tuple(moved(one) for one in observed)


def without_drift(observed: Sequence[Observation]) -> tuple[Observation, ...]:
    """The observations for a fit: unchanged, or without the drift if one is found.

    The estimated drift has used one degree of freedom, and a bend another one. The counting values are therefore moved
    away from their point's geometric mean by √(D / (D − 1)), where D is their degrees of freedom within the points. A
    spread pooled over D degrees is then that of the remaining D − 1. With a bend, 2 takes the place of 1. The points'
    geometric means stay.
    """
    line = line_of(observed)
    if line is None or not line.is_drifting:
        return tuple(observed)
    steady = at_the_middle(observed, line)
    means = {group: sum(y for _, y in of_it) / len(of_it) for group, of_it in _groups(_points(steady)).items()}
    degrees = sum(len(of_it) - 1 for of_it in _groups(_points(steady)).values())
    left = degrees - line.terms
    wider = math.sqrt(degrees / left) if left > 0 else 1.0

    def widened(one: Observation) -> Observation:
        log, mean = log_value(one), means.get((*one.point, one.knobs_of_level))
        if one.mark or log is None or mean is None or one.role != "point":
            return one
        return replace(one, value=math.exp(mean + wider * (log - mean)))

    return tuple(widened(one) for one in steady)


def _points(observed: Sequence[Observation]) -> list[Observation]:
    return [one for one in observed if one.role == "point"]
