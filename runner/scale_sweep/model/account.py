"""Where the missing part of a rate went: the parts of each level's efficiency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from scale_sweep.model.observed import Ratio

Origin = Literal["measured", "estimate", "rest"]


@dataclass(frozen=True, kw_only=True)
class LossPart:
    """Percent of the rate at an efficiency of 100 %, with 95 % (None: too few trials). Above 0: missing."""

    names: tuple[str, ...]  # several: correlated parts, known only as their sum
    percent: float
    low: float | None = None
    high: float | None = None
    of: str = ""  # the part that contains it; "": a main part
    origin: Origin = "measured"

    @property
    def key(self) -> str:
        """By which its parts name it; a sum has none."""
        return " and ".join(self.names)

    @property
    def may_be_none(self) -> bool:
        """Whether it has an interval, which holds 0."""
        return self.low is not None and self.high is not None and self.low <= 0 <= self.high


@dataclass(frozen=True, kw_only=True)
class LevelAccount:
    """Against the first level: `missing`, and its main parts, which add up to it."""

    level: float
    trials: int  # that count
    missing: LossPart
    parts: tuple[LossPart, ...] = ()
    per_unit: Mapping[str, float] = field(default_factory=dict)  # figures for each row or request
    ratios: Mapping[str, Ratio] = field(default_factory=dict)  # of these to the first level's

    def within(self, name: str) -> tuple[LossPart, ...]:
        return tuple(part for part in self.parts if part.of == name)


@dataclass(frozen=True, kw_only=True)
class Account:
    """reason: why there are no levels."""

    first: float | None = None
    levels: tuple[LevelAccount, ...] = ()
    sentence: str = ""
    reason: str = ""
    not_measured: tuple[str, ...] = ()  # parts and figures that these trials lack
