"""How certain the points are: intervals, the smallest visible difference, drift, ablations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class LevelInterval:
    """The 95 % interval of a point's rate. mean: geometric, because rates are compared as logarithms.

    half_percent: None if there are too few trials. variant: the slug of its second factors; "" without any. disagrees:
    the replicates of this point differ by more than their windows explain.
    """

    level: float
    variant: str
    n: int
    mean: float | None
    half_percent: float | None
    disagrees: bool = False


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
    """The drift of the rate over the run, by regression on the trials' order. ratio: the rate at the end over that at
    the beginning. smallest_percent: the drift that this run would have found four times in five. is_drifting: at 5 %,
    or bent; drift and bend are then removed from the points. bend_percent: by how much the rate at both ends of the run
    is above that in its middle, None if no bend was found. first_percent: by how much the first trial is above the
    others of its point, None if it does not differ from them. alike: the correlation between neighbouring trials, as
    far as the run shows it; the ratio's interval allows for it."""

    ratio: Ratio
    p_value: float
    degrees: int
    smallest_percent: float
    is_drifting: bool
    bend_percent: float | None = None
    first_percent: float | None = None
    alike: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Drift:
    """The run's first trial, repeated at its end: the later rate over the earlier one. The trials by their order in the
    run. trial_id, repeat_id: by name; "" if only observations are known."""

    first_order: int
    repeat_order: int
    ratio: Ratio
    are_valid: bool
    trial_id: str = ""
    repeat_id: str = ""


@dataclass(frozen=True, kw_only=True)
class AblationSplit:
    """The gain from one level to the next across a boundary where knobs moved: total = hardware x knobs.

    knobs: those that moved; "" if only observations are known.
    """

    before: float
    after: float
    variant: str
    total: Ratio
    hardware: Ratio
    by_knobs: Ratio
    knobs: str = ""


@dataclass(frozen=True, kw_only=True)
class LevelAgreement:
    """The replicates of a point against their windows. spread_percent: the standard deviation of the replicates.
    windows_percent: the standard deviation that the windows' own errors predict. disagrees: by the F test of the
    point alone."""

    level: float
    variant: str
    n: int
    spread_percent: float
    windows_percent: float
    p_value: float
    disagrees: bool


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The spread of all replicates against the errors of their windows, as in LevelAgreement. degrees: of the two.
    disagrees: by the F test over the points that do not disagree by themselves."""

    spread_percent: float
    windows_percent: float
    degrees: tuple[float, float]
    p_value: float
    disagrees: bool
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
    """One variance component. percent: the standard deviation that it alone gives to the rate of one trial."""

    name: PartName
    percent: float


@dataclass(frozen=True, kw_only=True)
class NoiseParts:
    """The variance components of a trial's rate, from the shortest time to the longest. trials: that were used.
    degrees: of freedom of the spread between trials. window_s: the mean length of their windows."""

    parts: tuple[NoisePart, ...]
    trials: int
    degrees: int
    window_s: float

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
