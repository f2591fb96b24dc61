"""The course of the rate over a run: drift, bend, first trial; and values without it. Each φ of PHIS gets a weight: its
likelihood, in which the coefficients and the variance are integrated out (the restricted likelihood of Harville, 1974),
times PRIOR."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from scale_sweep.analysis.confidence import POWER, SIGNIFICANCE, student
from scale_sweep.model.observed import Observation, Ratio, Trend

DEGREES_MIN = 2
PHIS = (0.0, 0.6, 0.9)
PRIOR = (4.0, 1.0, 1.0)  # independent trials are likelier; more weight finds more drift, and more where there is none
PRIOR_OF_FEW = (3.0, 1.0, 1.0)  # few trials show less of φ than the prior says
FEW_DEGREES = 10  # of freedom; fewer are few
FIRST_COLD = 0.01  # of its p-value: below it, the first trial differs from the others
FIRST_DOUBTED = 0.20  # of its p-value: below it, the first trial may differ
BEND_LEVEL = 0.01  # beside the 5 % of the drift, so that both together find few where there is none
ROUNDING = 1e-4
_STEPS = 40  # halvings, to find the half-width of an interval
Floats = NDArray[np.float64]
Group = tuple[float, str, float | None]  # level, subject, and the level whose knobs the trial had


class Coefficient(NamedTuple):
    value: float
    p_value: float  # two-sided, of 0
    # the divisor of one trial's variance that gives the variance of the coefficient of independent trials
    spread: float

    def is_more(self, times: float, level: float) -> bool:
        """Whether it is neither 0 at this level nor rounding."""
        return self.p_value < level and abs(self.value) * times > ROUNDING


@dataclass(frozen=True, kw_only=True)
class Line:
    """The regression of ln(value) on the order of the trials."""

    slope: Coefficient  # for each trial
    slope_half: float  # half of its 95 % interval
    bend: Coefficient | None  # for the squared distance of a trial from `middle`; None: not tested or not found
    first: Coefficient | None  # of the first trial against the others; None if it was not tested
    squares: float  # of the residuals
    degrees: int
    middle: float  # the mean order
    length: float  # from the first order to the last
    mean_square: float  # the mean squared distance from the middle
    alike: float  # the correlation between neighbouring trials, the mean of PHIS by their weights

    @property
    def terms(self) -> int:
        return 2 if self.bend else 1

    @property
    def is_bent(self) -> bool:
        return self.bend is not None and self.bend.is_more((self.length / 2) ** 2, 1.0)

    @property
    def is_drifting(self) -> bool:
        return self.slope.is_more(self.length, SIGNIFICANCE) or self.is_bent

    def log_at(self, order: float) -> float:
        """ln of the factor by which drift and bend changed a trial; 0 on average."""
        from_middle = order - self.middle
        bend = self.bend.value if self.bend else 0.0
        return self.slope.value * from_middle + bend * (from_middle**2 - self.mean_square)

    def leverage(self, orders: Sequence[float]) -> float:
        """The variance that removing drift and bend adds to a mean of these trials, in units of one trial's."""
        from_middle = [order - self.middle for order in orders]
        added = (sum(from_middle) / len(orders)) ** 2 / self.slope.spread
        if self.bend is None:
            return added
        square = sum(x * x for x in from_middle) / len(orders)
        return added + (square - self.mean_square) ** 2 / self.bend.spread


def log_value(observed: Observation) -> float | None:
    """None without a value above 0."""
    value = observed.value
    return math.log(value) if value is not None and math.isfinite(value) and value > 0 else None


def line_of(observed: Sequence[Observation]) -> Line | None:
    """None with too few replicates, or trials of one order."""
    logs = [(order, log, group) for group, of_it in _groups(observed).items() for order, log in of_it]
    return _line(tuple(logs), min(one.order for one in observed)) if logs else None


def _groups(observed: Sequence[Observation]) -> Mapping[Group, list[tuple[float, float]]]:
    """(order, ln value) of the counting trials. An ablation trial's knobs make a group."""
    groups: dict[Group, list[tuple[float, float]]] = {}
    for one in observed:
        log = log_value(one)
        if not one.mark and log is not None:
            groups.setdefault((*one.point, one.knobs_of_level), []).append((float(one.order), log))
    return groups


@lru_cache(maxsize=64)  # the parts of a report ask for the same ones again
def _line(logs: tuple[tuple[float, float, Group], ...], first_order: float) -> Line | None:
    """first_order: of the run's first trial, which may not count."""
    ordered = sorted(logs, key=lambda one: one[0])
    names = {group: at for at, group in enumerate(dict.fromkeys(group for _, _, group in ordered))}
    orders, values = (np.array([one[at] for one in ordered]) for at in (0, 1))
    if len(ordered) - len(names) - 1 < DEGREES_MIN or orders[0] == orders[-1]:
        return None
    middle = float(orders.mean())
    points = np.zeros((len(ordered), len(names)))
    points[np.arange(len(ordered)), [names[group] for _, _, group in ordered]] = 1.0
    line = np.column_stack([points, orders - middle])
    is_first = np.zeros(len(ordered))
    is_first[0] = 1.0
    cold = np.column_stack([line, is_first])
    with_first = _fit(cold, values, orders)
    first = with_first.coefficient(-1) if with_first and orders[0] == first_order else None
    designs = [line]
    if first is not None and first.p_value < FIRST_DOUBTED:
        designs = [cold] if first.p_value < FIRST_COLD else [line, cold]
    courses: list[tuple[_Fit, Coefficient, Coefficient | None]] = []
    for design in designs:
        bent = _fit(np.column_stack([design, (orders - orders.mean()) ** 2]), values, orders)
        bend = bent.coefficient(-1) if bent else None
        if bent and bend and bend.p_value < BEND_LEVEL:
            courses.append((bent, bent.coefficient(len(names)), bend))
        elif plain := _fit(design, values, orders):
            courses.append((plain, plain.coefficient(len(names)), None))
    if not courses:
        return None
    fit, slope, bend = max(courses, key=lambda course: (course[2] is None, course[1].p_value))
    return Line(
        slope=slope,
        slope_half=fit.half(len(names)),
        bend=bend,
        first=first,
        squares=fit.squares,
        degrees=fit.degrees,
        middle=middle,
        length=float(orders[-1] - orders[0]),
        mean_square=float(((orders - middle) ** 2).mean()),
        alike=float(fit.weights @ np.array(PHIS)),
    )


@dataclass(frozen=True, kw_only=True)
class _Fit:
    inverse: Floats  # of the design; its rows are the weights of the values in each coefficient
    values: Floats
    squares: float
    degrees: int
    variances: Floats  # of one value by each φ, with the φ's weight
    weights: Floats
    apart: Floats  # distances between the trials, in trials

    def coefficient(self, at: int) -> Coefficient:
        own = self.inverse[at]
        value = float(own @ self.values)
        return Coefficient(value=value, p_value=self._tails(abs(value), self._errors(at)), spread=1 / float(own @ own))

    def half(self, at: int) -> float:
        """Half of a coefficient's 95 % interval, by bisection of its tails."""
        errors = self._errors(at)
        low, high = 0.0, student(self.degrees) * float(errors.max())
        for _ in range(_STEPS):
            half = (low + high) / 2
            low, high = (half, high) if self._tails(half, errors) > SIGNIFICANCE else (low, half)
        return high

    def _errors(self, at: int) -> Floats:
        own = self.inverse[at]
        inflation = np.array([own @ phi**self.apart @ own for phi in PHIS])
        return np.asarray(np.sqrt(self.variances * inflation))

    def _tails(self, distance: float, errors: Floats) -> float:
        if distance == 0:
            return 1.0
        with np.errstate(divide="ignore"):
            return float(self.weights @ (2 * special.stdtr(self.degrees, -distance / errors)))


def _fit(design: Floats, values: Floats, orders: Floats) -> _Fit | None:
    """None with too few degrees of freedom, or if a column follows from others."""
    degrees = len(values) - design.shape[1]
    if degrees < DEGREES_MIN or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    inverse = np.asarray(np.linalg.pinv(design), dtype=np.float64)
    residuals = values - design @ (inverse @ values)
    gaps = np.maximum(np.diff(orders), 1.0)
    by_phi = [_by_phi(design, values, gaps, phi) for phi in PHIS]
    likelihoods = np.array([likelihood for likelihood, _ in by_phi])
    prior = np.array(PRIOR if degrees >= FEW_DEGREES else PRIOR_OF_FEW)
    weights = prior * np.exp(likelihoods - likelihoods.max())
    return _Fit(
        inverse=inverse,
        values=values,
        squares=float(residuals @ residuals),
        degrees=degrees,
        variances=np.array([of_it / degrees for _, of_it in by_phi]),
        weights=weights / weights.sum(),
        apart=np.abs(orders[:, None] - orders[None, :]),
    )


def _by_phi(design: Floats, values: Floats, gaps: Floats, phi: float) -> tuple[float, float]:
    """ln(likelihood) and squares for a correlation φ of neighbouring trials."""
    alike = phi**gaps if phi else np.zeros(len(gaps))
    rest = np.sqrt(1 - alike**2)
    both = np.column_stack([design, values])
    free = np.vstack([both[:1], (both[1:] - alike[:, None] * both[:-1]) / rest[:, None]])
    upper = np.abs(np.diag(np.linalg.qr(free, mode="r")))
    squares = max(float(upper[-1]) ** 2, np.finfo(float).tiny)
    degrees = len(values) - design.shape[1]
    own = float(np.log(rest).sum()) + float(np.log(upper[:-1]).sum())
    return -own - degrees / 2 * math.log(squares), squares


def trend_of(observed: Sequence[Observation]) -> Trend | None:
    """Ratio of the last trial to the first; None if it is not known."""
    line = line_of(observed)
    if line is None:
        return None
    change, half = line.slope.value * line.length, line.slope_half * line.length
    seen = half * (1 + student(line.degrees, POWER) / student(line.degrees))
    bend = line.bend.value * (line.length / 2) ** 2 if line.bend and line.is_bent else 0.0
    is_named = line.first is not None and line.first.is_more(1.0, FIRST_COLD)
    return Trend(
        ratio=Ratio(value=math.exp(change), low=math.exp(change - half), high=math.exp(change + half)),
        p_value=line.slope.p_value,
        degrees=line.degrees,
        smallest_percent=100 * math.expm1(seen),
        is_drifting=line.is_drifting,
        bend_percent=100 * math.expm1(bend) if bend else None,
        first_percent=100 * math.expm1(line.first.value) if line.first is not None and is_named else None,
        alike=line.alike,
    )


def steadied(observed: Sequence[Observation]) -> tuple[Sequence[Observation], Line | None]:
    """Values as in the middle of a run that only drifts, and the drift; None if there is none."""
    line = line_of(observed)
    if line is None or not line.is_drifting:
        return observed, None
    moved = [o if o.value is None else replace(o, value=o.value * math.exp(-line.log_at(o.order))) for o in observed]
    return moved, line


def without_drift(observed: Sequence[Observation]) -> tuple[Observation, ...]:
    """For a fit. Drift and bend have used k = 1 or 2 of D degrees of freedom, so values are moved away from their
    point's mean by √(D / (D − k)): a spread pooled over D is then that of the rest."""
    steady, line = steadied(observed)
    if line is None:
        return tuple(observed)
    groups = _groups([one for one in steady if one.role == "point"])
    means = {group: sum(y for _, y in of_it) / len(of_it) for group, of_it in groups.items()}
    degrees = sum(len(of_it) - 1 for of_it in groups.values())
    left = degrees - line.terms
    wider = math.sqrt(degrees / left) if left > 0 else 1.0

    def widened(one: Observation) -> Observation:
        log, mean = log_value(one), means.get((*one.point, one.knobs_of_level))
        if one.mark or log is None or mean is None or one.role != "point":
            return one
        return replace(one, value=math.exp(mean + wider * (log - mean)))

    return tuple(widened(one) for one in steady)
