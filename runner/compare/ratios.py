"""The test of a ratio: logarithms of rates, their spread, Welch's t. Works on arrays whose last axis is the points.

A rate's spread grows with the rate, so rates are compared as logarithms: a difference of logarithms is a ratio. Few
replicates at a point say little about its spread; all points of a run together say more, so the spread of a run is
pooled over its points. A point that is clearly noisier than the rest (F test at 5 %, shared among the points) stands
alone with its own spread. Where one run has no replicates at all, both share the other's spread.
Refuses to invent a spread: with no replicates in either run there is none (see `seconds`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr, stdtrit

Floats = NDArray[np.float64]
OWN_SPREAD_LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class Side:
    """One run's moments of ln(rate) at each point: count, mean, sum of squares about the mean."""

    n: Floats
    mean: Floats
    squares: Floats

    @property
    def degrees(self) -> Floats:
        """Of freedom, at each point."""
        return self.n - 1


@dataclass(frozen=True, kw_only=True)
class Variance:
    """Of one trial's ln(rate), with degrees of freedom, at each point; own: not pooled."""

    value: Floats
    degrees: Floats
    own: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Tested:
    """B against A at each point: difference of ln(rate), its standard error, degrees of freedom, two-sided p."""

    difference: Floats
    error: Floats
    degrees: Floats
    p_value: Floats
    own: NDArray[np.bool_]


def side(logs: Floats) -> Side:
    """The moments of replicates on the last axis."""
    mean = logs.mean(axis=-1)
    squares = ((logs - mean[..., None]) ** 2).sum(axis=-1)
    return Side(n=np.full_like(mean, logs.shape[-1]), mean=mean, squares=squares)


def pooled(of: Side) -> Variance:
    """The run's variance at each point: pooled, but a point's own where it is clearly the larger one."""
    total, degrees = of.squares.sum(axis=-1, keepdims=True), of.degrees.sum(axis=-1, keepdims=True)
    rest, rest_degrees = total - of.squares, degrees - of.degrees
    comparable = (of.degrees > 0) & (rest_degrees > 0) & (rest > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(comparable, (of.squares / of.degrees) / (rest / rest_degrees), 0.0)
    chance = np.where(comparable, fdtrc(np.maximum(of.degrees, 1), np.maximum(rest_degrees, 1), excess), 1.0)
    own = chance < OWN_SPREAD_LEVEL / of.n.shape[-1]
    common = np.where(own, 0.0, of.squares).sum(axis=-1, keepdims=True)
    common_degrees = np.where(own, 0.0, of.degrees).sum(axis=-1, keepdims=True)
    return Variance(
        value=np.where(own, of.squares / np.maximum(of.degrees, 1), common / np.maximum(common_degrees, 1)),
        degrees=np.where(own, of.degrees, common_degrees),
        own=own,
    )


def variances(a: Side, b: Side) -> tuple[Variance, Variance] | None:
    """Of both runs; the same for both where one has no replicates; None where neither has."""
    degrees_a, degrees_b = float(a.degrees.sum(axis=-1).flat[0]), float(b.degrees.sum(axis=-1).flat[0])
    if degrees_a > 0 and degrees_b > 0:
        return pooled(a), pooled(b)
    if degrees_a + degrees_b == 0:
        return None
    known = pooled(a if degrees_a > 0 else b)
    return known, known


def welch(a: Side, b: Side, variance_a: Variance, variance_b: Variance, *, shared: bool) -> Tested:
    """Welch's test with Satterthwaite's degrees of freedom. shared: both variances are one estimate."""
    part_a, part_b = variance_a.value / a.n, variance_b.value / b.n
    return tested(
        b.mean - a.mean, part_a, part_b, variance_a.degrees, variance_b.degrees, variance_a.own | variance_b.own, shared
    )


def tested(
    difference: Floats,
    part_a: Floats,
    part_b: Floats,
    degrees_a: Floats,
    degrees_b: Floats,
    own: NDArray[np.bool_],
    shared: bool = False,
) -> Tested:
    """From the variances of both means and their degrees of freedom."""
    total = part_a + part_b
    if shared:
        degrees = np.broadcast_to(degrees_a, total.shape)
    else:
        below = part_a**2 / np.maximum(degrees_a, 1e-9) + part_b**2 / np.maximum(degrees_b, 1e-9)
        degrees = np.where(below > 0, total**2 / np.where(below > 0, below, 1.0), degrees_a + degrees_b)
    error = np.sqrt(total)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, difference / error, np.where(difference == 0, 0.0, np.inf))
    p_value = 2 * stdtr(np.maximum(degrees, 1e-9), -np.abs(t))
    return Tested(difference=difference, error=error, degrees=degrees, p_value=p_value, own=own)


def quantile(degrees: Floats, probability: float) -> Floats:
    """Student's t."""
    return np.asarray(stdtrit(np.maximum(degrees, 1e-9), probability))


def together(found: Tested) -> Tested:
    """All points as one: the mean of the differences, with equal weight, on a last axis of length 1."""
    k = found.difference.shape[-1]
    squares = found.error**2
    total = squares.sum(axis=-1, keepdims=True)
    below = (squares**2 / np.maximum(found.degrees, 1e-9)).sum(axis=-1, keepdims=True)
    # The points share a pooled variance: their errors are not independent, so no more degrees than one point's.
    degrees = np.minimum(
        np.where(below > 0, total**2 / np.where(below > 0, below, 1.0), 1.0), found.degrees.max(axis=-1, keepdims=True)
    )
    error = np.sqrt(total) / k
    difference = found.difference.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, difference / error, np.where(difference == 0, 0.0, np.inf))
    p_value = 2 * stdtr(np.maximum(degrees, 1e-9), -np.abs(t))
    return Tested(
        difference=difference, error=error, degrees=degrees, p_value=p_value, own=np.zeros_like(t, dtype=bool)
    )


def holm(p_values: Floats) -> Floats:
    """Holm's step-down (1979) on the last axis: below 5 % at any point happens to 5 % of pairs without a difference."""
    order = np.argsort(p_values, axis=-1)
    sorted_p = np.take_along_axis(p_values, order, axis=-1)
    k = p_values.shape[-1]
    stepped = np.maximum.accumulate(np.minimum(sorted_p * np.arange(k, 0, -1), 1.0), axis=-1)
    out = np.empty_like(p_values)
    np.put_along_axis(out, order, stepped, axis=-1)
    return out
