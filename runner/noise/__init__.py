"""How sure the points are, from observations alone: spread, drift, bridges. Pure.

`noise_report` is the door. Refuses to call anything certain that the replicates do not carry.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner.model import NoiseReport, Observation
from runner.noise.bridges import bridge_splits
from runner.noise.drift import drift_of
from runner.noise.spread import intervals, rates_of, smallest_difference_percent

__all__ = ["intervals", "noise_report", "rates_of"]


def noise_report(observed: Sequence[Observation]) -> NoiseReport:
    """Everything that this package can say of a run."""
    rates = rates_of(observed)
    return NoiseReport(
        levels=intervals(rates),
        noise_percent=100 * rates.std if rates.std is not None else None,
        smallest_difference_percent=smallest_difference_percent(rates),
        drift=drift_of(observed, rates),
        bridges=bridge_splits(observed, rates),
    )
