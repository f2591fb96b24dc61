"""Compares several runs a side, in the order in which they ran. At a point the test is always Welch's: few sessions
cannot show that A and B are equally noisy. The p-values are therefore adjusted by the smallest p-value of pairs without
a difference (Westfall and Young 1993, single step), drawn with the share of the spread that sessions have in these
runs, for equal noise and for A or B being four times as noisy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np
from scipy.special import fdtri

from scale_sweep.analysis.compare.manifests import differing
from scale_sweep.analysis.compare.pairs import (
    PointLogs,
    Unpaired,
    check_comparable,
    counted_trials,
    disturbed_sessions,
    open_points,
    planned_points,
)
from scale_sweep.analysis.compare.ratios import Floats, Tested, side, tested
from scale_sweep.analysis.compare.runs import TestedRatios, assembled, overall_row, plain, with_quick_cautions
from scale_sweep.analysis.compare.words import Sides, name_of, repeats_of_sessions, untested
from scale_sweep.analysis.noise.parts import parts_of, parts_sentence
from scale_sweep.analysis.observations import achieved, observations
from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import counted as number_of
from scale_sweep.model.compared import Comparison, Gate
from scale_sweep.model.fitted import StoredRun

DRAWS = 4000
SEED = 20260811
SHARE_STEP = 0.05
# Chosen by bench/method_gates.py: false alarms stay near 5 %, whatever the numbers of sessions and their noise.
RATIO_LEVEL = 0.5
NOISES = ((1.0, 1.0), (4.0, 1.0), (1.0, 4.0))


@dataclass(frozen=True, kw_only=True)
class Sessions:
    """ln(rate): (sessions, points)."""

    points: tuple[PointLogs, ...]
    a: Floats
    b: Floats


def session_points(a: Sequence[StoredRun], b: Sequence[StoredRun]) -> tuple[Sessions, list[Unpaired]]:
    """Those that every session has, with the sessions' means, and those that one lacks."""
    counted = [[counted_trials(run) for run in side] for side in (a, b)]
    planned = [set().union(*(planned_points(run) for run in side)) for side in (a, b)]
    paired, missing = [], []
    for key in sorted(planned[0] | planned[1]):
        lacking = [sum(not of.get(key) for of in side) for side in counted]
        means = [[sum(log for _, log in of[key]) / len(of[key]) for of in side if of.get(key)] for side in counted]
        if not any(lacking):
            paired.append(PointLogs(level=key[0], variant=key[1], a=tuple(means[0]), b=tuple(means[1])))
            continue
        is_open = [any(key in open_points(run) for run in side) for side in (a, b)]
        why = "; ".join(
            f"{'open loop' if o else 'no VALID trial'} in {n} of {number_of(len(side), 'session')} of {name}"
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
                is_planned=key in planned[0] and key in planned[1],
                is_disturbed=disturbed_sessions(b, key),
            )
        )
    sides = [np.array([getattr(p, name) for p in paired], dtype=float).T for name in ("a", "b")]
    return Sessions(points=tuple(paired), a=sides[0], b=sides[1]), missing


def tested_sessions(a: Floats, b: Floats) -> Tested:
    """Each point and, last, several together. The sessions are the last axis but one."""
    if a.shape[-1] > 1:
        a = np.concatenate([a, a.mean(axis=-1, keepdims=True)], axis=-1)
        b = np.concatenate([b, b.mean(axis=-1, keepdims=True)], axis=-1)
    one, other = side(a, axis=-2), side(b, axis=-2)
    free = one.degrees + other.degrees
    both = (one.squares + other.squares) / np.maximum(free, 1)
    single = np.minimum(one.n, other.n) < 2
    part_a, part_b = (
        np.where(single, both, each.squares / np.maximum(each.degrees, 1)) / each.n for each in (one, other)
    )
    degrees = free if single.all() else careful_degrees(part_a, part_b, one.degrees, other.degrees)
    return tested(other.mean - one.mean, part_a, part_b, degrees, degrees, np.zeros_like(single), True)


def careful_degrees(part_a: Floats, part_b: Floats, degrees_a: Floats, degrees_b: Floats) -> Floats:
    """Satterthwaite's degrees at the worst ratio of the variances within its interval (RATIO_LEVEL): at the estimate
    they are too many just where the error is too small. The formula rises and falls, so its least value is at an
    end."""
    ends: list[Floats] = []
    for probability in ((1 - RATIO_LEVEL) / 2, (1 + RATIO_LEVEL) / 2):
        scaled = fdtri(degrees_a, degrees_b, probability) * part_b
        total = part_a + scaled
        share = np.where(total > 0, part_a / np.where(total > 0, total, 1.0), 0.5)
        ends.append(1 / (share**2 / degrees_a + (1 - share) ** 2 / degrees_b))
    return np.minimum(ends[0], ends[1])


def session_share(a: Floats, b: Floats) -> float:
    """The share of a point's spread that all points of a session have in common."""
    sessions, points = a.shape[0] + b.shape[0], a.shape[1]
    left = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)])
    whole = left.mean(axis=1)
    degrees = sessions - 2
    between = points * float(np.sum(whole**2)) / degrees
    within = float(np.sum((left - whole[:, None]) ** 2)) / (degrees * (points - 1))
    common = max(between - within, 0.0) / points
    return common / (common + within) if common + within > 0 else 0.0


def adjusted(tested: Tested, sessions: Sessions) -> Floats:
    p_values = tested.p_value
    if len(p_values) < 2:
        return p_values
    steps, count = round(session_share(sessions.a, sessions.b) / SHARE_STEP), sessions.a.shape[1]
    least = [_least(len(sessions.a), len(sessions.b), count, steps, noise) for noise in NOISES]
    beyond = np.max([np.searchsorted(one, p_values, side="right") for one in least], axis=0)
    return np.asarray(np.maximum((beyond + 1) / (DRAWS + 1), p_values))


@lru_cache(maxsize=256)
def _least(sessions_a: int, sessions_b: int, points: int, steps: int, noise: tuple[float, float]) -> Floats:
    """The smallest p-value of each drawn pair without a difference, ascending. noise: of A and of B."""
    chance, share = np.random.default_rng(SEED), min(steps * SHARE_STEP, 1.0)
    drawn = [
        times * math.sqrt(share) * chance.normal(size=(DRAWS, count, 1))
        + math.sqrt(1 - share) * chance.normal(size=(DRAWS, count, points))
        for count, times in zip((sessions_a, sessions_b), noise, strict=True)
    ]
    return np.sort(tested_sessions(*drawn).p_value.min(axis=-1))


def session_percent(sessions: Sessions) -> float:
    sides = [one.mean(axis=1) for one in (sessions.a, sessions.b)]
    squares = sum(float(np.sum((s - s.mean()) ** 2)) for s in sides)
    degrees = sum(len(s) - 1 for s in sides)
    return 100 * math.sqrt(squares / degrees)


NO_POINT = "no point has VALID trials in every run"


def compare_sessions(
    a: Sequence[StoredRun], b: Sequence[StoredRun], gate: Gate | None = None, *, any_order: bool = False
) -> Comparison:
    """any_order: test also if the order makes a drift look like a difference. UsageError for runs that cannot be
    compared."""
    runs = [*a, *b]
    if len(runs) < 3:
        raise UsageError("several runs a side: at least three in all are needed", remedy="give A1,A2,... B1,B2,...")
    check_comparable(runs)
    if len({run.path for run in runs}) < len(runs):
        raise UsageError("a run is given twice", remedy="name each run once, on one side")
    sessions, missing = session_points(a, b)
    order = order_of(a, b)
    doubt = doubt_about(order)
    ratios = TestedRatios(
        points=tuple(plain(p) for p in sessions.points), overall=overall_row(sessions.points), unpaired=tuple(missing)
    )
    if sessions.points and (any_order or not doubt):
        tested = tested_sessions(sessions.a, sessions.b)
        last = {name: values[-1:] for name, values in vars(tested).items()}
        whole = Tested(**last) if len(sessions.points) > 1 else None
        ratios = ratios.with_tests(tested, whole, adjusted(tested, sessions), "sessions")
    sides = Sides(
        name_a=", ".join(map(name_of, a)),
        name_b=", ".join(map(name_of, b)),
        sweep=a[0].plan.sweep,
        differing=differing(a[0], b[0]),
        gate=gate,
        sessions=(len(a), len(b)),
        session_percent=session_percent(sessions) if sessions.points else None,
        order=order,
        repeats=repeats_of_sessions(len(a), len(b)),
        not_judged_because=("" if any_order else doubt) if sessions.points else NO_POINT,
    )
    comparison = assembled(sides, ratios)
    cautions = list(comparison.cautions)
    if ratios.points and doubt and not any_order:
        comparison = replace(comparison, sentence=untested(ratios.points, comparison.axis, doubt))
    elif ratios.points and (caution := doubt if order else UNKNOWN):
        cautions.append(caution)
    comparison = replace(comparison, cautions=(*cautions, *_largest_part(a, b)))
    return with_quick_cautions(comparison, [r for run in a for r in run.results], [r for run in b for r in run.results])


def _largest_part(a: Sequence[StoredRun], b: Sequence[StoredRun]) -> tuple[str, ...]:
    """A and B have levels of their own: their difference is no noise."""
    sessions = [
        [replace(one, subject=f"{side} {one.subject}") for one in observations(run.results, achieved)]
        for side, runs in (("A", a), ("B", b))
        for run in runs
    ]
    return parts_sentence(parts_of(sessions))


SHARE_MAX = 0.5  # by bench/method_gates.py: false alarms stay below 5 % on a machine that drifts by 1 % a session
UNKNOWN = "the order of the sessions is not known: a change of the machine over time may be part of the difference"


def order_of(a: Sequence[StoredRun], b: Sequence[StoredRun]) -> str:
    """The sessions by their start, like "ABBA"; "" if unknown."""
    starts = [(start_of(run), name) for name, runs in (("A", a), ("B", b)) for run in runs]
    known = sorted((start, name) for start, name in starts if start is not None)
    if len({start for start, _ in known}) < len(starts):
        return ""
    return "".join(name for _, name in known)


def start_of(run: StoredRun) -> datetime | None:
    try:
        start = datetime.fromisoformat(str(run.manifest.get("created_utc") or ""))
    except ValueError:
        return None
    return start if start.tzinfo is not None else start.replace(tzinfo=UTC)


def share_of_drift(order: str) -> float:
    """The distance of the mean places of A and B, as a share of the largest one: "ABBA" 0, "ABAB" 0.5, "AABB" 1."""
    places = {name: [at for at, one in enumerate(order) if one == name] for name in "AB"}
    if not places["A"] or not places["B"]:
        return 0.0
    mean_a, mean_b = (sum(places[name]) / len(places[name]) for name in "AB")
    return abs(mean_b - mean_a) / (len(order) / 2)


def doubt_about(order: str) -> str:
    """Why sessions in this order cannot be judged; "" if they can."""
    if share_of_drift(order) <= SHARE_MAX:
        return ""
    return (
        f"the sessions ran in the order {' '.join(order)}: a change of the machine over time looks like a difference "
        "of A and B"
    )
