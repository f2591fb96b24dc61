"""The fitted curve, and a whole run read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from runner.model.measured import TrialResult
from runner.model.planned import Plan


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A parameter with its standard error (None: cannot be told from these points)."""

    value: float
    std_err: float | None


@dataclass(frozen=True, kw_only=True)
class ModelFit:
    """One model on the VALID trials: X(n) = gamma n / (1 + alpha(n-1) + beta n(n-1)); unused parameters are absent.

    rss: sum of squared residuals of ln X, which are relative errors. aicc: None where the points are too few for it.
    band: (level, low, high), 95 % for the curve, given the model. on_bound: parameters that lie at the end of their
    range, so that nothing can be said of their error.
    """

    model: Literal["linear", "amdahl", "usl"]
    parameters: Mapping[str, Estimate]
    rss: float
    aicc: float | None
    band: tuple[tuple[float, float, float], ...] = ()
    on_bound: tuple[str, ...] = ()
    trials: int = 0


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
class FitReport:
    """The curve: points, candidate models, the chosen one (None: too few points), and one honest sentence.

    noise_percent: pooled relative spread of the replicates, the noise floor. peak_level: where USL has its maximum,
    only when that is better known than its own size; peak_extrapolated: it lies beyond what was measured.
    knee_level: where a hard limit starts, only when that explains the points better than every smooth model.
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


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """A run read back from results/: what a report is made of."""

    path: str
    manifest: Mapping[str, object]
    plan: Plan
    results: tuple[TrialResult, ...]
    timeseries: Mapping[str, tuple[tuple[float, Mapping[str, float | None]], ...]]
    fit: FitReport | None = None
