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
    are too few for it. leave_last_out_error: how far off the last level lies, as a share of it, when the model is
    fitted without that level. band: (level, low, high), 95 % for the curve, given the model. on_bound: parameters at
    the end of their range, or that the points do not reach, so that nothing can be said of their error.
    """

    model: Literal["linear", "affine", "amdahl", "usl", "knee", "power"]
    parameters: Mapping[str, Estimate]
    rss: float
    aicc: float | None
    band: tuple[tuple[float, float, float], ...] = ()
    on_bound: tuple[str, ...] = ()
    trials: int = 0
    rse: float | None = None
    leave_last_out_error: float | None = None


@dataclass(frozen=True, kw_only=True)
class PointSummary:
    """All VALID trials of one level: mean rate with n and spread, speed-up and efficiency against the first level.

    speedup_std_err is of the speed-up, from the pooled spread of the replicates; None without replicates.
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

    others: what the models say that the points do not tell from the chosen one.
    """

    level: float
    rate: float | None
    low: float | None
    high: float | None
    extrapolated: bool
    reason: str = ""
    others: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Need:
    """The level that a rate takes, with its 95 % interval (high None: open), or why it cannot be said."""

    rate: float
    level: float | None
    low: float | None
    high: float | None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """The curve: points, candidate models, the chosen one (None: too few points), a verdict and one honest sentence.

    noise_percent: pooled relative spread of the replicates, the noise floor. peak_level: where USL has its maximum,
    only when that is better known than its own size; peak_extrapolated: it lies beyond what was measured.
    knee_level: where a hard limit starts, only when that explains the points better than every smooth model.
    roof: the highest rate that the chosen model can reach. level_at_90: where efficiency falls to 90 % of the model's
    rate at 1. near: models that the points do not tell from the chosen one. extrapolation_limit: the highest level for
    which anything is predicted.
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
    roof: Estimate | None = None
    level_at_90: Estimate | None = None
    near: tuple[str, ...] = ()
    extrapolation_limit: float | None = None
    predictions: tuple[Prediction, ...] = ()
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """A run read back from results/: what a report is made of."""

    path: str
    manifest: Mapping[str, object]
    plan: Plan
    results: tuple[TrialResult, ...]
    timeseries: Mapping[str, tuple[tuple[float, Mapping[str, float | None]], ...]]
    fit: FitReport | None = None

    @cached_property
    def on_curve(self) -> tuple[TrialResult, ...]:
        """The trials that make the curve: neither anchors nor bridges nor checks."""
        return tuple(r for r in self.results if r.trial.role == "point")
