"""The state of a running sweep, made from the campaign's events alone."""

from scale_sweep.watch.live.state import (
    POOLS_MAX,
    UNDER_LOAD,
    WATCHED,
    LiveState,
    Running,
    RunningUse,
    ceiling_of,
    rates,
    take,
)
from scale_sweep.watch.live.time_left import LiveCurve, Progress, curves, progress

__all__ = [
    "POOLS_MAX",
    "UNDER_LOAD",
    "WATCHED",
    "LiveCurve",
    "LiveState",
    "Progress",
    "RunningUse",
    "Running",
    "ceiling_of",
    "curves",
    "progress",
    "rates",
    "take",
]
