"""The fitted curve, and a complete stored run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from scale_sweep.model.measured import TrialResult
from scale_sweep.model.noise import NoiseParts
from scale_sweep.model.planned import Plan

_WIDE = 0.5  # of the rate
Shape = Literal["linear", "contended", "retrograde", "falls", "knee", "break", "superlinear", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value with its standard error and its 95 % interval (None: these points do not determine it)."""

    value: float
    std_err: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class ModelFit:
    """One model on the VALID trials, by least squares on the rate. scale_sweep/analysis/fit/models.py has the
    formulas."""

    model: Literal["linear", "affine", "amdahl", "usl", "knee", "power", "linear_break", "amdahl_break"]
    parameters: Mapping[str, Estimate]
    # rss, rse: the sum of squared residuals and the residual standard error, in (rows/s)² and rows/s
    rss: float
    aicc: float | None  # None if there are too few points
    band: tuple[tuple[float, float, float], ...] = ()  # (level, low, high), 95 % for the curve, given the model
    # parameters at the end of their range, or not determined by the points; they have no error
    on_bound: tuple[str, ...] = ()
    trials: int = 0
    rse: float | None = None
    holdout_error: float | None = None  # the relative error at the last level when the model is fitted without it
    # the unit of levels in the formulas of Amdahl and the USL: 1, or the smallest level if it is below 1
    unit_level: float = 1.0


@dataclass(frozen=True, kw_only=True)
class PointSummary:
    """All VALID trials of one level: mean rate with n, speedup and efficiency against the first level."""

    level: float
    n: int
    rate_mean: float
    rate_std: float | None  # the standard deviation of the trials
    speedup: float | None
    efficiency: float | None
    # mean_low, mean_high: the 95 % interval of the mean; None without replicates at any level
    mean_low: float | None = None
    mean_high: float | None = None
    # one standard error of the speedup, with its degrees of freedom; None without replicates
    speedup_std_err: float | None = None
    # speedup_low, speedup_high: its 95 % interval
    speedup_low: float | None = None
    speedup_high: float | None = None
    speedup_degrees: int | None = None
    speedup_blocks: int = 0  # the blocks whose ratios it comes from; 0: it is the ratio of the means
    # of a run of short windows, which has no intervals, the ratios of the blocks to the first level, ascending
    pairs: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AnotherDay:
    """The range of the last level's speedup on another day."""

    low: float
    high: float
    repetitions: int  # stored ones of the same sweep behind it


def is_off_linear(points: tuple[PointSummary, ...]) -> bool:
    """Whether these are two levels, and linear scaling is outside their speedup's interval, with two decimals."""
    if len(points) != 2:
        return False
    first, last = points
    if last.speedup_low is None or last.speedup_high is None:
        return False
    return not round(last.speedup_low, 2) <= round(last.level / first.level, 2) <= round(last.speedup_high, 2)


@dataclass(frozen=True, kw_only=True)
class CpuPoint:
    """All trials of one level that have a rate for each CPU-second of the server: its geometric mean, and the speedup
    against the first level that it stands for, with its 95 % interval (None without replicates)."""

    level: float
    n: int
    rate_per_cpu_s: float
    speedup: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The chosen model's rate at a requested level with 95 % for the curve, or the reason why there is none."""

    level: float
    rate: float | None
    # low, high: the hull over the models in by_model, each with its own interval
    low: float | None
    high: float | None
    extrapolated: bool
    reason: str = ""  # why there is no rate; beside a rate, what was measured there and rejected
    others: Mapping[str, float] = field(default_factory=dict)  # of runs from before by_model
    by_model: Mapping[str, Estimate] = field(default_factory=dict)
    # of an interval too wide to use, the level nearest to the measured ones that would about halve it if it were
    # measured too; None if no single level would
    halved_by: float | None = None

    @property
    def is_wide(self) -> bool:
        """Whether the interval is too wide to use: wider than half of the rate."""
        if self.rate is None or self.low is None or self.high is None:
            return False
        return self.high - self.low > _WIDE * self.rate


@dataclass(frozen=True, kw_only=True)
class Need:
    """The level that a rate needs, with its 95 % interval (high None: open), or the reason why there is none."""

    rate: float
    level: float | None
    low: float | None
    high: float | None
    reason: str = ""
    falling: bool = False  # the rate decreases with the level, so this is the highest level that reaches it


@dataclass(frozen=True, kw_only=True)
class RejectedLevel:
    """A level that lost trials: the number by verdict, the number kept, and the mean rate of the rejected ones."""

    level: float
    marks: Mapping[str, int]
    kept: int
    rate: float | None = None

    @property
    def rejected(self) -> int:
        return sum(self.marks.values())

    @property
    def is_lost(self) -> bool:
        """Whether no trial was kept."""
        return not self.kept

    @property
    def is_doubted(self) -> bool:
        """Whether a third of the trials or more were rejected, but not all."""
        return bool(self.kept) and 3 * self.rejected >= self.rejected + self.kept


@dataclass(frozen=True, kw_only=True)
class KnownBreak:
    """A level beyond which the added units differ in kind, known before the measurement."""

    after: float  # the last level before
    knob: str  # the name of the confound that it causes
    label: str  # for a picture
    words: str  # a clause for a sentence


@dataclass(frozen=True, kw_only=True)
class FitBeside:
    """The fit with the rejected trials of doubted levels. It is shown beside the fit, never instead of it."""

    levels: tuple[float, ...]
    chosen: str | None
    verdict: Shape
    sentence: str
    model: ModelFit | None = None
    points: tuple[PointSummary, ...] = ()  # of all these trials; empty in runs of older versions


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """The curve: points, candidate models, the chosen one (None: too few points), a verdict and one sentence."""

    points: tuple[PointSummary, ...]
    models: tuple[ModelFit, ...]
    chosen: str | None
    sentence: str
    cautions: tuple[str, ...] = ()
    peak_level: float | None = None  # the USL's maximum, only if its error is smaller than its value
    peak_std_err: float | None = None
    peak_extrapolated: bool = False  # the peak is beyond the measured levels
    # the start of a hard limit, only if that explains the points better than every smooth model
    knee_level: float | None = None
    noise_percent: float | None = None  # the pooled relative spread of the replicates, a standard deviation
    axis: str = "cores"
    rate: str = "rows_per_s"
    verdict: Shape = "undecided"
    peak: Estimate | None = None
    knee: Estimate | None = None
    maximum: Estimate | None = None  # the highest rate that the chosen model can reach
    level_at_90: Estimate | None = None  # the level at which the efficiency falls to 90 % of that at the smallest level
    supported: tuple[str, ...] = ()  # models with an AICc at most 2 above the lowest, besides the chosen one
    extrapolation_limit: float | None = None  # the highest level with a prediction
    predictions: tuple[Prediction, ...] = ()
    needs: tuple[Need, ...] = ()
    rejected: tuple[RejectedLevel, ...] = ()  # levels that lost trials
    beside: FitBeside | None = None  # the fit with the rejected trials of levels that lost a third or more
    # (level, low, high), the 95 % hull over the models that the points leave possible
    band: tuple[tuple[float, float, float], ...] = ()
    per_cpu: tuple[CpuPoint, ...] = ()  # the curve of the rate for each CPU-second, by level
    breaks: tuple[KnownBreak, ...] = ()  # the levels beyond which the CPU placement adds CPUs of another kind
    noise_parts: NoiseParts | None = None  # where the noise of a trial comes from; None if it is not known
    another_day: AnotherDay | None = None  # of a run of short windows

    @property
    def is_doubted(self) -> bool:
        """Whether the first or the last level is in doubt, so that the speedup between them is too."""
        ends = {p.level for p in (*self.points[:1], *self.points[-1:])}
        return any(r.is_doubted and r.level in ends for r in self.rejected)

    @property
    def ends_before(self) -> float | None:
        """The first level beyond the fitted ones whose trials were all rejected. The curve ends before it."""
        last = self.points[-1].level if self.points else 0.0
        return next((r.level for r in self.rejected if r.is_lost and r.level > last), None)


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """A run read from results/, from which reports are made."""

    path: str
    manifest: Mapping[str, object]
    plan: Plan
    results: tuple[TrialResult, ...]
    timeseries: Mapping[str, tuple[tuple[float, Mapping[str, float | None]], ...]]
    fit: FitReport | None = None
    profiles: Mapping[str, str] = field(default_factory=dict)  # folded stacks of profiled trials, by trial

    @cached_property
    def on_curve(self) -> tuple[TrialResult, ...]:
        return tuple(r for r in self.results if r.trial.role == "point")
