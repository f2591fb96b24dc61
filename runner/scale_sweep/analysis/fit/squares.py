"""Least squares for many samples at once: the same levels and weights, one row of rates each.

Models that are not linear use damped Newton steps (as Levenberg 1944, Marquardt 1963) on all samples together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scale_sweep.analysis.fit.models import LOG_MOST, WITH_BREAK, Floats, ModelName, rates

Ends = tuple[int | None, ...]
Curve = Callable[[Floats], tuple[Floats, list[Floats]]]
_STEPS_ONE, _STEPS_MANY = 300, 40  # the few samples that have not converged by then are far outside
_SMALL_ONE, _SMALL_MANY = 1e-11, 1e-8  # a step too small to matter: for the fit, for a sample of its percentiles
_DAMPING_MAX = 1e13
_BEND_MIN = 0.05
_SLOPE_MIN = 1e-9
_ALPHA_START, _SHARE_START = 0.02, 0.05


def solve(
    model: ModelName, levels: Floats, weights: Floats, measured: Floats, unit: float = 1.0, knot: float | None = None
) -> Floats:
    """(samples, parameters) for measured (samples, levels), of the order of 1. Levels ascend and are above 0. unit: u
    of the formulas in models.py, at most the first level. knot: b, which only models with a break need."""
    if model == "linear":
        return (measured @ (weights * levels) / np.sum(weights * levels**2))[:, None]
    if model == "affine":
        return _affine(levels, weights, measured)
    if model == "knee":
        return _knee(levels, weights, measured)
    if model == "power":
        return _power(levels, weights, measured)
    if model in WITH_BREAK:
        assert knot is not None, "a model with a break needs its level"
        if model == "linear_break":
            return _linear_break(levels, weights, measured, knot)
        return _amdahl_break(levels, weights, measured, unit, knot)
    poorer = solve("amdahl" if model == "usl" else "linear", levels, weights, measured, unit)
    solution = _law(levels, weights, measured, poorer.shape[1] + 1, unit)
    return _no_worse(solution, poorer, levels, weights, measured, unit)


def _affine(levels: Floats, weights: Floats, measured: Floats) -> Floats:
    total = weights.sum()
    middle = weights @ levels / total
    away = levels - middle
    slope = measured @ (weights * away) / np.sum(weights * away**2)
    return np.column_stack([measured @ weights / total - slope * middle, slope])


def _knee(levels: Floats, weights: Floats, measured: Floats) -> Floats:
    """The best one between two levels, where both parts are means, or on a level."""
    square, joint = np.cumsum(weights * levels**2), np.cumsum(weights * levels * measured, axis=1)
    many = weights.sum() - np.cumsum(weights)
    rest = (measured @ weights)[:, None] - np.cumsum(weights * measured, axis=1)
    on = (joint + levels * rest) / (square + levels**2 * many)
    gain_on = on * (joint + levels * rest)
    rise, flat = joint / square, np.zeros_like(rest)
    np.divide(rest, many, out=flat, where=many > 0.5)
    following = np.append(levels[1:], np.inf)
    inside = (many > 0.5) & (rise * levels <= flat) & (flat <= rise * following)
    gain_between = np.where(inside, rise * joint + flat * rest, -np.inf)
    best = np.argmax(np.concatenate([gain_on, gain_between], axis=1), axis=1)
    slopes = np.concatenate([on, rise], axis=1)
    limits = np.concatenate([on * levels, flat], axis=1)
    row = np.arange(len(measured))
    return np.column_stack([slopes[row, best], limits[row, best]])


def _linear_break(levels: Floats, weights: Floats, measured: Floats, at: float) -> Floats:
    parts = np.array([np.minimum(levels, at), np.maximum(levels - at, 0.0)])
    slopes = np.linalg.solve((parts * weights) @ parts.T, (parts * weights) @ measured.T).T
    ideal = np.maximum(slopes[:, 0], _SLOPE_MIN)
    return np.column_stack([ideal, slopes[:, 1] / ideal, np.full(len(measured), at)])


def _amdahl_break(levels: Floats, weights: Floats, measured: Floats, unit: float, at: float) -> Floats:
    """As m / (a + b(m/u − 1)) with m = min(n, at) + s max(n − at, 0); without contention where that fits better, or
    where 0 ≤ α ≤ 1 fails."""
    plain = _linear_break(levels, weights, measured, at)
    over = np.maximum(levels - at, 0.0)

    def curve(p: Floats) -> tuple[Floats, list[Floats]]:
        worth = np.maximum(np.minimum(levels, at) + p[:, 2:] * over, 1e-9)
        below = np.maximum(p[:, :1] + p[:, 1:2] * (worth / unit - 1), 1e-9)
        value = worth / below
        steep = -value / below
        return value, [steep, steep * (worth / unit - 1), over * (p[:, :1] - p[:, 1:2]) / below**2]

    start = np.column_stack([1 / plain[:, 0], _ALPHA_START / plain[:, 0], np.maximum(plain[:, 1], _SHARE_START)])
    solved = _search(curve, start, weights, measured, 0.0)
    ideal = 1 / np.maximum(solved[:, 0], 1e-12)
    solution = np.column_stack([ideal, solved[:, 1] * ideal, solved[:, 2], plain[:, 2]])
    held = np.column_stack([plain[:, 0], np.zeros(len(plain)), plain[:, 1], plain[:, 2]])
    miss, miss_held = ((measured - rates("amdahl_break", p, levels, unit)) ** 2 @ weights for p in (solution, held))
    inside = (solved[:, 0] > 0) & (solution[:, 1] >= 0) & (solution[:, 1] <= 1)
    return np.where((inside & (miss < miss_held))[:, None], solution, held)


def _power(levels: Floats, weights: Floats, measured: Floats) -> Floats:
    logs = np.log(levels)
    line = _affine(logs, weights, np.log(np.maximum(measured, 1e-9)))

    def curve(p: Floats) -> tuple[Floats, list[Floats]]:
        value = np.exp(np.clip(p[:, :1] + p[:, 1:] * logs, -60, 60))
        return value, [value, value * logs]

    solution = _search(curve, line, weights, measured, 1.0)
    return np.column_stack([np.exp(np.clip(solution[:, 0], -LOG_MOST, LOG_MOST)), solution[:, 1]])


def _law(levels: Floats, weights: Floats, measured: Floats, count: int, unit: float) -> Floats:
    """USL and Amdahl as n / (a + b(m−1) + c m(m−1)), with α = b/a, β = c/a: its reciprocal is linear."""
    many = levels / unit
    bases = np.array([np.ones_like(many), many - 1, many * (many - 1)][:count])
    solution = _inside(levels, bases, weights, measured, (None,) * (count - 1))
    return np.column_stack([1 / solution[:, 0], *(solution[:, i] / solution[:, 0] for i in range(1, count))])


def solve_peak_at_last(levels: Floats, weights: Floats, measured: Floats, unit: float) -> Floats:
    """The best USL with β = (1 − α) / M², as rates: (samples, levels)."""
    many = levels / unit
    pairs = many * (many - 1) / many[-1] ** 2
    bases = np.array([1 + pairs, many - 1 - pairs])
    return np.asarray(levels / _positive(_inside(levels, bases, weights, measured, (None,)), bases))


def _no_worse(
    solution: Floats, poorer: Floats, levels: Floats, weights: Floats, measured: Floats, unit: float
) -> Floats:
    """Or the law with one parameter fewer, if the search ended in a local minimum, as where rates follow no law."""
    held = np.column_stack([poorer, np.zeros(len(poorer))])
    miss, miss_held = ((measured - rates("usl", p, levels, unit)) ** 2 @ weights for p in (solution, held))
    return np.where((miss_held < miss)[:, None], held, solution)


def _inside(levels: Floats, bases: Floats, weights: Floats, measured: Floats, ends: Ends) -> Floats:
    """The best a, b, c with 0 ≤ α, β ≤ 1. ends: where α and β are held (None: free). If the free minimum is outside,
    each bound that it violates is tried."""
    solution = _face(levels, bases, weights, measured, ends)
    shares = solution[:, 1:] / np.where(solution[:, :1] == 0, 1e-300, solution[:, :1])
    wrong = solution[:, 0] <= 0
    lowest = np.full(len(solution), np.inf)
    for i, end in enumerate(ends):
        if end is not None:
            continue
        for bound, beyond in ((0, wrong | (shares[:, i] < 0)), (1, wrong | (shares[:, i] > 1))):
            at = np.flatnonzero(beyond)
            if not at.size:
                continue
            held = _inside(levels, bases, weights, measured[at], (*ends[:i], bound, *ends[i + 1 :]))
            squares = (measured[at] - levels / _positive(held, bases)) ** 2 @ weights
            better = squares < lowest[at]
            solution[at[better]], lowest[at[better]] = held[better], squares[better]
    return solution


def _positive(part: Floats, bases: Floats) -> Floats:
    return np.asarray(np.maximum(part @ bases, 1e-9))


def _face(levels: Floats, bases: Floats, weights: Floats, measured: Floats, ends: Ends) -> Floats:
    """A held parameter is 0, or 1 and then shares the first's coefficient. The search starts from the weighted linear
    fit of n/X."""
    free = [i for i, end in enumerate(ends, start=1) if end is None]
    first = bases[0] + sum((bases[i] for i, end in enumerate(ends, start=1) if end), np.zeros_like(levels))
    own = np.array([first, *bases[free]])
    scaled = measured**2 / levels
    start = _normal([scaled * basis for basis in own], measured, weights, np.zeros(len(measured)), np.ones((1, 1)))
    ideal = measured @ (weights * levels / first) / np.sum(weights * (levels / first) ** 2)
    bad = (start @ own <= 1e-6).any(axis=1) | ~np.isfinite(start).all(axis=1)
    start[bad] = 0.0
    start[bad, 0] = 1 / np.maximum(ideal[bad], 1e-9)

    def curve(p: Floats) -> tuple[Floats, list[Floats]]:
        below = _positive(p, own)
        value = levels / below
        steep = -value / below
        return value, [steep * basis for basis in own]

    solved = _search(curve, start, weights, measured, 2.0)
    solution = np.empty((len(measured), len(bases)))
    solution[:, 0] = solved[:, 0]
    for i, end in enumerate(ends, start=1):
        solution[:, i] = solved[:, 1 + free.index(i)] if end is None else end * solved[:, 0]
    return solution


def _normal(columns: list[Floats], target: Floats, weights: Floats, damping: Floats, bend: Floats) -> Floats:
    """The weighted normal equations. damping: relative to the diagonal. bend: factors on products of slopes that make
    Newton's matrix."""
    size = len(columns)
    square, right = np.empty((len(target), size, size)), np.empty((len(target), size, 1))
    for i, one in enumerate(columns):
        heavy = one * weights
        bent = heavy * bend
        right[:, i, 0] = np.einsum("sl,sl->s", heavy, target)
        for j in range(i, size):
            square[:, i, j] = square[:, j, i] = np.einsum("sl,sl->s", bent, columns[j])
    unit = np.sqrt(np.maximum(np.einsum("sii->si", square), 1e-300))
    square /= unit[:, :, None] * unit[:, None, :]
    square += (damping + 1e-15)[:, None, None] * np.eye(size)
    try:
        solution: Floats = np.linalg.solve(square, right / unit[:, :, None])[:, :, 0] / unit
    except np.linalg.LinAlgError:
        solution = (np.linalg.pinv(square) @ (right / unit[:, :, None]))[:, :, 0] / unit
    return solution


def _search(curve: Curve, start: Floats, weights: Floats, measured: Floats, curvature: float) -> Floats:
    """Damped Newton steps on all samples until a step no longer matters. curvature: k if second derivatives are k/X
    times products of the first, which makes Newton's as cheap as Gauss-Newton."""
    best = start.copy()
    open_ = np.arange(len(start))
    damping = np.full(len(start), 1e-4)
    value, slopes = curve(best)
    squares = (measured - value) ** 2 @ weights
    most, least = (_STEPS_ONE, _SMALL_ONE) if len(start) == 1 else (_STEPS_MANY, _SMALL_MANY)
    for _ in range(most):
        here = measured[open_]
        value, slopes = curve(best[open_])
        gap = here - value
        bend = np.maximum(1 - curvature * gap / value, _BEND_MIN)
        step = _normal(slopes, gap, weights, damping[open_], bend)
        tried = best[open_] + step
        reached = (here - curve(tried)[0]) ** 2 @ weights
        better = reached <= squares[open_]
        small = np.abs(step).max(axis=1) <= least * np.abs(best[open_]).max(axis=1)
        won = open_[better]
        best[won], squares[won] = tried[better], reached[better]
        damping[won] = np.maximum(damping[won] / 10, 1e-12)
        damping[open_[~better]] *= 10
        open_ = open_[~small & (damping[open_] < _DAMPING_MAX)]
        if not open_.size:
            break
    return best
