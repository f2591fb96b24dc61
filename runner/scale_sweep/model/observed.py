"""An observation: one value at a point. It is the only input of fit, noise and compare, whatever was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["point", "drift_check", "ablation", "check", "profile", "confirm", "sentinel"]


@dataclass(frozen=True, kw_only=True)
class WindowNoise:
    """How the rate varied inside one window."""

    seconds: int  # their number
    # spread, rest: standard deviation of the seconds about their mean and about their trend, as shares of the mean
    spread: float
    rest: float
    correlation: float  # between neighbouring seconds, without the trend
    error: float | None = None  # the standard error of the mean with its correlation, as a share of the mean
    # the second half's mean less the first's, as a share of the mean. The last two are None for a window under ten
    # seconds
    halves: float | None = None


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One value at a level of the axis."""

    level: float
    value: float | None  # rows/s, requests/s, a capacity, ...; None: there is none
    subject: str = ""  # which of several at that level ("" for the only one)
    window: WindowNoise | None = None  # how the value varied while it was measured, if known
    order: int = 0  # its place in the run
    block: int = 0  # observations of one block were made one after the other
    mark: str = ""  # "" if it counts, else why it does not (a verdict, in its name)
    note: str = ""  # what a reader must know of one that counts (SOFTWARE_BOTTLENECK); "" if there is nothing
    # only points make the curve. An ablation trial has the knobs that the plan gives to knobs_of_level
    role: Role = "point"
    knobs_of_level: float | None = None

    @property
    def point(self) -> tuple[float, str]:
        """Its level and subject."""
        return self.level, self.subject
