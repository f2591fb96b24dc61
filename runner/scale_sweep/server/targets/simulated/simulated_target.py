"""Describes and counts simulated servers; the load generator has them in a file."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets.base import Session, Target
from scale_sweep.server.targets.records import Counted, Installation, Surroundings, wrong_input
from scale_sweep.server.targets.simulated.laws import mistake_of, options_of

_FILE = "servers"
_COUNTS = struct.Struct("=4Q")  # of `struct simulated_counts` in loadgen/simulated.h, up to the rows


class SimulatedSession(Session):
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
        try:
            with open(Path(self._address.data_dir, _FILE), "rb") as file:
                return Counted(rows=_COUNTS.unpack(file.read(_COUNTS.size))[3])
        except (OSError, struct.error):
            return None


class SimulatedTarget(Target):
    session_type = SimulatedSession

    def find(self, home: str) -> Installation | None:
        return Installation(home="", version="1", source="built in")

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        name, why = mistake_of(trial.knobs)
        return (wrong_input(f"--knob {name}", why, "docs/loadgen.md lists the laws"),) if why else ()

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        return ServerSpec(argv=(), counts=f"{site.data_dir}/{_FILE}")
