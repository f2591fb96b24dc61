"""How many connections the answered requests kept busy, for Little's law: rate times service time."""

from __future__ import annotations

from scale_sweep.experiment.work import units_of_request
from scale_sweep.judge.verdict import Occupied
from scale_sweep.model import LoadSummary, Trial


def occupied_of(trial: Trial, summary: LoadSummary) -> Occupied | None:
    """The figures over the window; None where they were not measured, or where requests failed."""
    service, is_ours = summary.service, summary.send_s + summary.make_s > 0
    is_counted = service.count and service.mean_us is not None and service.max_us is not None
    if not is_counted or not is_ours or not summary.is_answered or not summary.requests or summary.errors:
        return None
    rate = _requests_per_s(trial, summary)
    if rate is None or summary.window_s <= 0:
        return None
    return Occupied(
        requests_per_s=rate,
        service_s=(service.mean_us or 0.0) / 1e6,
        longest_s=(service.max_us or 0.0) / 1e6,
        window_s=summary.window_s,
        connections=summary.threads,
        making_s=summary.make_s / summary.requests,
        may_wait=_may_wait(trial),
    )


def _requests_per_s(trial: Trial, summary: LoadSummary) -> float | None:
    """Requests that were answered in the window, each second: from the rate of the rows where every request has the
    same number of them."""
    work = trial.work
    if work.counts_requests or len(work.operations) > 1 or trial.load.rows is not None:
        return summary.service.count / summary.window_s if summary.window_s > 0 else None
    rows = units_of_request(work, work.operations[0])
    return summary.rows_per_s / rows if summary.rows_per_s is not None and rows else None


def _may_wait(trial: Trial) -> bool:
    return bool(trial.load.rate or trial.work.paced or trial.load.rows is not None)
