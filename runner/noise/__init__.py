"""How sure the points are, from the trials alone: spread, drift, bridges, conditions that moved. Pure.

`noise_report` is the door. Refuses to call anything certain that the replicates do not carry.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner.model import NoiseReport, TrialResult
from runner.noise.bridges import bridge_splits
from runner.noise.conditions import conditions
from runner.noise.drift import drift_of
from runner.noise.spread import Rates, intervals, rates_of, smallest_difference_percent

__all__ = ["intervals", "noise_report", "rates_of"]


def noise_report(results: Sequence[TrialResult], rate: str) -> NoiseReport:
    """Everything this room can say of a run. rate: the field of Measurement that is fitted."""
    rates: Rates = rates_of(results, rate)
    return NoiseReport(
        levels=intervals(rates),
        noise_percent=100 * rates.std if rates.std is not None else None,
        smallest_difference_percent=smallest_difference_percent(rates),
        drift=drift_of(results, rate, rates),
        bridges=bridge_splits(results, rate, rates),
        conditions=conditions(results),
    )
