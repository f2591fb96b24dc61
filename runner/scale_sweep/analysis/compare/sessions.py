"""Compares several runs a side. Sessions differ (a restart, neighbours, another day), and their spread is measured.

The sessions' means at each point are compared, so each session counts once, however many trials it has. At a point the
test is Student's t on the sessions' means, or Welch's if A and B are not equally noisy (ratios.py). For all points
together it is the same test on each session's mean over the points. A session changes all of its points at once, so the
tests of the points are dependent. The p-values are therefore adjusted by the smallest p-value of pairs without a
difference (Westfall and Young 1993, single step), drawn with the share of the spread that sessions have in these runs.
Holm's adjustment would be correct too, with less power. Refuses a point that a session lacks, and one session a side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scale_sweep.analysis.compare.manifests import differing
from scale_sweep.analysis.compare.pairs import (
    CountedTrial,
    Key,
    PointLogs,
    Unpaired,
    check_comparable,
    counted_trials,
    open_points,
    planned_points,
)
from scale_sweep.analysis.compare.ratios import Floats, Side, Tested, Variance, sides_equal, welch
from scale_sweep.analysis.compare.runs import Sides, TestedRatios, assembled, overall_row, plain, with_quick_cautions
from scale_sweep.analysis.compare.words import name_of
from scale_sweep.base.errors import UsageError
from scale_sweep.model import StoredRun
from scale_sweep.model.compared import Comparison

DRAWS = 4000
SEED = 20260811
SHARE_STEP = 0.05


@dataclass(frozen=True, kw_only=True)
class Sessions:
    """ln(rate), one row for each session and one column for each point."""

    points: tuple[PointLogs, ...]
    a: Floats
    b: Floats


def session_points(a: Sequence[StoredRun], b: Sequence[StoredRun]) -> tuple[Sessions, list[Unpaired]]:
    """Points that every session has, and points that a session lacks. The PointLogs hold the sessions' means."""
    counted = [[counted_trials(run) for run in side] for side in (a, b)]
    planned = [set().union(*(planned_points(run) for run in side)) for side in (a, b)]
    paired, missing = [], []
    for key in sorted(planned[0] | planned[1]):
        lacking = [sum(not of.get(key) for of in side) for side in counted]
        means = [[_mean(of, key) for of in side if of.get(key)] for side in counted]
        if not any(lacking):
            paired.append(PointLogs(level=key[0], variant=key[1], a=tuple(means[0]), b=tuple(means[1])))
            continue
        is_open = [any(key in open_points(run) for run in side) for side in (a, b)]
        why = "; ".join(
            f"{'open loop' if o else 'no VALID trial'} in {n} of {len(side)} sessions of {name}"
            for n, side, name, o in zip(lacking, counted, "AB", is_open, strict=True)
            if n
        )
        trials = [sum(len(of.get(key, ())) for of in side) for side in counted]
        lost = not lacking[0] and lacking[1] > 0 and key in planned[1] and not is_open[1]
        missing.append(
            Unpaired(
                level=key[0],
                variant=key[1],
                trials_a=trials[0],
                trials_b=trials[1],
                why=why,
                lost=lost,
                open_loop=any(is_open),
            )
        )
    sides = [np.array([getattr(p, name) for p in paired], dtype=float).T for name in ("a", "b")]
    return Sessions(points=tuple(paired), a=sides[0], b=sides[1]), missing


def _mean(of: Mapping[Key, Sequence[CountedTrial]], key: Key) -> float:
    return sum(counted.log for counted in of[key]) / len(of[key])


def tested_sessions(a: Floats, b: Floats) -> Tested:
    """The tests of each point and, if there are several, of all together (last). The sessions are the last axis but
    one."""
    if a.shape[-1] > 1:
        a = np.concatenate([a, a.mean(axis=-1, keepdims=True)], axis=-1)
        b = np.concatenate([b, b.mean(axis=-1, keepdims=True)], axis=-1)
    side_a, side_b = _side(a), _side(b)
    degrees = side_a.degrees + side_b.degrees
    single = np.minimum(side_a.n, side_b.n) < 2
    equal = np.stack([_equal(side_a, side_b, at) for at in range(a.shape[-1])], axis=-1) | single
    both = (side_a.squares + side_b.squares) / np.maximum(degrees, 1)
    parts = [
        Variance(
            value=np.where(equal, both, one.squares / np.maximum(one.degrees, 1)),
            degrees=np.where(equal, degrees, one.degrees),
            own=np.zeros_like(equal),
            joint=equal,
        )
        for one in (side_a, side_b)
    ]
    return welch(side_a, side_b, *parts)


def _side(logs: Floats) -> Side:
    mean = logs.mean(axis=-2)
    squares = ((logs - mean[..., None, :]) ** 2).sum(axis=-2)
    return Side(n=np.full_like(mean, logs.shape[-2]), mean=mean, squares=squares)


def _equal(a: Side, b: Side, at: int) -> NDArray[np.bool_]:
    pick = (..., slice(at, at + 1))
    return sides_equal(a.squares[pick], a.degrees[pick], b.squares[pick], b.degrees[pick])[..., 0]


def session_share(a: Floats, b: Floats) -> float:
    """The part of a point's spread between sessions that all points of a session have in common, from 0 to 1."""
    sessions, points = a.shape[0] + b.shape[0], a.shape[1]
    left = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)])
    whole = left.mean(axis=1)
    degrees = sessions - 2
    between = points * float(np.sum(whole**2)) / degrees
    within = float(np.sum((left - whole[:, None]) ** 2)) / (degrees * (points - 1))
    common = max(between - within, 0.0) / points
    return common / (common + within) if common + within > 0 else 0.0


def adjusted(tested: Tested, sessions: Sessions) -> Floats:
    """The adjusted p-values of all tests."""
    p_values = tested.p_value
    if len(p_values) < 2:
        return p_values
    share = session_share(sessions.a, sessions.b)
    least = _least(len(sessions.a), len(sessions.b), sessions.a.shape[1], round(share / SHARE_STEP))
    beyond = np.searchsorted(least, p_values, side="right")
    return np.maximum((beyond + 1) / (DRAWS + 1), p_values)


@lru_cache(maxsize=256)
def _least(sessions_a: int, sessions_b: int, points: int, steps: int) -> Floats:
    """The smallest p-value of each drawn pair without a difference, ascending. steps: the share, in units of
    SHARE_STEP."""
    chance, share = np.random.default_rng(SEED), min(steps * SHARE_STEP, 1.0)
    drawn = [
        math.sqrt(share) * chance.normal(size=(DRAWS, count, 1))
        + math.sqrt(1 - share) * chance.normal(size=(DRAWS, count, points))
        for count in (sessions_a, sessions_b)
    ]
    return np.sort(tested_sessions(*drawn).p_value.min(axis=-1))


def session_percent(sessions: Sessions) -> float:
    """How far apart the sessions are: the standard deviation of their mean rates, pooled over A and B, in percent."""
    sides = [one.mean(axis=1) for one in (sessions.a, sessions.b)]
    squares = sum(float(np.sum((s - s.mean()) ** 2)) for s in sides)
    degrees = sum(len(s) - 1 for s in sides)
    return 100 * math.sqrt(squares / degrees)


def compare_sessions(a: Sequence[StoredRun], b: Sequence[StoredRun], allowed: float | None = None) -> Comparison:
    """Compares the runs of B with those of A. Raises UsageError for fewer than three runs, or runs that are not of one
    kind."""
    runs = [*a, *b]
    if len(runs) < 3:
        raise UsageError("several runs a side: at least three in all are needed", remedy="give A1,A2,... B1,B2,...")
    check_comparable(runs)
    names = [run.path for run in runs]
    if len(set(names)) < len(names):
        raise UsageError("a run is given twice", remedy="name each run once, on one side")
    sessions, missing = session_points(a, b)
    ratios = TestedRatios(
        points=tuple(plain(p) for p in sessions.points), overall=overall_row(sessions.points), unpaired=tuple(missing)
    )
    if sessions.points:
        tested = tested_sessions(sessions.a, sessions.b)
        whole = _at(tested, slice(-1, None)) if len(sessions.points) > 1 else None
        ratios = ratios.with_tests(tested, whole, adjusted(tested, sessions), "sessions")
    sides = Sides(
        name_a=", ".join(map(name_of, a)),
        name_b=", ".join(map(name_of, b)),
        sweep=a[0].plan.sweep,
        differing=differing(a[0], b[0]),
        allowed=allowed,
        sessions=(len(a), len(b)),
        session_percent=session_percent(sessions) if sessions.points else None,
        not_judged_because="" if sessions.points else "no point has VALID trials in every run",
    )
    comparison = assembled(sides, ratios)
    return with_quick_cautions(comparison, [r for run in a for r in run.results], [r for run in b for r in run.results])


def _at(tested: Tested, where: slice) -> Tested:
    names = ("difference", "error", "degrees", "p_value", "own")
    return Tested(**{name: getattr(tested, name)[where] for name in names})
