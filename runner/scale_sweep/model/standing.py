"""The meaning of a bottleneck along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    """SWEPT: the axis varies it, so the number counts for the level. OWN: inside the server, whatever its resources.
    EXTERNAL: neither, so the number is not the server's at this level."""

    SWEPT = "swept"
    OWN = "own"
    EXTERNAL = "external"


@dataclass(frozen=True, kw_only=True)
class Stand:
    """The standing of one kind of bottleneck."""

    standing: Standing
    remedy: str = ""  # what to change on this axis
    reason: str = ""  # the start of the verdict's reason. "" means the rule's own text
