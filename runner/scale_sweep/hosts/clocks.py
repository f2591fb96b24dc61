"""The clock of a host against this machine's: the offset from the fastest of 50 round trips, and its error.

The answer was made between the request and its arrival. So half of the fastest round trip is the greatest error
(Cristian, "Probabilistic clock synchronization", 1989).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from scale_sweep.hosts.link import AgentLink

ROUND_TRIPS = 50
ANSWER_S = 15.0
MOVED_NS = 5_000_000  # of a clock during a trial, besides the error of its measurement


@dataclass(frozen=True, kw_only=True)
class HostClock:
    """offset_ns: the host's clock minus this machine's. error_ns: its greatest error. round_trip_ns: the fastest."""

    offset_ns: int
    error_ns: int
    round_trip_ns: int


@dataclass(frozen=True, kw_only=True)
class ClockSeen:
    """The clock of a host before and after a trial."""

    trial_id: str
    host: str
    before: HostClock
    after: HostClock

    @property
    def moved_ns(self) -> int:
        """By how much it moved, beyond the errors of both measurements."""
        moved = abs(self.after.offset_ns - self.before.offset_ns)
        return max(0, moved - self.before.error_ns - self.after.error_ns)


def measure_clock(link: AgentLink) -> HostClock:
    """Asks the host 50 times. Raises ProvisionError."""
    trips = []
    for _ in range(ROUND_TRIPS):
        begun = time.monotonic_ns()
        request = link.ask("clock")
        line = request.lines.get(timeout=ANSWER_S)
        ended = time.monotonic_ns()
        if "answer" not in line:
            request.lines.put(line)
            request.answer(ANSWER_S)
        trips.append((ended - begun, int(line["answer"]) - (begun + ended) // 2))
    fastest, offset = min(trips)
    return HostClock(offset_ns=offset, error_ns=fastest // 2 + 1, round_trip_ns=fastest)
