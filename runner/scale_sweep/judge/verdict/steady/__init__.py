"""Was the rate steady, and is its mean the long-run one? Pure: from rates second by second to figures and reasons.

`figures` describes the rate, `rules` has the reasons against it, `looks` the times at which a growing window is
checked, `settle` and `warmup` what is discarded at its start, `modes` whether it jumps between two values. Refuses to
know a trial.
"""

from scale_sweep.judge.verdict.steady.figures import Steadiness, stalled_percent, steadiness
from scale_sweep.judge.verdict.steady.level import compared_seconds, is_level
from scale_sweep.judge.verdict.steady.looks import look_at, look_seconds
from scale_sweep.judge.verdict.steady.modes import Modes, modes
from scale_sweep.judge.verdict.steady.replay import claimed, quickly
from scale_sweep.judge.verdict.steady.rules import troubles
from scale_sweep.judge.verdict.steady.settle import is_steady, seconds_to_claim, seconds_to_settle
from scale_sweep.judge.verdict.steady.warmup import Transient, transient

__all__ = [
    "Modes",
    "Steadiness",
    "Transient",
    "claimed",
    "compared_seconds",
    "is_level",
    "is_steady",
    "look_at",
    "look_seconds",
    "modes",
    "quickly",
    "seconds_to_claim",
    "seconds_to_settle",
    "stalled_percent",
    "steadiness",
    "transient",
    "troubles",
]
