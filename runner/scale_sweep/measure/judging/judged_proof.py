"""Disturbs the CPUs of a server and of a load that are not this program's, and a disk that its user named."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence, Set

from scale_sweep.machine.host.disturbing import DisturbedPlace, Disturbing
from scale_sweep.model.proof import DISTURBED_S, Disturbance

LEAD_S = 3.0  # of the load: by then it has begun and set its CPUs
BEFORE_S = 1.0  # for the programs on the CPUs to start
WHOLE_S = LEAD_S + BEFORE_S + DISTURBED_S  # of a load, at least


class JudgedDisturbing:
    """Call `start` before the load, `look` while it runs, and always `stop`; `rows` then has what was taken."""

    def __init__(self, server_cpus: Sequence[int], folder: str) -> None:
        """folder: on a disk; "": none is disturbed."""
        self._server_cpus, anywhere = server_cpus, tuple(sorted(os.sched_getaffinity(0)))
        places = [DisturbedPlace(resource="disk", name="d1", cpus=anywhere, folder=folder)] if folder else []
        self._parts = [Disturbing(places)]  # the disk is measured while it is idle, the load's CPUs are not known yet
        self._has_disk = bool(folder)
        self.resources: tuple[str, ...] = ()
        self.rows: tuple[Disturbance, ...] = ()

    @property
    def trouble(self) -> str:
        return next((part.trouble for part in self._parts if part.trouble), "")

    @property
    def pids(self) -> frozenset[int]:
        return frozenset(pid for part in self._parts for pid in part.pids)

    def start(self) -> None:
        from scale_sweep.analysis.proof import schedule  # takes long to import, so before the load

        self._schedule = schedule
        self._parts[0].start()

    def look(self, load_cpus: Set[int], started_ns: int) -> None:
        """Begins once the load has run for LEAD_S."""
        if self.resources or not load_cpus or time.monotonic_ns() < started_ns + LEAD_S * 1e9:
            return
        cpus = {"cpu": tuple(self._server_cpus)}
        if not load_cpus & set(self._server_cpus):
            cpus["load"] = tuple(sorted(load_cpus))
        self.resources = (*cpus, *(["disk"] if self._has_disk else []))
        places = [
            DisturbedPlace(resource=resource, name=f"CPU {cpu}", cpus=(cpu,))
            for resource in cpus
            for cpu in cpus[resource]
        ]
        self._parts.append(Disturbing(places))
        self._parts[1].start()
        begin_s = math.ceil((time.monotonic_ns() - started_ns) / 1e9 + BEFORE_S)
        for part in self._parts:
            part.begin(self._schedule(self.resources, DISTURBED_S), started_ns + begin_s * 10**9, started_ns)

    def stop(self) -> None:
        """May be called twice."""
        rows = (row for part in self._parts for row in part.rows())
        self.rows = self.rows or tuple(sorted(rows, key=lambda row: row.start_s))
        for part in self._parts:
            part.stop()
