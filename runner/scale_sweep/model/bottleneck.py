"""The kinds of bottlenecks, and the bottleneck of one trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class BottleneckKind(StrEnum):
    """The reason why the rate was not higher. docs/verdicts.md has the rules."""

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
    """The bottleneck over the window: its kind, the figures in a sentence, and what to change."""

    kind: BottleneckKind
    sentence: str
    remedy: str = ""
    # percent of the window's seconds in which each kind was the bottleneck, by the same rules for each second
    shares: Mapping[str, float] = field(default_factory=dict)
