"""When is the window long enough? When it has its length and the rate has settled. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from runner.figures.facts import STEADY_PHASE
from runner.figures.settled import least_seconds
from runner.model import Interval, Load
from runner.verdict import seconds_to_settle

EDGE_S = 1.2  # the window ends with the interval after the one that decides


def window_is_enough(load: Load, intervals: Sequence[Interval], measure_start_ns: int | None) -> bool:
    """Whether a window that may grow has its asked length, or gets it with the running interval, and is steady: the
    whole of it, or its last stretch of that length where the rate had not settled before.

    Too few seconds to tell count as enough.
    """
    if load.window_max_s is None or load.duration_s is None or measure_start_ns is None:
        return False
    inside = [i for i in intervals if i.phase == STEADY_PHASE]
    if not inside or (inside[-1].monotonic_ns - measure_start_ns) / 1e9 < load.duration_s - EDGE_S:
        return False
    return seconds_to_settle([i.rows for i in inside], least_seconds(load)) is not None
