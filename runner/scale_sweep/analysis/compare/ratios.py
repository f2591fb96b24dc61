"""The test of a ratio by Student's and Welch's t."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, stdtr, stdtrit

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
SIDES_LEVEL, POINTS_LEVEL = 0.5, 0.7
OUTLIER_LEVEL = 0.05


# All of them work on the last axis, that of the points; axes before it are draws.


def sides_equal(squares_a: Floats, degrees_a: Floats, squares_b: Floats, degrees_b: Floats) -> Bools:
    """F test, on a last axis of length 1."""
    total = [part.sum(axis=-1, keepdims=True) for part in (squares_a, degrees_a, squares_b, degrees_b)]
    a, b = total[0] / np.maximum(total[1], 1), total[2] / np.maximum(total[3], 1)
    larger, smaller = np.maximum(a, b), np.minimum(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(smaller > 0, larger / np.where(smaller > 0, smaller, 1.0), np.where(larger > 0, np.inf, 1.0))
    above, below = np.where(a >= b, total[1], total[3]), np.where(a >= b, total[3], total[1])
    chance = 2 * fdtrc(np.maximum(above, 1), np.maximum(below, 1), np.minimum(ratio, 1e12))
    return np.asarray(chance > SIDES_LEVEL)


def own_spread(squares: Floats, degrees: Floats) -> Bools:
    """Points that are not pooled: outliers, or all if the rest differ by Bartlett's test (1937)."""
    outlier = outliers(squares, degrees)
    rest = np.where(outlier, 0.0, degrees)
    differ = bartlett(squares, rest) <= POINTS_LEVEL
    return np.asarray(outlier | differ) & (degrees > 0)


def outliers(squares: Floats, degrees: Floats) -> Bools:
    """F test of each against the rest at 5 %, shared among them."""
    rest = squares.sum(axis=-1, keepdims=True) - squares
    rest_degrees = degrees.sum(axis=-1, keepdims=True) - degrees
    comparable = (degrees > 0) & (rest_degrees > 0) & (rest > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(comparable, (squares / degrees) / (rest / rest_degrees), 0.0)
    chance = np.where(comparable, fdtrc(np.maximum(degrees, 1), np.maximum(rest_degrees, 1), excess), 1.0)
    return np.asarray(chance < OUTLIER_LEVEL / squares.shape[-1])


def bartlett(squares: Floats, degrees: Floats) -> Floats:
    """The p-value of equal variances, on a last axis of length 1; 1 where there is nothing to test."""
    part = degrees > 0
    count = part.sum(axis=-1, keepdims=True)
    safe = np.where(part, degrees, 1.0)
    total = np.where(part, degrees, 0.0).sum(axis=-1, keepdims=True)
    pooled = np.where(part, squares, 0.0).sum(axis=-1, keepdims=True) / np.maximum(total, 1)
    floor = np.maximum(1e-12 * pooled, 1e-300)
    own = np.where(part, np.maximum(squares / safe, floor), 1.0)
    logs = np.where(part, safe * np.log(own), 0.0).sum(axis=-1, keepdims=True)
    statistic = total * np.log(np.maximum(pooled, 1e-300)) - logs
    inverse = np.where(part, 1 / safe, 0.0).sum(axis=-1, keepdims=True) - 1 / np.maximum(total, 1)
    corrected = statistic / (1 + inverse / (3 * np.maximum(count - 1, 1)))
    chance = chdtrc(np.maximum(count - 1, 1), np.maximum(corrected, 0.0))
    return np.where((count < 2) | (pooled <= 1e-30), 1.0, chance)


@dataclass(frozen=True, kw_only=True)
class Side:
    n: Floats
    mean: Floats
    squares: Floats

    @property
    def degrees(self) -> Floats:
        return self.n - 1


@dataclass(frozen=True, kw_only=True)
class Variance:
    """The variance of one trial's ln(rate)."""

    value: Floats
    degrees: Floats
    own: Bools  # the points that are not pooled
    joint: Bools  # A and B share one estimate


@dataclass(frozen=True, kw_only=True)
class Tested:
    """B against A in ln(rate)."""

    difference: Floats
    error: Floats
    degrees: Floats
    p_value: Floats
    own: Bools


def side(logs: Floats, axis: int = -1) -> Side:
    """Moments of as many replicates at each point, on an axis."""
    mean = logs.mean(axis=axis)
    squares = ((logs - np.expand_dims(mean, axis)) ** 2).sum(axis=axis)
    return Side(n=np.full_like(mean, logs.shape[axis]), mean=mean, squares=squares)


def moments_of(points: Sequence[Sequence[float]]) -> Side:
    return joined([side(np.asarray(logs, dtype=float)) for logs in points])


def joined(points: Sequence[Side]) -> Side:
    names = ("n", "mean", "squares")
    columns = [[getattr(point, name) for point in points] for name in names]
    return Side(**{n: np.stack(of, axis=-1) if of else np.empty(0) for n, of in zip(names, columns, strict=True)})


def pooled(squares: Floats, degrees: Floats, own: Bools, joint: Bools) -> Variance:
    """Over the points that are not in `own`."""
    shared = np.where(own, 0.0, squares).sum(axis=-1, keepdims=True)
    shared_degrees = np.where(own, 0.0, degrees).sum(axis=-1, keepdims=True)
    everything = squares.sum(axis=-1, keepdims=True), degrees.sum(axis=-1, keepdims=True)
    common = np.where(shared_degrees > 0, shared, everything[0])  # points without replicates use the pooled one
    common_degrees = np.where(shared_degrees > 0, shared_degrees, everything[1])
    alone = own & (degrees > 0)
    return Variance(
        value=np.where(alone, squares / np.maximum(degrees, 1), common / np.maximum(common_degrees, 1)),
        degrees=np.where(alone, degrees, common_degrees),
        own=alone,
        joint=joint,
    )


def variance_of(one: Side) -> Variance:
    own = own_spread(one.squares, one.degrees)
    return pooled(one.squares, one.degrees, own, np.ones_like(own))


def variances(a: Side, b: Side) -> tuple[Variance, Variance] | None:
    """If one has no replicates, both have the other's. None without any."""
    degrees_a, degrees_b = float(a.degrees.sum(axis=-1).flat[0]), float(b.degrees.sum(axis=-1).flat[0])
    if degrees_a > 0 and degrees_b > 0:
        return _of_both(a, b)
    if degrees_a + degrees_b == 0:
        return None
    one = a if degrees_a > 0 else b
    own = outliers(one.squares, one.degrees)
    known = pooled(one.squares, one.degrees, own, np.ones_like(own))
    return known, known


def _of_both(a: Side, b: Side) -> tuple[Variance, Variance]:
    def relative(one: Side) -> Floats:
        total = one.squares.sum(axis=-1, keepdims=True) / np.maximum(one.degrees.sum(axis=-1, keepdims=True), 1)
        return one.squares / np.where(total > 0, total, 1.0)

    equal = sides_equal(a.squares, a.degrees, b.squares, b.degrees)
    squares, degrees = a.squares + b.squares, a.degrees + b.degrees
    own = own_spread(np.where(equal, squares, relative(a) + relative(b)), degrees)
    joint = np.broadcast_to(equal, own.shape)
    both = pooled(squares, degrees, own, joint)

    def either(one: Side) -> Variance:
        apart = pooled(one.squares, one.degrees, own, joint)
        return Variance(
            value=np.where(equal, both.value, apart.value),
            degrees=np.where(equal, both.degrees, apart.degrees),
            own=np.where(equal, both.own, apart.own),
            joint=joint,
        )

    return either(a), either(b)


def welch(a: Side, b: Side, variance_a: Variance, variance_b: Variance, *, shared: bool = False) -> Tested:
    """Student's test where A and B share an estimate (shared: everywhere), else Welch's."""
    part_a, part_b = variance_a.value / a.n, variance_b.value / b.n
    own = variance_a.own | variance_b.own
    return tested(
        b.mean - a.mean, part_a, part_b, variance_a.degrees, variance_b.degrees, own, variance_a.joint | shared
    )


def tested(
    difference: Floats,
    part_a: Floats,
    part_b: Floats,
    degrees_a: Floats,
    degrees_b: Floats,
    own: Bools,
    shared: Bools | bool = False,
) -> Tested:
    """By Satterthwaite, from the variances of both means. shared: A and B have one estimate there."""
    total = part_a + part_b
    below = part_a**2 / np.maximum(degrees_a, 1e-9) + part_b**2 / np.maximum(degrees_b, 1e-9)
    apart = np.where(below > 0, total**2 / np.where(below > 0, below, 1.0), degrees_a + degrees_b)
    degrees = np.where(shared, np.broadcast_to(degrees_a, total.shape), apart)
    return _student(difference, np.sqrt(total), degrees, own)


def _student(difference: Floats, error: Floats, degrees: Floats, own: Bools) -> Tested:
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, difference / error, np.where(difference == 0, 0.0, np.inf))
    p_value = 2 * stdtr(np.maximum(degrees, 1e-9), -np.abs(t))
    return Tested(difference=difference, error=error, degrees=degrees, p_value=p_value, own=own)


def quantile(degrees: Floats, probability: float) -> Floats:
    return np.asarray(stdtrit(np.maximum(degrees, 1e-9), probability))


def together(tested: Tested) -> Tested:
    """All points as one, with equal weights, on a last axis of length 1."""
    k = tested.difference.shape[-1]
    squares = tested.error**2
    total = squares.sum(axis=-1, keepdims=True)
    below = (squares**2 / np.maximum(tested.degrees, 1e-9)).sum(axis=-1, keepdims=True)
    apart = np.where(below > 0, total**2 / np.where(below > 0, below, 1.0), 1.0)
    # Points that share a pooled variance have dependent errors: no more degrees of freedom than one point has.
    most = np.where(tested.own, tested.degrees, 0.0).sum(axis=-1, keepdims=True)
    pooled_degrees = np.where(tested.own, 0.0, tested.degrees).max(axis=-1, keepdims=True)
    difference = tested.difference.mean(axis=-1, keepdims=True)
    own = np.zeros_like(difference, dtype=bool)
    return _student(difference, np.sqrt(total) / k, np.minimum(apart, most + pooled_degrees), own)


def holm(p_values: Floats) -> Floats:
    """Holm's step-down p-values (1979) on the last axis."""
    order = np.argsort(p_values, axis=-1)
    sorted_p = np.take_along_axis(p_values, order, axis=-1)
    k = p_values.shape[-1]
    stepped = np.maximum.accumulate(np.minimum(sorted_p * np.arange(k, 0, -1), 1.0), axis=-1)
    out = np.empty_like(p_values)
    np.put_along_axis(out, order, stepped, axis=-1)
    return out
