"""Is this number the server's, and who was the limit? Pure: figures in, a Verdict with its reasons out.

`judge` is the door; `rules` and `attribution` say who was the limit; `steady` whether the rate was.
"""

from runner.verdict.attribution import attribute
from runner.verdict.judge import Evidence, judge
from runner.verdict.steady import (
    STALLED_SHARE,
    Steadiness,
    is_steady,
    seconds_to_settle,
    stalled_percent,
    steadiness,
)
from runner.verdict.use import Given, Use

__all__ = [
    "STALLED_SHARE",
    "Evidence",
    "Given",
    "Steadiness",
    "Use",
    "attribute",
    "is_steady",
    "judge",
    "seconds_to_settle",
    "stalled_percent",
    "steadiness",
]
