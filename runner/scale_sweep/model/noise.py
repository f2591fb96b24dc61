"""How certain the points are: intervals, the smallest visible difference, drift, ablations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class LevelInterval:
    """The 95 % interval of a point's rate. mean: geometric, because rates are compared as logarithms.

    half_percent: None if there are too few trials. variant: the slug of its second factors; "" without any.
    """

    level: float
    variant: str
    n: int
    mean: float | None
    half_percent: float | None


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
    the beginning. smallest_percent: the drift that this run would have found four times in five. is_drifting: at
    5 %; such a drift is removed from the points."""

    ratio: Ratio
    p_value: float
    degrees: int
    smallest_percent: float
    is_drifting: bool


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
class NoiseReport:
    """noise_percent: the pooled relative spread of the replicates, the noise floor. smallest_difference_percent:
    between two levels, seen with 80 % power at 5 %, two-sided. conditions: what else moved along the axis, as
    sentences. trend: None if it cannot be estimated; then only the repeated trial (drift) is known."""

    levels: tuple[LevelInterval, ...]
    noise_percent: float | None
    smallest_difference_percent: float | None
    drift: Drift | None
    ablations: tuple[AblationSplit, ...]
    conditions: tuple[str, ...] = ()
    trend: Trend | None = None
