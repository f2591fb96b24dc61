"""When is the window long enough? When it has its length and the rate is steady. Pure."""

from __future__ import annotations

from runner.model import Load
from runner.trial.facts import STEADY_PHASE, TrialFacts
from runner.verdict import is_steady

EDGE_S = 1.2  # the window ends with the interval after the one that decides


def window_is_enough(load: Load, facts: TrialFacts) -> bool:
    """Whether a window that may grow has its asked length, or gets it with the running interval, and is steady.

    Too few seconds to tell count as enough.
    """
    if load.window_max_s is None or load.duration_s is None or facts.measure_start_ns is None:
        return False
    inside = [i for i in facts.intervals if i.phase == STEADY_PHASE]
    if not inside or (inside[-1].monotonic_ns - facts.measure_start_ns) / 1e9 < load.duration_s - EDGE_S:
        return False
    return is_steady([i.rows for i in inside]) is not False
