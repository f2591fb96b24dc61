"""Passes the load of one trial on: requests from the server's host to the load hosts, lines back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from scale_sweep.hosts.clocks import HostClock
from scale_sweep.hosts.link import AgentLink, Asked, Line
from scale_sweep.hosts.load_hosts import LoadHost, ProcessOrder


class TrialLoads:
    """Passes the processes of a trial's load on: requests from the server's host to the load hosts, lines back.

    take: called in the reader's thread of the server's host. Everything else goes into the queue of the request.
    """

    def __init__(self, server: AgentLink, hosts: Mapping[str, LoadHost], clock: HostClock) -> None:
        self._server, self._hosts, self._clock = server, hosts, clock
        self._loads: dict[int, Asked] = {}
        self.request: Asked | None = None
        self.is_over = False

    def take(self, line: Line) -> None:
        """A line of the server's host."""
        number = line.get("load")
        if isinstance(number, int):
            self._pass(number, line)
            return
        self.is_over = self.is_over or "answer" in line or "error" in line
        while self.request is None:  # the request was sent a moment ago
            time.sleep(0.001)
        self.request.lines.put(line)

    def _pass(self, number: int, line: Line) -> None:
        if "signal" in line:
            if number in self._loads:
                self._loads[number].tell(signal=int(line["signal"]))
            return
        host = self._hosts.get(str(line.get("host")))
        if host is None:
            return

        def back(heard: Mapping[str, Any]) -> None:
            if self.request is not None:
                self.request.tell(load=number, **heard)

        order = ProcessOrder(
            spec={str(key): str(value) for key, value in dict(line["spec"]).items()},
            secret=str(line["secret"]),
            folders=dict(line["folders"]),
            offset_ns=self._clock.offset_ns,
        )
        self._loads[number] = host.start(order, back)

    def stop(self) -> None:
        """Ends every process of the load that may still run."""
        for load in self._loads.values():
            load.stop()
