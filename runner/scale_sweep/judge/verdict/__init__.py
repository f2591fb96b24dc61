"""Is this number the server's, and what was the bottleneck?"""

from scale_sweep.judge.verdict.bottleneck import attribute, bottleneck_of, verdict_of
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import (
    Evidence,
    HostUse,
    Integrity,
    Lateness,
    LoadHalf,
    OfferedOperation,
    ResourceUse,
    TakenCpus,
    TrialResources,
)
from scale_sweep.judge.verdict.new_pages import new_pages_between
from scale_sweep.judge.verdict.occupied import Occupied, contradiction
from scale_sweep.judge.verdict.settling import (
    Transient,
    claimed,
    claimed_window,
    compared_seconds,
    is_level,
    is_steady,
    quick_window,
    quickly,
    seconds_to_claim,
    seconds_to_settle,
    transient,
)
from scale_sweep.judge.verdict.steady import (
    Modes,
    Steadiness,
    look_at,
    look_seconds,
    modes,
    stalled_percent,
    steadiness,
    troubles,
)
from scale_sweep.judge.verdict.thresholds import COMPARED_LEAST, LEVEL_PERCENT, STALLED_SHARE

__all__ = [
    "COMPARED_LEAST",
    "LEVEL_PERCENT",
    "STALLED_SHARE",
    "Evidence",
    "HostUse",
    "TrialResources",
    "Integrity",
    "Lateness",
    "TakenCpus",
    "LoadHalf",
    "OfferedOperation",
    "Modes",
    "Steadiness",
    "Transient",
    "ResourceUse",
    "Occupied",
    "attribute",
    "claimed",
    "claimed_window",
    "diagnose",
    "compared_seconds",
    "contradiction",
    "is_level",
    "is_steady",
    "bottleneck_of",
    "look_at",
    "look_seconds",
    "modes",
    "new_pages_between",
    "quick_window",
    "quickly",
    "seconds_to_claim",
    "seconds_to_settle",
    "stalled_percent",
    "steadiness",
    "transient",
    "troubles",
    "verdict_of",
]
