"""The fitted curve, and a whole run read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from runner.model.measured import TrialResult
from runner.model.planned import Plan

Shape = Literal["linear", "contended", "retrograde", "knee", "superlinear", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value with its standard error and its 95 % interval (None: cannot be told from these points)."""

    value: float
    std_err: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class ModelFit:
    """One model on the VALID trials, by least squares on the rate; the formulas are in runner/fit/models.py.

    rss, rse: sum of squared residuals and residual standard error, in (rows/s)² and rows/s. aicc: None where the points
    are too few for it. holdout_error: how far off the last level lies, as a share of it, when the model is
    fitted without that level. band: (level, low, high), 95 % for the curve, given the model. on_bound: parameters at
    the end of their range, or that the points do not reach, so that nothing can be said of their error. unit_level: the
    level that the formulas of Amdahl and the USL count in, 1 or the smallest level where that is below 1.
    """

    model: Literal["linear", "affine", "amdahl", "usl", "knee", "power"]
    parameters: Mapping[str, Estimate]
    rss: float
    aicc: float | None
    band: tuple[tuple[float, float, float], ...] = ()
    on_bound: tuple[str, ...] = ()
    trials: int = 0
    rse: float | None = None
    holdout_error: float | None = None
    unit_level: float = 1.0


@dataclass(frozen=True, kw_only=True)
class PointSummary:
    """All VALID trials of one level: mean rate with n and spread, speedup and efficiency against the first level.

    speedup_std_err is of the speedup, from the pooled spread of the replicates; None without replicates.
    """

    level: float
    n: int
    rows_per_s_mean: float
    rows_per_s_std: float | None
    speedup: float | None
    efficiency: float | None
    speedup_std_err: float | None = None


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The chosen model's rate at a level that was asked for, with 95 % for the curve; or why there is none.

    low, high: the hull over the models in by_model, each with its own interval. reason: why there is no rate; beside a
    rate, what was measured there and rejected. others: of runs from before by_model.
    """

    level: float
    rate: float | None
    low: float | None
    high: float | None
    extrapolated: bool
    reason: str = ""
    others: Mapping[str, float] = field(default_factory=dict)
    by_model: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Need:
    """The level that a rate takes, with its 95 % interval (high None: open), or why it cannot be said.

    falling: the rate falls with the level, so this is the highest level that reaches it.
    """

    rate: float
    level: float | None
    low: float | None
    high: float | None
    reason: str = ""
    falling: bool = False


@dataclass(frozen=True, kw_only=True)
class RejectedLevel:
    """A level that lost trials: how many by verdict, how many were kept, and the mean rate of the rejected ones."""

    level: float
    marks: Mapping[str, int]
    kept: int
    rate: float | None = None

    @property
    def rejected(self) -> int:
        """How many trials were rejected."""
        return sum(self.marks.values())

    @property
    def is_lost(self) -> bool:
        """No trial was kept."""
        return not self.kept

    @property
    def is_doubted(self) -> bool:
        """A third of the trials or more were rejected, not all."""
        return bool(self.kept) and 3 * self.rejected >= self.rejected + self.kept


@dataclass(frozen=True, kw_only=True)
class FitBeside:
    """What the fit would say if the rejected trials of doubted levels counted: beside the fit, never instead of it."""

    levels: tuple[float, ...]
    chosen: str | None
    verdict: Shape
    sentence: str
    model: ModelFit | None = None


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """The curve: points, candidate models, the chosen one (None: too few points), a verdict and one honest sentence.

    noise_percent: pooled relative spread of the replicates, the noise floor. peak_level: where USL has its maximum,
    only when that is better known than its own size; peak_extrapolated: it lies beyond what was measured.
    knee_level: where a hard limit starts, only when that explains the points better than every smooth model.
    maximum: the highest rate that the chosen model can reach. level_at_90: where efficiency falls to 90 % of that at
    the smallest level. supported: models with an AICc at most 2 above the lowest, besides the chosen one.
    extrapolation_limit: the highest level for which anything is predicted. rejected: levels that lost trials.
    beside: the fit with the rejected trials of
    levels that lost a third or more. band: (level, low, high), the 95 % hull over the models that the points leave
    possible.
    """

    points: tuple[PointSummary, ...]
    models: tuple[ModelFit, ...]
    chosen: str | None
    sentence: str
    cautions: tuple[str, ...] = ()
    peak_level: float | None = None
    peak_std_err: float | None = None
    peak_extrapolated: bool = False
    knee_level: float | None = None
    noise_percent: float | None = None
    axis: str = "cores"
    rate: str = "rows_per_s"
    verdict: Shape = "undecided"
    peak: Estimate | None = None
    knee: Estimate | None = None
    maximum: Estimate | None = None
    level_at_90: Estimate | None = None
    supported: tuple[str, ...] = ()
    extrapolation_limit: float | None = None
    predictions: tuple[Prediction, ...] = ()
    needs: tuple[Need, ...] = ()
    rejected: tuple[RejectedLevel, ...] = ()
    beside: FitBeside | None = None
    band: tuple[tuple[float, float, float], ...] = ()

    @property
    def ends_before(self) -> float | None:
        """The first level beyond the fitted ones whose trials were all rejected: the curve ends before it."""
        last = self.points[-1].level if self.points else 0.0
        return next((r.level for r in self.rejected if r.is_lost and r.level > last), None)


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """A run read back from results/: what a report is made of. profiles: folded stacks of profiled trials, by trial."""

    path: str
    manifest: Mapping[str, object]
    plan: Plan
    results: tuple[TrialResult, ...]
    timeseries: Mapping[str, tuple[tuple[float, Mapping[str, float | None]], ...]]
    fit: FitReport | None = None
    profiles: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def on_curve(self) -> tuple[TrialResult, ...]:
        """The trials that make the curve: no drift checks, ablation trials and connections checks."""
        return tuple(r for r in self.results if r.trial.role == "point")
