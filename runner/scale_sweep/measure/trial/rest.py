"""Waits until a server is idle: work in the background, such as a merge, would otherwise slow the first reads down.

Refuses to wait for ever: some servers are never idle, and then the CPU use at the end is recorded.
"""

from __future__ import annotations

import time

from scale_sweep.base.interrupts import Stop
from scale_sweep.machine.sampling.subjects import subject_reader
from scale_sweep.measure.trial.provision import Reached

IDLE_CORES = 0.25  # a merge takes a whole thread; a Java server at rest takes less
LOOK_S = 1.0
REST_S = 300.0


def idle_cores(reached: Reached, stop: Stop, within_s: float = REST_S, look_s: float = LOOK_S) -> float | None:
    """Cores that the server used in the last look; returns when they are under IDLE_CORES, at most after within_s.

    None if its CPU time cannot be read. Raises Stopped.
    """
    read, deadline = subject_reader(reached.server.accounting()), time.monotonic() + within_s
    while True:
        before, begun = read().cpu_s_total, time.monotonic()
        stop.sleep(look_s)
        after, ended = read().cpu_s_total, time.monotonic()
        if before is None or after is None:
            return None
        used = (after - before) / (ended - begun)
        if used < IDLE_CORES or ended > deadline:
            return used
