"""Describes and counts simulated servers; the load generator has them in a file."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets.base import Session, Target
from scale_sweep.server.targets.records import Counted, Installation, Surroundings, wrong_input
from scale_sweep.server.targets.simulated.laws import mistake_of, options_of

_FILE = "servers"
_COUNTS = struct.Struct("=4Q")  # of `struct simulated_counts` in loadgen/simulated.h: busy, throttled, waited, rows
_LOCK = "lock: that of the law"


class SimulatedSession(Session):
    _before = (0, 0)  # busy and waited at the last question

    def version(self) -> str:
        return "simulated (no database)"

    def load_spec(self) -> Mapping[str, str]:
        """Without the servers where there is no place for them: the load generator's own ceiling has none."""
        folder = self._address.data_dir
        servers = {"null_shared": f"{folder}/{_FILE}", **options_of(self._trial)} if folder else {}
        return {"driver": "null", "method": "discard", **servers}

    def effective(self) -> Mapping[str, str]:
        return options_of(self._trial)

    def count(self) -> Counted | None:
        return Counted(rows=self._counts()[3])

    def wait_events(self) -> Mapping[str, int]:
        """As many as the servers that waited for the lock since the last question."""
        busy, _, waited, _ = self._counts()
        worked, lost = busy - self._before[0], waited - self._before[1]
        self._before = busy, waited
        servers = math.ceil(self._trial.cores)
        waiting = round(servers * lost / (worked + lost)) if worked + lost > 0 else 0
        return {_LOCK: waiting, "": servers - waiting} if waiting else {"": servers}

    def _counts(self) -> tuple[int, ...]:
        """Zeros before the first request, which makes the file."""
        try:
            with open(Path(self._address.data_dir, _FILE), "rb") as file:
                return _COUNTS.unpack(file.read(_COUNTS.size))
        except (OSError, struct.error):
            return (0, 0, 0, 0)


class SimulatedTarget(Target):
    session_type = SimulatedSession

    def find(self, home: str) -> Installation | None:
        return Installation(home="", version="1", source="built in")

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        name, why = mistake_of(trial.knobs)
        return (
            (wrong_input(f"--knob {name}", why, "docs/databases.md lists the laws and their parameters"),)
            if why
            else ()
        )

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        return ServerSpec(argv=(), counts=f"{site.data_dir}/{_FILE}")
