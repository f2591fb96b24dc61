"""Lets the agent of the server's host hold the directory for data, the disks, and memory for the server, for a run."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import deferred
from scale_sweep.hosts.link import END_S, AgentLink, Asked
from scale_sweep.machine.host.held_memory import TAKE_S
from scale_sweep.measure.machine_setup import MachineSetup, PreparedDisks, Say
from scale_sweep.results.store.codec import from_plain

SET_UP_S = 3600.0  # fio measures, and each of its measurements has its own deadline
_LATE_S = 30.0
_LOOK_S = 0.02


class HeldSetup:
    """A request that runs as long as the run. say: gets the sentences of the host."""

    def __init__(self, setup: MachineSetup, say: Say) -> None:
        self._setup, self._say = setup, say
        self._request: Asked | None = None

    def is_held_by(self, link: AgentLink) -> bool:
        return self._request is not None and self._request.link is link and not self._request.is_over

    def begin(self, link: AgentLink) -> PreparedDisks:
        """Sets it up on a host. Raises ProvisionError or PreflightError that names the host, and Stopped."""
        self._request = link.ask("set_up", setup=asdict(self._setup))
        return from_plain(self._event("disks", SET_UP_S), PreparedDisks, Path(f"host:{link.host.name}"))

    def before_trial(self) -> None:
        """Lets the host hold memory again, if it holds some. Raises as `begin`."""
        if self._setup.held_bytes and self._request is not None:
            self._request.tell(take=True)
            self._event("taken", TAKE_S + _LATE_S)

    def end(self) -> None:
        """Waits until the host has removed all of it. A second Ctrl-C ends only the waiting."""
        request = self._request
        if request is None:
            return
        with deferred() as hurry:
            request.stop()
            deadline = time.monotonic() + END_S
            while not request.is_over and time.monotonic() < deadline and not hurry():
                time.sleep(_LOOK_S)

    def _event(self, name: str, limit_s: float) -> Any:
        assert self._request is not None
        for line in self._request.events(limit_s):
            event = dict(line.get("event") or {})
            if "say" in event:
                self._say(str(event["say"]))
            if name in event:
                return event[name]
        raise ProvisionError(f"{self._request.link.host.name} removed the data directory of the run")
