"""What is known of a sweep while it runs, built from the campaign's events and from nothing else.

One state for all who look on: the metrics, the view in the terminal and `scale watch`. Pure: events in, state out; the
moment that "time left" needs is handed in. Refuses to guess: what no event said is None.
"""

from runner.live.curve import LiveCurve, curves
from runner.live.progress import Progress, progress
from runner.live.rates import Rates, rates
from runner.live.state import POOLS_MAX, UNDER_LOAD, WATCHED, LiveState, Running, ceiling_of, take

__all__ = [
    "POOLS_MAX",
    "UNDER_LOAD",
    "WATCHED",
    "LiveCurve",
    "LiveState",
    "Progress",
    "Rates",
    "Running",
    "ceiling_of",
    "curves",
    "progress",
    "rates",
    "take",
]
