"""Kinds of verdicts and of bottlenecks, and a bottleneck's meaning on an axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class VerdictKind(StrEnum):
    """The worth of a trial's number."""

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
        """Whether the number is a point of the curve."""
        return self in (VerdictKind.VALID, VerdictKind.SOFTWARE_BOTTLENECK)


class BottleneckKind(StrEnum):
    """Why the rate was not higher; rules in docs/verdicts.md."""

    SERVER_CPU = "SERVER_CPU"
    QUOTA = "QUOTA"
    THROTTLING = "THROTTLING"
    GENERATOR_CEILING = "GENERATOR_CEILING"
    GENERATOR_CPU = "GENERATOR_CPU"
    GENERATOR_LATE = "GENERATOR_LATE"
    SHARED_CPU = "SHARED_CPU"
    OTHER_PROCESSES = "OTHER_PROCESSES"
    HYPERVISOR = "HYPERVISOR"
    CONNECTIONS = "CONNECTIONS"
    HOT_THREAD = "HOT_THREAD"
    DISK = "DISK"
    DISK_WAITS = "DISK_WAITS"
    UNEVEN_DISKS = "UNEVEN_DISKS"
    MEMORY = "MEMORY"
    MEMORY_BANDWIDTH = "MEMORY_BANDWIDTH"
    STALL = "STALL"
    LOCKS = "LOCKS"
    NETWORK = "NETWORK"
    OFFERED_RATE = "OFFERED_RATE"
    UNREAD = "UNREAD"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, kw_only=True)
class Bottleneck:
    kind: BottleneckKind
    sentence: str
    remedy: str = ""
    shares: Mapping[str, float] = field(default_factory=dict)  # percent of the window's seconds, by the same rules


class Standing(StrEnum):
    """SWEPT: the axis varies it. OWN: inside the server. EXTERNAL: neither, so the number is not the server's."""

    SWEPT = "swept"
    OWN = "own"
    EXTERNAL = "external"


@dataclass(frozen=True, kw_only=True)
class Stand:
    standing: Standing
    remedy: str = ""  # on this axis
    reason: str = ""  # begins the verdict's reason; "": the rule's own
