"""The fitted curve, and a complete stored run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from scale_sweep.model.account import Account
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.observed import NoiseParts
from scale_sweep.model.planned import Plan
from scale_sweep.model.proof import Disturbance, LevelProof

REACH = 2.0  # predictions go up to this times the last level, and down to the first level divided by it
_WIDE = 0.5  # of the rate
Shape = Literal["linear", "contended", "retrograde", "falls", "knee", "break", "superlinear", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """With its 95 % interval (None: these points do not determine it)."""

    value: float
    std_err: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class ModelFit:
    """By least squares on the rate of the VALID trials; formulas in scale_sweep/analysis/fit/models.py."""

    model: Literal["linear", "affine", "amdahl", "usl", "knee", "power", "linear_break", "amdahl_break"]
    parameters: Mapping[str, Estimate]
    rss: float  # rss, rse: the sum of squared residuals, their standard error
    aicc: float | None
    band: tuple[tuple[float, float, float], ...] = ()  # (level, low, high), 95 %
    on_bound: tuple[str, ...] = ()  # parameters at the end of their range; they have no error
    trials: int = 0
    rse: float | None = None
    holdout_error: float | None = None  # relative, at the last level, fitted without it
    unit_level: float = 1.0  # of Amdahl and the USL: 1, or a smallest level below 1


@dataclass(frozen=True, kw_only=True)
class PointSummary:
    """All VALID trials of one level."""

    level: float
    n: int
    rate_mean: float
    rate_std: float | None  # a standard deviation
    speedup: float | None
    efficiency: float | None
    mean_low: float | None = None  # mean_low, mean_high: 95 %; None without replicates
    mean_high: float | None = None
    speedup_std_err: float | None = None  # None without replicates
    speedup_low: float | None = None  # speedup_low, speedup_high: 95 %
    speedup_high: float | None = None
    speedup_degrees: int | None = None
    speedup_blocks: int = 0  # 0: it is the ratio of the means
    pairs: tuple[float, ...] = ()  # of short windows: the ratios of the blocks to the first level, ascending


@dataclass(frozen=True, kw_only=True)
class AnotherDay:
    """Range of the last level's speedup."""

    low: float
    high: float
    repetitions: int


def is_off_linear(points: tuple[PointSummary, ...]) -> bool:
    """Whether linear scaling is outside the interval of two levels' speedup (two decimals)."""
    if len(points) != 2:
        return False
    first, last = points
    if last.speedup_low is None or last.speedup_high is None:
        return False
    return not round(last.speedup_low, 2) <= round(last.level / first.level, 2) <= round(last.speedup_high, 2)


@dataclass(frozen=True, kw_only=True)
class CpuPoint:
    """Geometric mean of a level's rates for each CPU-second, and the speedup (95 %)."""

    level: float
    n: int
    rate_per_cpu_s: float
    speedup: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """With 95 % for the curve, or the reason why there is none."""

    level: float
    rate: float | None
    low: float | None  # low, high: the hull over by_model
    high: float | None
    extrapolated: bool
    reason: str = ""  # beside a rate: what was measured there and rejected
    others: Mapping[str, float] = field(default_factory=dict)
    by_model: Mapping[str, Estimate] = field(default_factory=dict)
    halved_by: float | None = None  # a level whose measurement would about halve a wide interval

    @property
    def is_wide(self) -> bool:
        """Wider than half of the rate."""
        if self.rate is None or self.low is None or self.high is None:
            return False
        return self.high - self.low > _WIDE * self.rate


@dataclass(frozen=True, kw_only=True)
class Need:
    """The level that a rate needs (95 %; high None: open), or why there is none."""

    rate: float
    level: float | None
    low: float | None
    high: float | None
    reason: str = ""
    falling: bool = False  # the rate decreases, so it is the highest such level


@dataclass(frozen=True, kw_only=True)
class RejectedLevel:
    level: float
    marks: Mapping[str, int]
    kept: int
    rate: float | None = None

    @property
    def rejected(self) -> int:
        return sum(self.marks.values())

    @property
    def is_lost(self) -> bool:
        return not self.kept

    @property
    def is_doubted(self) -> bool:
        """A third or more were rejected, but not all."""
        return bool(self.kept) and 3 * self.rejected >= self.rejected + self.kept


@dataclass(frozen=True, kw_only=True)
class KnownBreak:
    """A level beyond which the added units differ in kind."""

    after: float
    knob: str  # of the confound that it causes
    label: str
    words: str


@dataclass(frozen=True, kw_only=True)
class FitBeside:
    """With the rejected trials of doubted levels; never instead of the fit."""

    levels: tuple[float, ...]
    chosen: str | None
    verdict: Shape
    sentence: str
    model: ModelFit | None = None
    points: tuple[PointSummary, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """The curve. chosen: None for too few points."""

    points: tuple[PointSummary, ...]
    models: tuple[ModelFit, ...]
    chosen: str | None
    sentence: str
    cautions: tuple[str, ...] = ()
    peak_level: float | None = None  # of the USL, only if its error is smaller
    peak_std_err: float | None = None
    peak_extrapolated: bool = False
    knee_level: float | None = None  # of a hard limit, if better than smooth models
    noise_percent: float | None = None  # of the replicates, a standard deviation
    axis: str = "cores"
    rate: str = "rows_per_s"
    verdict: Shape = "undecided"
    peak: Estimate | None = None
    knee: Estimate | None = None
    maximum: Estimate | None = None
    level_at_90: Estimate | None = None  # where the efficiency falls to 90 %
    supported: tuple[str, ...] = ()  # models with an AICc at most 2 above the lowest
    extrapolation_limit: float | None = None
    predictions: tuple[Prediction, ...] = ()
    needs: tuple[Need, ...] = ()
    rejected: tuple[RejectedLevel, ...] = ()
    beside: FitBeside | None = None  # with the rejected trials of levels that lost a third or more
    band: tuple[tuple[float, float, float], ...] = ()  # (level, low, high), the 95 % hull over the possible models
    per_cpu: tuple[CpuPoint, ...] = ()  # for each CPU-second
    breaks: tuple[KnownBreak, ...] = ()
    noise_parts: NoiseParts | None = None
    another_day: AnotherDay | None = None  # of short windows
    account: Account | None = None  # of the loss against the first level
    proofs: tuple[LevelProof, ...] = ()

    @property
    def is_doubted(self) -> bool:
        """Whether an end is in doubt, and so the speedup."""
        ends = {p.level for p in (*self.points[:1], *self.points[-1:])}
        return any(r.is_doubted and r.level in ends for r in self.rejected)

    @property
    def ends_before(self) -> float | None:
        """The first level beyond the fitted ones without a valid trial."""
        last = self.points[-1].level if self.points else 0.0
        return next((r.level for r in self.rejected if r.is_lost and r.level > last), None)


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    path: str
    manifest: Mapping[str, object]
    plan: Plan
    results: tuple[TrialResult, ...]
    timeseries: Mapping[str, tuple[tuple[float, Mapping[str, float | None]], ...]]
    fit: FitReport | None = None
    profiles: Mapping[str, str] = field(default_factory=dict)  # folded stacks, by trial
    disturbances: Mapping[str, tuple[Disturbance, ...]] = field(default_factory=dict)  # of proofs, by trial

    @cached_property
    def on_curve(self) -> tuple[TrialResult, ...]:
        return tuple(r for r in self.results if r.trial.role == "point")
