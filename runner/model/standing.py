"""What a bottleneck means along an axis. Data only; each axis says it for every kind (runner/axes/)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    """SWEPT: what the axis gives more of, so the number is the level's. OWN: the server's own, whatever it is given.
    EXTERNAL: neither, so the number is not the server's at this level."""

    SWEPT = "swept"
    OWN = "own"
    EXTERNAL = "external"


@dataclass(frozen=True, kw_only=True)
class Stand:
    """The standing of one kind of bottleneck; remedy: what moves it on this axis, reason: what opens the
    verdict's reason; "" for the rule's own words."""

    standing: Standing
    remedy: str = ""
    reason: str = ""
