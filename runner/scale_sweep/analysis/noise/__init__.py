"""How certain the points are."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.analysis.noise.agreement import agreement_of
from scale_sweep.analysis.noise.drift_test import line_of, steadied, trend_of, without_drift
from scale_sweep.analysis.noise.parts import parts_of
from scale_sweep.analysis.noise.spread import (
    ablation_splits,
    drift_of,
    intervals,
    later_rates,
    rates_of,
    replicates_for_drift,
    smallest_difference_percent,
    with_intervals,
)
from scale_sweep.model import NoiseReport, Observation

__all__ = [
    "agreement_of",
    "intervals",
    "line_of",
    "noise_report",
    "parts_of",
    "rates_of",
    "replicates_for_drift",
    "trend_of",
    "with_intervals",
    "without_drift",
]


def noise_report(observed: Sequence[Observation]) -> NoiseReport:
    """Spread, intervals, drift, ablations, agreement and parts of a run."""
    rates = rates_of(observed)
    return NoiseReport(
        levels=intervals(rates),
        noise_percent=100 * rates.std if rates.std is not None else None,
        smallest_difference_percent=smallest_difference_percent(rates),
        drift=drift_of(observed, rates),
        ablations=ablation_splits(steadied(observed)[0], rates),
        trend=trend_of(observed),
        later=later_rates(observed, rates),
        agreement=agreement_of(observed),
        parts=parts_of([observed]),
    )
