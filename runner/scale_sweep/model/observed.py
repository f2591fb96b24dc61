"""Observations, the only input of fit, noise and compare; and how certain they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Role = Literal["point", "drift_check", "ablation", "check", "profile", "proof", "confirm", "sentinel"]


@dataclass(frozen=True, kw_only=True)
class WindowNoise:
    seconds: int
    spread: float  # spread, rest: of the seconds about their mean and trend, as shares of the mean
    rest: float
    correlation: float  # between neighbouring seconds
    error: float | None = None  # of the mean, a share of it; None under ten seconds
    halves: float | None = None  # second less first, a share of the mean


@dataclass(frozen=True, kw_only=True)
class Observation:
    level: float
    value: float | None  # rows/s, requests/s, a capacity; None: there is none
    subject: str = ""  # which of several at that level
    window: WindowNoise | None = None
    order: int = 0  # in the run
    block: int = 0  # made one after the other
    mark: str = ""  # why it does not count; "": it counts
    note: str = ""  # what a reader must know of one that counts
    role: Role = "point"  # only points make the curve
    knobs_of_level: float | None = None

    @property
    def point(self) -> tuple[float, str]:
        return self.level, self.subject


@dataclass(frozen=True, kw_only=True)
class LevelInterval:
    """95 %, of a point's rate."""

    level: float
    variant: str  # of its second factors
    n: int
    mean: float | None  # geometric
    half_percent: float | None  # None: too few trials
    disagrees: bool = False  # by more than their windows explain


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """Mean rates' ratio with 95 % (None: too few trials)."""

    value: float
    low: float | None
    high: float | None

    @property
    def differs_from_one(self) -> bool:
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


@dataclass(frozen=True, kw_only=True)
class Trend:
    """Drift over the run, by regression on the trials' order."""

    ratio: Ratio  # at the end over that at the beginning
    p_value: float
    degrees: int
    smallest_percent: float  # found four times in five
    is_drifting: bool  # at 5 %, or bent; both are removed from the points
    bend_percent: float | None = None  # of both ends above the middle
    first_percent: float | None = None  # of the first trial above the others of its point
    alike: float = 0.0  # correlation of neighbouring trials, which the ratio's interval allows for


@dataclass(frozen=True, kw_only=True)
class Drift:
    """The run's first trial, repeated at its end: the later rate over the earlier."""

    first_order: int
    repeat_order: int
    ratio: Ratio
    are_valid: bool
    trial_id: str = ""
    repeat_id: str = ""


@dataclass(frozen=True, kw_only=True)
class AblationSplit:
    """The gain across a boundary where knobs moved: total = hardware x knobs."""

    before: float
    after: float
    variant: str
    total: Ratio
    hardware: Ratio
    by_knobs: Ratio
    knobs: str = ""


@dataclass(frozen=True, kw_only=True)
class LevelAgreement:
    """Replicates of a point against their windows, as standard deviations."""

    level: float
    variant: str
    n: int
    spread_percent: float
    windows_percent: float  # by the windows' own errors
    p_value: float
    disagrees: bool  # by the F test of the point alone


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """All replicates, as in LevelAgreement."""

    spread_percent: float
    windows_percent: float
    degrees: tuple[float, float]
    p_value: float
    disagrees: bool  # without the points that disagree by themselves
    levels: tuple[LevelAgreement, ...]

    @property
    def apart(self) -> tuple[LevelAgreement, ...]:
        return tuple(level for level in self.levels if level.disagrees)

    def disagrees_at(self, level: float, variant: str = "") -> bool:
        here = [one for one in self.levels if (one.level, one.variant) == (level, variant)]
        return bool(here) and (self.disagrees or here[0].disagrees)


PartName = Literal["seconds", "window", "start", "start or block", "block", "session"]


@dataclass(frozen=True, kw_only=True)
class NoisePart:
    name: PartName
    percent: float  # of the rate of one trial, a standard deviation


@dataclass(frozen=True, kw_only=True)
class NoiseParts:
    """From the shortest time to the longest."""

    parts: tuple[NoisePart, ...]
    trials: int
    degrees: int  # of freedom
    window_s: float  # their mean

    @property
    def percent(self) -> float:
        return math.sqrt(sum(part.percent**2 for part in self.parts))

    def share(self, part: NoisePart) -> float:
        """A share of the variance, 0..1."""
        return part.percent**2 / self.percent**2 if self.percent else 0.0

    @property
    def largest(self) -> NoisePart | None:
        return max(self.parts, key=lambda part: part.percent) if self.percent else None


@dataclass(frozen=True, kw_only=True)
class NoiseReport:
    """noise_percent: the pooled spread of the replicates. smallest_difference_percent: of two levels, with 80 % power
    at 5 %. later: the sentinel's rate over that of the level. trend None: only `drift` is known."""

    levels: tuple[LevelInterval, ...]
    noise_percent: float | None
    smallest_difference_percent: float | None
    drift: Drift | None
    ablations: tuple[AblationSplit, ...]
    conditions: tuple[str, ...] = ()
    later: tuple[tuple[float, Ratio], ...] = ()
    trend: Trend | None = None
    agreement: Agreement | None = None
    parts: NoiseParts | None = None
