"""The kinds of a verdict: what a trial's number is worth. Data only."""

from __future__ import annotations

from enum import StrEnum


class VerdictKind(StrEnum):
    """The worth of a trial's number. VALID and SOFTWARE_BOTTLENECK are points of the curve; the others are kept and
    shown."""

    VALID = "VALID"
    SOFTWARE_BOTTLENECK = "SOFTWARE_BOTTLENECK"
    UNSTEADY = "UNSTEADY"
    GENERATOR_BOUND = "GENERATOR_BOUND"
    RESOURCE_NOT_SATURATED = "RESOURCE_NOT_SATURATED"
    OFFERED_NOT_MET = "OFFERED_NOT_MET"
    THROTTLED = "THROTTLED"
    ERRORS = "ERRORS"
    LOST_ROWS = "LOST_ROWS"
    WRONG_ROWS = "WRONG_ROWS"
    WRONG_ANSWER = "WRONG_ANSWER"
    ABORTED = "ABORTED"

    @property
    def is_fitted(self) -> bool:
        """Whether the number is the server's at its level, and so a point of the curve."""
        return self in (VerdictKind.VALID, VerdictKind.SOFTWARE_BOTTLENECK)
