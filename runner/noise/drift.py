"""The drift check: the first trial repeated at the end, for runs with too few replicates for a trend."""

from __future__ import annotations

from collections.abc import Sequence

from runner.model import Drift, Observation
from runner.noise.spread import Rates, ratio_of
from runner.noise.trend import log_value


def drift_of(observed: Sequence[Observation], rates: Rates) -> Drift | None:
    """The anchor against the first observation of its point; None without an anchor that has a value."""
    anchor = next((o for o in observed if o.role == "anchor" and log_value(o) is not None), None)
    if anchor is None:
        return None
    same = [o for o in observed if o.role == "point" and o.point == anchor.point and log_value(o) is not None]
    first = min(same, key=lambda o: o.order, default=None)
    if first is None:
        return None
    later, earlier = log_value(anchor), log_value(first)
    assert later is not None and earlier is not None
    return Drift(
        first_order=first.order,
        anchor_order=anchor.order,
        ratio=ratio_of([later], [earlier], rates),
        are_valid=not first.mark and not anchor.mark,
    )
