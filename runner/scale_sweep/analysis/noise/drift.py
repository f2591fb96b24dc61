"""The drift check: the first trial, repeated at the end, for runs with too few replicates for a trend."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.analysis.noise.spread import Rates, ratio_of
from scale_sweep.analysis.noise.trend import log_value
from scale_sweep.model import Drift, Observation


def drift_of(observed: Sequence[Observation], rates: Rates) -> Drift | None:
    """The drift check against the first observation of its point; None without a drift check that has a value."""
    drift_check = next((o for o in observed if o.role == "drift_check" and log_value(o) is not None), None)
    if drift_check is None:
        return None
    same = [o for o in observed if o.role == "point" and o.point == drift_check.point and log_value(o) is not None]
    first = min(same, key=lambda o: o.order, default=None)
    if first is None:
        return None
    later, earlier = log_value(drift_check), log_value(first)
    assert later is not None and earlier is not None
    return Drift(
        first_order=first.order,
        repeat_order=drift_check.order,
        ratio=ratio_of([later], [earlier], rates),
        are_valid=not first.mark and not drift_check.mark,
    )
