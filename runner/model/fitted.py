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
    """One model on the VALID points. X(n) = gamma n / (1 + alpha(n-1) + beta n(n-1)); unused parameters are absent."""

    model: Literal["linear", "amdahl", "usl"]
    parameters: Mapping[str, Estimate]
    rss: float
    aicc: float | None
    band: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class PointSummary:
    """All VALID trials of one level: mean rate with n and spread, speed-up and efficiency against the first level."""

    level: float
    n: int
    rows_per_s_mean: float
    rows_per_s_std: float | None
    speedup: float | None
    efficiency: float | None


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """The curve: points, candidate models, the chosen one (None: too few points), and one honest sentence."""

    points: tuple[PointSummary, ...]
    models: tuple[ModelFit, ...]
    chosen: str | None
    sentence: str
    cautions: tuple[str, ...] = ()
    peak_level: float | None = None


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """A run read back from results/: what a report is made of."""

    path: str
    manifest: Mapping[str, object]
    plan: Plan
    results: tuple[TrialResult, ...]
    timeseries: Mapping[str, tuple[tuple[float, Mapping[str, float | None]], ...]]
    fit: FitReport | None = None
