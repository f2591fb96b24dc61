"""Did the machine change while the run went on? The first trial repeated at the end says so."""

from __future__ import annotations

from collections.abc import Sequence

from runner.model import Drift, TrialResult, VerdictKind
from runner.noise.spread import Rates, log_rate, ratio_of, variant_of


def drift_of(results: Sequence[TrialResult], rate: str, rates: Rates) -> Drift | None:
    """The anchor against the first trial of its point; None without an anchor that has a rate."""
    anchor = next((r for r in results if r.trial.role == "anchor" and log_rate(r, rate) is not None), None)
    if anchor is None:
        return None
    point = (anchor.trial.level, variant_of(anchor))
    same = [r for r in results if r.trial.role == "point" and (r.trial.level, variant_of(r)) == point]
    first = min((r for r in same if log_rate(r, rate) is not None), key=lambda r: r.trial.order, default=None)
    if first is None:
        return None
    later, earlier = log_rate(anchor, rate), log_rate(first, rate)
    assert later is not None and earlier is not None
    return Drift(
        trial_id=first.trial.trial_id,
        anchor_id=anchor.trial.trial_id,
        ratio=ratio_of([later], [earlier], rates),
        are_valid=all(r.verdict.kind is VerdictKind.VALID for r in (first, anchor)),
    )
