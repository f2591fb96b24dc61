"""Tests paired points, and how often that calls equal runs different."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from scale_sweep.analysis.compare.pairs import PointLogs, window_spread
from scale_sweep.analysis.compare.ratios import (
    Floats,
    Side,
    Tested,
    holm,
    joined,
    moments_of,
    side,
    tested,
    together,
    variances,
    welch,
)
from scale_sweep.model.compared import FalseAlarms, Spread


def compare_points(points: Sequence[PointLogs]) -> tuple[Tested, Spread] | None:
    """Tests all points at once; None without a spread."""
    a, b = moments_of([p.a for p in points]), moments_of([p.b for p in points])
    spreads = variances(a, b)
    if spreads is not None:
        return welch(a, b, *spreads), "common" if spreads[0] is spreads[1] else "replicates"
    known = [(p.seconds_a, p.seconds_b) for p in points if p.seconds_a is not None and p.seconds_b is not None]
    if len(known) < len(points):
        return None
    variances_a, variances_b, degrees_a, degrees_b = (
        np.array([getattr(pair[at], name) for pair in known]) for name in ("variance", "degrees") for at in (0, 1)
    )
    own = np.zeros(len(points), dtype=bool)
    return tested(b.mean - a.mean, variances_a, variances_b, degrees_a, degrees_b, own), "seconds"


DRAWS, DRAWS_SECONDS = 4000, 400
SEED = 20260102


def false_alarms(points: Sequence[PointLogs], alpha: float, allowed: float | None) -> FalseAlarms | None:
    """allowed: the accepted loss, as a share (0.05). None without a spread."""
    result = compare_points(points)
    if result is None:
        return None
    chance = np.random.default_rng(SEED)
    draws = DRAWS_SECONDS if result[1] == "seconds" else DRAWS
    made = _from_seconds(points, chance, draws) if result[1] == "seconds" else _from_replicates(points, chance, draws)
    adjusted, differences = family(made)
    alarms = adjusted < alpha
    limit = math.log(1 - allowed) if allowed is not None else None
    slower = (alarms & (differences < limit)).any(axis=-1) if limit is not None else None
    return FalseAlarms(
        draws=draws,
        any_percent=100 * float(alarms.any(axis=-1).mean()),
        slower_percent=100 * float(slower.mean()) if slower is not None else None,
        spread=result[1],
    )


def family(tested: Tested) -> tuple[Floats, Floats]:
    """Holm's p-values and the differences of the points and, last, of several together."""
    if tested.difference.shape[-1] == 1:
        return tested.p_value, tested.difference
    whole = together(tested)
    p_values = np.concatenate([tested.p_value, whole.p_value], axis=-1)
    return holm(p_values), np.concatenate([tested.difference, whole.difference], axis=-1)


def _residuals(logs: Sequence[Sequence[float]]) -> Floats:
    parts = []
    for values in logs:
        if len(values) > 1:
            x = np.asarray(values, dtype=float)
            parts.append((x - x.mean()) * math.sqrt(len(x) / (len(x) - 1)))
    return np.concatenate(parts) if parts else np.empty(0)


def _from_replicates(points: Sequence[PointLogs], chance: np.random.Generator, draws: int) -> Tested:
    left_a, left_b = _residuals([p.a for p in points]), _residuals([p.b for p in points])
    left_a, left_b = (left_a if len(left_a) else left_b), (left_b if len(left_b) else left_a)
    a = _drawn([len(p.a) for p in points], left_a, chance, draws)
    b = _drawn([len(p.b) for p in points], left_b, chance, draws)
    spreads = variances(a, b)
    assert spreads is not None
    return welch(a, b, *spreads)


def _drawn(counts: Sequence[int], noise: Floats, chance: np.random.Generator, draws: int) -> Side:
    width = len(noise) ** -0.2
    spread = math.sqrt(float(np.mean(noise**2)))

    def draw(n: int) -> Floats:
        own = chance.choice(noise, size=(draws, n))
        return np.asarray(math.sqrt(1 - width**2) * own + width * spread * chance.normal(size=(draws, n)))

    return joined([side(draw(n)) for n in counts])


def _from_seconds(points: Sequence[PointLogs], chance: np.random.Generator, draws: int) -> Tested:
    shape = (draws, len(points))
    figures = {name: np.zeros(shape) for name in ("mean_a", "var_a", "deg_a", "mean_b", "var_b", "deg_b")}
    for at, point in enumerate(points):
        for name, spread in (("a", point.seconds_a), ("b", point.seconds_b)):
            assert spread is not None
            one_second = math.sqrt(spread.variance * spread.effective)
            windows = _windows(chance, draws, spread.seconds, spread.phi, one_second)
            for draw in range(draws):
                again = window_spread(windows[draw])
                assert again is not None
                figures[f"mean_{name}"][draw, at] = math.log(windows[draw].mean())
                figures[f"var_{name}"][draw, at] = again.variance
                figures[f"deg_{name}"][draw, at] = again.degrees
    return tested(
        figures["mean_b"] - figures["mean_a"],
        figures["var_a"],
        figures["var_b"],
        figures["deg_a"],
        figures["deg_b"],
        np.zeros(shape, dtype=bool),
    )


def _windows(chance: np.random.Generator, draws: int, seconds: int, phi: float, spread: float) -> Floats:
    """Rates about 1, from an autoregression of order one."""
    noise = chance.normal(size=(draws, seconds))
    state = np.empty_like(noise)
    state[:, 0] = noise[:, 0]
    for second in range(1, seconds):
        state[:, second] = phi * state[:, second - 1] + math.sqrt(1 - phi**2) * noise[:, second]
    return np.exp(spread * state)
