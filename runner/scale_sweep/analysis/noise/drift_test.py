"""The course of the rate over a run: does it drift, does it bend, and was the first trial different?"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from scale_sweep.analysis.confidence import SIGNIFICANCE, student

DEGREES_MIN = 2
PHIS = (0.0, 0.6, 0.9)
PRIOR = (4.0, 1.0, 1.0)  # independent trials are likelier; more weight finds more drift, and more where there is none
PRIOR_OF_FEW = (3.0, 1.0, 1.0)  # few trials show less of φ than the prior says
FEW_DEGREES = 10  # of freedom; fewer are few
FIRST_COLD = 0.01  # of its p-value: below it, the first trial differs from the others
FIRST_DOUBTED = 0.20  # of its p-value: below it, the first trial may differ
BEND_LEVEL = 0.01  # beside the 5 % of the drift, so that both together find few where there is none
_STEPS = 40  # halvings, to find the half-width of an interval
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class TrialLog:
    """ln(value) of a trial that counts."""

    order: float
    log: float
    group: Hashable  # its point, with the knobs that it had


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A coefficient of the model."""

    value: float
    p_value: float  # two-sided, of 0
    # the divisor of one trial's variance that gives the variance of the coefficient of independent trials
    spread: float


@dataclass(frozen=True, kw_only=True)
class Shape:
    """slope: for each trial. slope_half: half of its 95 % interval. bend: for the squared distance of a trial from
    `middle`, None if it was not tested or not found. first: of the first trial against the others, None if it was not
    tested. squares: the sum of squared residuals, with its degrees of freedom. middle: the mean order. length: from the
    first order to the last. mean_square: the mean squared distance from the middle. alike: the correlation between
    neighbouring trials, the mean of PHIS by their weights."""

    slope: Coefficient
    slope_half: float
    bend: Coefficient | None
    first: Coefficient | None
    squares: float
    degrees: int
    middle: float
    length: float
    mean_square: float
    alike: float


def shape_of(logs: Sequence[TrialLog], first_order: float) -> Shape | None:
    """The course of a run; None with too few replicates, or for trials of one order. first_order: of the run's
    first trial, which may not count."""
    logs = sorted(logs, key=lambda one: one.order)
    names = {group: at for at, group in enumerate(dict.fromkeys(one.group for one in logs))}
    if len(logs) - len(names) - 1 < DEGREES_MIN:
        return None
    orders = np.array([one.order for one in logs])
    if orders[0] == orders[-1]:
        return None
    values = np.array([one.log for one in logs])
    middle = float(orders.mean())
    points = np.zeros((len(logs), len(names)))
    points[np.arange(len(logs)), [names[one.group] for one in logs]] = 1.0
    line = np.column_stack([points, orders - middle])
    is_first = np.zeros(len(logs))
    is_first[0] = 1.0
    cold = np.column_stack([line, is_first])
    with_first = _fit(cold, values, orders)
    first = with_first.coefficient(-1) if with_first and orders[0] == first_order else None
    designs = [line] if first is None else _designs(line, cold, first.p_value)
    courses = [course for design in designs if (course := _course(design, len(names), values, orders))]
    if not courses:
        return None
    fit, slope, bend = max(courses, key=lambda course: (course.bend is None, course.slope.p_value))
    return Shape(
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


class _Course(NamedTuple):
    """A fitted course."""

    fit: _Fit
    slope: Coefficient
    bend: Coefficient | None  # None if it was not tested or not found


def _designs(line: Floats, cold: Floats, p_value: float) -> list[Floats]:
    if p_value < FIRST_COLD:
        return [cold]
    return [line, cold] if p_value < FIRST_DOUBTED else [line]


def _course(design: Floats, slope_at: int, values: Floats, orders: Floats) -> _Course | None:
    bent = _fit(np.column_stack([design, (orders - orders.mean()) ** 2]), values, orders)
    bend = bent.coefficient(-1) if bent else None
    if bent and bend and bend.p_value < BEND_LEVEL:
        return _Course(fit=bent, slope=bent.coefficient(slope_at), bend=bend)
    fit = _fit(design, values, orders)
    return _Course(fit=fit, slope=fit.coefficient(slope_at), bend=None) if fit else None


@dataclass(frozen=True, kw_only=True)
class _Fit:
    """Least squares."""

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
        """Half of the 95 % interval of the coefficient of the design's column `at`: the distance whose tails are
        SIGNIFICANCE, by bisection."""
        errors = self._errors(at)
        low, high = 0.0, student(self.degrees) * float(errors.max())
        for _ in range(_STEPS):
            half = (low + high) / 2
            low, high = (half, high) if self._tails(half, errors) > SIGNIFICANCE else (low, half)
        return high

    def _errors(self, at: int) -> Floats:
        own = self.inverse[at]
        inflation = np.array([own @ phi**self.apart @ own for phi in PHIS])
        errors: Floats = np.sqrt(self.variances * inflation)
        return errors

    def _tails(self, distance: float, errors: Floats) -> float:
        if distance == 0:
            return 1.0
        with np.errstate(divide="ignore"):
            return float(self.weights @ (2 * special.stdtr(self.degrees, -distance / errors)))


def _fit(design: Floats, values: Floats, orders: Floats) -> _Fit | None:
    """The model of this design, whose rows are in the order of the trials; None if it has too few degrees of freedom,
    or if one of its columns follows from the others."""
    degrees = len(values) - design.shape[1]
    if degrees < DEGREES_MIN or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    inverse = np.asarray(np.linalg.pinv(design), dtype=np.float64)
    residuals = values - design @ (inverse @ values)
    squares = float(residuals @ residuals)
    gaps = np.maximum(np.diff(orders), 1.0)
    by_phi = [_by_phi(design, values, gaps, phi) for phi in PHIS]
    likelihoods = np.array([likelihood for likelihood, _ in by_phi])
    prior = np.array(PRIOR if degrees >= FEW_DEGREES else PRIOR_OF_FEW)
    weights = prior * np.exp(likelihoods - likelihoods.max())
    return _Fit(
        inverse=inverse,
        values=values,
        squares=squares,
        degrees=degrees,
        variances=np.array([of_it / degrees for _, of_it in by_phi]),
        weights=weights / weights.sum(),
        apart=np.abs(orders[:, None] - orders[None, :]),
    )


def _by_phi(design: Floats, values: Floats, gaps: Floats, phi: float) -> tuple[float, float]:
    alike = phi**gaps if phi else np.zeros(len(gaps))
    rest = np.sqrt(1 - alike**2)
    both = np.column_stack([design, values])
    free = np.vstack([both[:1], (both[1:] - alike[:, None] * both[:-1]) / rest[:, None]])
    upper = np.abs(np.diag(np.linalg.qr(free, mode="r")))
    squares = max(float(upper[-1]) ** 2, np.finfo(float).tiny)
    degrees = len(values) - design.shape[1]
    own = float(np.log(rest).sum()) + float(np.log(upper[:-1]).sum())
    return -own - degrees / 2 * math.log(squares), squares
