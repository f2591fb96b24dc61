"""Did the rate drift during the run? Linear regression of ln(value) on the trial's order, within each point.

The model is ln(value) = mean of the point + slope × order, by least squares (the analysis of covariance with one
covariate; its degrees of freedom are trials − points − 1). The drift check, a repeated trial at the end, is one more
trial of its point here. A drift found at 5 % is removed from the values and costs one degree of freedom; otherwise the
values stay unchanged. Refuses to estimate a drift with fewer than two degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scipy import special

from scale_sweep.model import Observation, Ratio, Trend

DEGREES_MIN = 2
LEVEL = 0.05
POWER = 0.80
ROUNDING = 1e-4
Group = tuple[float, str, float | None]


@dataclass(frozen=True, kw_only=True)
class Line:
    """slope: of ln(value) for each trial. squares: the sum of squared residuals. spread_of_order: the sum of the
    squared distances of the orders from their point's mean. middle: the mean order. length: from the first order to the
    last."""

    slope: float
    squares: float
    degrees: int
    spread_of_order: float
    middle: float
    length: float

    @property
    def error(self) -> float:
        """The standard error of the slope."""
        return math.sqrt(self.squares / self.degrees / self.spread_of_order)

    @property
    def p_value(self) -> float:
        """The two-sided p-value of no drift."""
        if self.squares <= 0:
            return 0.0 if self.slope else 1.0
        return 2 * float(special.stdtr(self.degrees, -abs(self.slope) / self.error))

    @property
    def is_drifting(self) -> bool:
        """Whether the values drift, at 5 %. A drift below 0.01 % of them is rounding."""
        return self.p_value < LEVEL and abs(self.slope) * self.length > ROUNDING


def log_value(observed: Observation) -> float | None:
    """ln of the value; None if there is no value above 0."""
    value = observed.value
    return math.log(value) if value is not None and math.isfinite(value) and value > 0 else None


def line_of(observed: Sequence[Observation]) -> Line | None:
    """The regression; None if there are too few replicates, or all trials have the same order."""
    groups = _groups(observed)
    count = sum(len(of_it) for of_it in groups.values())
    degrees = count - len(groups) - 1
    if degrees < DEGREES_MIN:
        return None
    across = together = squares = 0.0
    for of_it in groups.values():
        order, log = (sum(part) / len(of_it) for part in zip(*of_it, strict=True))
        across += sum((x - order) ** 2 for x, _ in of_it)
        together += sum((x - order) * (y - log) for x, y in of_it)
        squares += sum((y - log) ** 2 for _, y in of_it)
    if across <= 0:
        return None
    orders = [x for of_it in groups.values() for x, _ in of_it]
    return Line(
        slope=together / across,
        squares=max(squares - together**2 / across, 0.0),
        degrees=degrees,
        spread_of_order=across,
        middle=sum(orders) / len(orders),
        length=max(orders) - min(orders),
    )


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
    change, error = line.slope * line.length, line.error * line.length
    reach = float(special.stdtrit(line.degrees, 1 - LEVEL / 2)) * error
    seen = reach + float(special.stdtrit(line.degrees, POWER)) * error
    return Trend(
        ratio=Ratio(value=math.exp(change), low=math.exp(change - reach), high=math.exp(change + reach)),
        p_value=line.p_value,
        degrees=line.degrees,
        smallest_percent=100 * math.expm1(seen),
        is_drifting=line.is_drifting,
    )


def at_the_middle(observed: Sequence[Observation], line: Line) -> tuple[Observation, ...]:
    """The values as they would be in the middle of the run."""

    def moved(one: Observation) -> Observation:
        if one.value is None:
            return one
        return replace(one, value=one.value * math.exp(-line.slope * (one.order - line.middle)))

    return tuple(moved(one) for one in observed)


def without_drift(observed: Sequence[Observation]) -> tuple[Observation, ...]:
    """The observations for a fit: unchanged, or without the drift if one is found.

    The estimated drift has used one degree of freedom. The counting values are therefore moved away from their point's
    geometric mean by √(D / (D − 1)), where D is their degrees of freedom within the points. A spread pooled over D
    degrees is then that of the remaining D − 1. The points' geometric means stay.
    """
    line = line_of(observed)
    if line is None or not line.is_drifting:
        return tuple(observed)
    steady = at_the_middle(observed, line)
    means = {group: sum(y for _, y in of_it) / len(of_it) for group, of_it in _groups(_points(steady)).items()}
    degrees = sum(len(of_it) - 1 for of_it in _groups(_points(steady)).values())
    wider = math.sqrt(degrees / (degrees - 1)) if degrees > 1 else 1.0

    def widened(one: Observation) -> Observation:
        log, mean = log_value(one), means.get((*one.point, one.knobs_of_level))
        if one.mark or log is None or mean is None or one.role != "point":
            return one
        return replace(one, value=math.exp(mean + wider * (log - mean)))

    return tuple(widened(one) for one in steady)


def _points(observed: Sequence[Observation]) -> list[Observation]:
    return [one for one in observed if one.role == "point"]
