"""The data of two runs at each point, their test, and how often it calls equal runs different.

A short window gives too small a φ (Kendall 1954: by about (1 + 3 φ) / n), which is corrected here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
from scale_sweep.analysis.noise.drift_test import without_drift
from scale_sweep.analysis.observations import achieved, observations
from scale_sweep.base.errors import UsageError
from scale_sweep.model.compared import FalseAlarms, Spread
from scale_sweep.model.derived import is_taken
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.sweep.vary import label

SECONDS_MIN = 5
PHI_MAX = 0.98
_REMEDY = "scale list shows what the runs are"


def check_comparable(runs: Sequence[StoredRun]) -> None:
    """Raises UsageError for runs of different axes or units, and for simulated ones beside others."""
    if len({run.plan.sweep.axis for run in runs}) > 1:
        raise UsageError("the runs do not sweep the same axis", remedy=_REMEDY)
    units = sorted({run.plan.rate_words for run in runs})
    if len(units) > 1:
        raise UsageError(f"the rates of the runs have different units: {' and '.join(units)}", remedy=_REMEDY)


@dataclass(frozen=True, kw_only=True)
class WindowSpread:
    seconds: int
    variance: float
    degrees: float
    effective: float
    phi: float


def window_spread(rates: Sequence[float]) -> WindowSpread | None:
    """None for fewer than five seconds, or without a rate."""
    x = np.asarray(rates, dtype=float)
    n, mean = len(x), float(np.mean(x)) if len(x) else 0.0
    if n < SECONDS_MIN or mean <= 0:
        return None
    off = x / mean - 1
    squares = float(np.sum(off**2))
    if squares == 0:
        return WindowSpread(seconds=n, variance=0.0, degrees=n - 1.0, effective=float(n), phi=0.0)
    raw = float(np.sum(off[1:] * off[:-1])) / squares
    phi = min(max(raw + (1 + 3 * raw) / n, 0.0), PHI_MAX)
    effective = max(n * (1 - phi) / (1 + phi), 2.0)
    # The sum of squares about the mean of n correlated seconds is too small by the mean's own variance.
    spread = squares / n / (1 - 1 / effective)
    return WindowSpread(seconds=n, variance=spread / effective, degrees=effective - 1, effective=effective, phi=phi)


EDGE_S = 0.3  # an interval that ends so soon after the window's start began before it


@dataclass(frozen=True, kw_only=True)
class PointLogs:
    """ln(rate) of the VALID trials of a point in both runs."""

    level: float
    variant: str
    a: tuple[float, ...]
    b: tuple[float, ...]
    seconds_a: WindowSpread | None = None
    seconds_b: WindowSpread | None = None
    trials: tuple[int, int] | None = None  # those of A and B behind a and b; by default one each

    @property
    def differences(self) -> tuple[float, ...]:
        return tuple(b - a for a, b in zip(self.a, self.b, strict=True))


@dataclass(frozen=True, kw_only=True)
class Unpaired:
    level: float
    variant: str
    trials_a: int
    trials_b: int
    why: str
    lost: bool  # A has VALID trials; B planned some and has none
    open_loop: bool = False  # A or B offered a fixed rate there
    is_planned: bool = True  # by A and by B
    is_disturbed: bool = False  # others took the CPUs of every trial of B there


Key = tuple[float, str]


def pair_points(a: StoredRun, b: StoredRun) -> tuple[list[PointLogs], list[Unpaired]]:
    """By level and variant, and those that only one run has."""
    valid_a, valid_b = counted_trials(a), counted_trials(b)
    planned_a, planned_b = planned_points(a), planned_points(b)
    paired, unpaired = [], []
    for key in sorted({*planned_a, *planned_b}):
        here_a, here_b = valid_a.get(key, []), valid_b.get(key, [])
        if here_a and here_b:
            paired.append(
                PointLogs(
                    level=key[0],
                    variant=key[1],
                    a=tuple(log for _, log in here_a),
                    b=tuple(log for _, log in here_b),
                    seconds_a=window_spread(window_rates(a, here_a[0][0])),
                    seconds_b=window_spread(window_rates(b, here_b[0][0])),
                )
            )
            continue
        is_open_b = key in open_points(b)
        lacking: dict[str, list[str]] = {}
        for name, run, here in (("A", a, here_a), ("B", b, here_b)):
            if not here:
                why = "open loop in" if key in open_points(run) else "no VALID trial of"
                lacking.setdefault(why if key in planned_points(run) else "not in the plan of", []).append(name)
        unpaired.append(
            Unpaired(
                level=key[0],
                variant=key[1],
                trials_a=len(here_a),
                trials_b=len(here_b),
                why="; ".join(f"{why} {' or '.join(names)}" for why, names in lacking.items()),
                lost=bool(here_a) and key in planned_b and not is_open_b,
                open_loop=is_open_b or key in open_points(a),
                is_planned=key in planned_a and key in planned_b,
                is_disturbed=are_disturbed([r for r in b.results if _key(r) == key]),
            )
        )
    return paired, unpaired


def _key(result: TrialResult) -> Key:
    return result.trial.level, label(result.trial.variant)


def are_disturbed(results: Sequence[TrialResult]) -> bool:
    return bool(results) and all(map(is_taken, results))


def disturbed_sessions(runs: Sequence[StoredRun], key: Key) -> bool:
    """The same of a point's trials, in each run that has no VALID one."""
    lacking = [run for run in runs if not counted_trials(run).get(key)]
    return bool(lacking) and all(are_disturbed([r for r in run.results if _key(r) == key]) for run in lacking)


def window_rates(run: StoredRun, result: TrialResult) -> list[float]:
    start = result.measurement.transient_s or 0.0
    end = start + (result.measurement.window_s or 0.0)
    return [
        rate
        for t_s, values in run.timeseries.get(result.trial.trial_id, ())
        if start + EDGE_S < t_s <= end + EDGE_S and (rate := values.get(result.trial.work.rate_column)) is not None
    ]


def counted_trials(run: StoredRun) -> dict[Key, list[tuple[TrialResult, float]]]:
    """With ln(rate) corrected for the run's drift."""
    observed = without_drift(observations(run.results, achieved))
    trials: dict[Key, list[tuple[TrialResult, float]]] = {}
    for result, one in zip(run.results, observed, strict=True):
        if one.role == "point" and not one.mark:
            key = one.level, label(result.trial.variant)
            trials.setdefault(key, []).append((result, math.log(one.value or 1.0)))
    return trials


def open_points(run: StoredRun) -> set[Key]:
    """Their rate is offered (`--rate`), which is no capacity."""
    return {(t.level, label(t.variant)) for t in run.plan.trials if t.role == "point" and t.load.rate}


def planned_points(run: StoredRun) -> set[Key]:
    return {(t.level, label(t.variant)) for t in run.plan.trials if t.role == "point"}


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
    """Holm's p-values, and the differences, of the points and, last, of several together."""
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
    mean, variance, degrees = (np.zeros((2, draws, len(points))) for _ in range(3))
    for at, point in enumerate(points):
        for side_at, spread in enumerate((point.seconds_a, point.seconds_b)):
            assert spread is not None
            one_second = math.sqrt(spread.variance * spread.effective)
            for draw, rates in enumerate(_windows(chance, draws, spread.seconds, spread.phi, one_second)):
                again = window_spread(rates)
                assert again is not None
                here = side_at, draw, at
                mean[here], variance[here], degrees[here] = math.log(rates.mean()), again.variance, again.degrees
    own = np.zeros((draws, len(points)), dtype=bool)
    return tested(mean[1] - mean[0], variance[0], variance[1], degrees[0], degrees[1], own)


def _windows(chance: np.random.Generator, draws: int, seconds: int, phi: float, spread: float) -> Floats:
    """Rates about 1, from an autoregression of order one."""
    noise = chance.normal(size=(draws, seconds))
    state = np.empty_like(noise)
    state[:, 0] = noise[:, 0]
    for second in range(1, seconds):
        state[:, second] = phi * state[:, second - 1] + math.sqrt(1 - phi**2) * noise[:, second]
    return np.exp(spread * state)
