"""Little's law in a trial: the connections that are busy are the rate times the service time."""

from __future__ import annotations

from dataclasses import dataclass

from scale_sweep.judge.verdict.thresholds import LITTLE_OFF


@dataclass(frozen=True, kw_only=True)
class Occupied:
    """service_s: the mean of the service times in the window; longest_s: the longest one. making_s: the mean time to
    make a request, over the whole load. connections: of the load generator, each with at most one request in flight.
    may_wait: a connection may also wait until it has something to send."""

    requests_per_s: float
    service_s: float
    longest_s: float
    making_s: float
    window_s: float
    connections: int
    may_wait: bool

    @property
    def busy(self) -> float:
        """The connections that were busy, by Little's law."""
        return self.requests_per_s * self.service_s

    @property
    def sending(self) -> float:
        """The connections that no request was made for, on average; if they may wait, the most that can be busy."""
        making = 0.0 if self.may_wait else self.requests_per_s * self.making_s
        return max(0.0, self.connections - making)

    @property
    def error(self) -> float:
        """How far the two may be apart, in connections. At each edge of the window a request counts wholly or not at
        all, and the time to make a request is that of the whole load."""
        return self.connections * (LITTLE_OFF + self.longest_s / self.window_s)


def contradiction(occupied: Occupied | None) -> str:
    """The sentence on a rate that does not agree with the service times; "" if it does, or if it is not known."""
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
