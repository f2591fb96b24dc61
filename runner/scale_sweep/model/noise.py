"""How certain the points are: intervals, the smallest visible difference, drift, ablations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class LevelInterval:
    """The 95 % interval of a point's rate."""

    level: float
    variant: str  # the slug of its second factors; "" without any
    n: int
    mean: float | None  # geometric, because rates are compared as logarithms
    half_percent: float | None  # None if there are too few trials
    disagrees: bool = False  # the replicates of this point differ by more than their windows explain


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A ratio of two mean rates with its 95 % interval (None: too few trials)."""

    value: float
    low: float | None
    high: float | None

    @property
    def differs_from_one(self) -> bool:
        """Whether 1 is outside the interval."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


@dataclass(frozen=True, kw_only=True)
class Trend:
    """The drift of the rate over the run, by regression on the trials' order."""

    ratio: Ratio  # the rate at the end over that at the beginning
    p_value: float
    degrees: int
    smallest_percent: float  # the drift that this run would have found four times in five
    is_drifting: bool  # at 5 %, or bent; drift and bend are then removed from the points
    # by how much the rate at both ends of the run is above that in its middle, None if no bend was found
    bend_percent: float | None = None
    # by how much the first trial is above the others of its point, None if it does not differ from them
    first_percent: float | None = None
    # the correlation between neighbouring trials, as far as the run shows it; the ratio's interval allows for it
    alike: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Drift:
    """The run's first trial, repeated at its end: the later rate over the earlier one. The trials by their order in the
    run."""

    first_order: int
    repeat_order: int
    ratio: Ratio
    are_valid: bool
    # trial_id, repeat_id: by name; "" if only observations are known
    trial_id: str = ""
    repeat_id: str = ""


@dataclass(frozen=True, kw_only=True)
class AblationSplit:
    """The gain from one level to the next across a boundary where knobs moved: total = hardware x knobs."""

    before: float
    after: float
    variant: str
    total: Ratio
    hardware: Ratio
    by_knobs: Ratio
    knobs: str = ""  # those that moved; "" if only observations are known


@dataclass(frozen=True, kw_only=True)
class LevelAgreement:
    """The replicates of a point against their windows."""

    level: float
    variant: str
    n: int
    spread_percent: float  # the standard deviation of the replicates
    windows_percent: float  # the standard deviation that the windows' own errors predict
    p_value: float
    disagrees: bool  # by the F test of the point alone


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The spread of all replicates against the errors of their windows, as in LevelAgreement."""

    spread_percent: float
    windows_percent: float
    degrees: tuple[float, float]  # of the two
    p_value: float
    disagrees: bool  # by the F test over the points that do not disagree by themselves
    levels: tuple[LevelAgreement, ...]

    @property
    def apart(self) -> tuple[LevelAgreement, ...]:
        """The points whose replicates disagree by themselves."""
        return tuple(level for level in self.levels if level.disagrees)

    def disagrees_at(self, level: float, variant: str = "") -> bool:
        """Whether the replicates of a point disagree, by themselves or with those of all points."""
        here = [one for one in self.levels if (one.level, one.variant) == (level, variant)]
        return bool(here) and (self.disagrees or here[0].disagrees)


PartName = Literal["seconds", "window", "start", "start or block", "block", "session"]


@dataclass(frozen=True, kw_only=True)
class NoisePart:
    """One variance component."""

    name: PartName
    percent: float  # the standard deviation that it alone gives to the rate of one trial


@dataclass(frozen=True, kw_only=True)
class NoiseParts:
    """The variance components of a trial's rate, from the shortest time to the longest."""

    parts: tuple[NoisePart, ...]
    trials: int  # that were used
    degrees: int  # of freedom of the spread between trials
    window_s: float  # the mean length of their windows

    @property
    def percent(self) -> float:
        """The standard deviation of all parts together."""
        return math.sqrt(sum(part.percent**2 for part in self.parts))

    def share(self, part: NoisePart) -> float:
        """The part's share of the variance, 0..1."""
        return part.percent**2 / self.percent**2 if self.percent else 0.0

    @property
    def largest(self) -> NoisePart | None:
        """The largest part; None without any noise."""
        return max(self.parts, key=lambda part: part.percent) if self.percent else None


@dataclass(frozen=True, kw_only=True)
class NoiseReport:
    """noise_percent: the pooled relative spread of the replicates (standard deviation). smallest_difference_percent:
    between two levels, seen with 80 % power at 5 %, two-sided. conditions: what else moved along the axis, as
    sentences. later: by level with a sentinel, its later rate over that of the level. trend: None if it cannot be
    estimated; then only the repeated trial (drift) is known. agreement, parts: None if too few replicates or windows
    are known."""

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
