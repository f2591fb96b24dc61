"""Little's law in a trial: the connections that are busy are the rate times the service time.

In a closed loop each connection either waits for an answer or has its next request made: connections = rate × (service
time + time to make a request), the interactive response time law (Denning and Buzen, The Operational Analysis of
Queueing Network Models, 1978).
"""

from __future__ import annotations

from dataclasses import dataclass

from scale_sweep.experiment.work import units_of_request
from scale_sweep.judge.verdict.thresholds import LITTLE_OFF
from scale_sweep.model.loads import LoadSummary
from scale_sweep.model.planned import Trial


@dataclass(frozen=True, kw_only=True)
class Occupied:
    """Means in the window (making_s: of the whole load). may_wait: a connection may also wait for something to send."""

    requests_per_s: float
    service_s: float
    longest_s: float
    making_s: float
    window_s: float
    connections: int
    may_wait: bool

    @property
    def busy(self) -> float:
        return self.requests_per_s * self.service_s

    @property
    def sending(self) -> float:
        """If connections may wait, the most that can be busy."""
        making = 0.0 if self.may_wait else self.requests_per_s * self.making_s
        return max(0.0, self.connections - making)

    @property
    def error(self) -> float:
        """The window cuts requests at its edges, and making_s is that of the whole load."""
        return self.connections * (LITTLE_OFF + self.longest_s / self.window_s)


def contradiction(occupied: Occupied | None) -> str:
    """ "" if rate and service times agree, or are not known."""
    if occupied is None:
        return ""
    off = occupied.busy - occupied.sending
    if off <= occupied.error and (occupied.may_wait or -off <= occupied.error):
        return ""
    least, most = max(0.0, occupied.sending - occupied.error), occupied.sending + occupied.error
    span = f"at most {most:.3g}" if occupied.may_wait else f"{least:.3g} to {most:.3g}"
    return (
        f"defect of the measurement: by Little's law the busy connections are {occupied.busy:.3g} "
        f"({occupied.requests_per_s:,.4g} requests/s of {occupied.service_s:.4g} s), but "
        f"{span} of {occupied.connections} were busy: the times or the rate are wrong, or connections stood still"
    )


def occupied_of(trial: Trial, summary: LoadSummary) -> Occupied | None:
    """None where they were not measured, or where requests failed."""
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
        may_wait=bool(trial.load.rate or trial.work.paced or trial.load.rows is not None),
    )


def _requests_per_s(trial: Trial, summary: LoadSummary) -> float | None:
    """From the rate of the rows where every request has the same number of them."""
    work = trial.work
    if work.counts_requests or len(work.operations) > 1 or trial.load.rows is not None:
        return summary.service.count / summary.window_s if summary.window_s > 0 else None
    rows = units_of_request(work, work.operations[0])
    return summary.rows_per_s / rows if summary.rows_per_s is not None and rows else None
