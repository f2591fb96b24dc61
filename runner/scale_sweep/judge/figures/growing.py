"""Decides when a window may begin and end: it has its length, and the rate is level or has settled. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.judge.figures.facts import STEADY_PHASE
from scale_sweep.judge.figures.rated import RatedInterval
from scale_sweep.judge.figures.settled import least_seconds
from scale_sweep.judge.verdict import (
    is_level,
    look_at,
    look_seconds,
    seconds_to_claim,
    seconds_to_settle,
    steadiness,
    troubles,
)
from scale_sweep.model import Load

WARMUP_PHASE = "warmup"
EDGE_S = 1.2  # the window ends with the interval after the deciding one


def window_is_enough(load: Load, intervals: Sequence[RatedInterval], measure_start_ns: int | None) -> bool:
    """Whether a growing window has its requested length, or reaches it with the running interval, and is steady. Steady
    means the whole window, or its rest after a discarded transient.

    A short window is checked each second; one that carries the claim only at its looks. If there are too few seconds to
    decide, it counts as enough.
    """
    if load.window_max_s is None or load.duration_s is None or measure_start_ns is None:
        return False
    inside = [i for i in intervals if i.phase == STEADY_PHASE]
    if not inside or (inside[-1].monotonic_ns - measure_start_ns) / 1e9 < load.duration_s - EDGE_S:
        return False
    rates = [i.count for i in inside]
    if not (load.carries_claim and load.is_long(load.duration_s)):
        discarded = seconds_to_settle(rates, least_seconds(load))
        return discarded is not None and not troubles(steadiness(rates[discarded:]), claims=False)
    look = _new_look(load.duration_s, load.window_max_s, [(i.monotonic_ns - measure_start_ns) / 1e9 for i in inside])
    return look is not None and seconds_to_claim(rates, least_seconds(load), look) is not None


def warmup_is_enough(load: Load, intervals: Sequence[RatedInterval]) -> bool:
    """Whether the warm-up may end with the running interval: it is then long enough, and the rate is level. Only its
    own seconds are looked at, and the window never. False for a warm-up of a fixed length."""
    if load.warmup_least_s is None or not intervals or intervals[-1].t_s + EDGE_S < load.warmup_least_s:
        return False
    return is_level(warmup_rates(intervals))


def warmup_rates(intervals: Sequence[RatedInterval]) -> list[int]:
    """The rates of the warm-up, second by second."""
    return [i.count for i in intervals if i.phase == WARMUP_PHASE]


def _new_look(duration_s: float, window_max_s: float, ends_s: Sequence[float]) -> int | None:
    """The number of the look that the last interval reached, from 1; None between two looks. ends_s: the ends of the
    intervals in seconds since the window's start."""
    looks = look_seconds(duration_s, window_max_s)
    before = look_at(ends_s[-2] + EDGE_S, looks) if len(ends_s) > 1 else None
    now = look_at(ends_s[-1] + EDGE_S, looks)
    return now if now != before else None
