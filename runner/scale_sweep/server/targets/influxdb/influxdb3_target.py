"""InfluxDB 3 Core: one database, loaded with lines over HTTP. A write is in a file of the log when it is acknowledged.

Refuses telemetry and tokens: the server listens on loopback only, and asks nobody who he is. Written from its
documentation, and not tried.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from scale_sweep.model import Finding, ServerSpec, Site, Trial
from scale_sweep.server.targets import Address, Installation, Surroundings, Target, series
from scale_sweep.server.targets.debian import home_of
from scale_sweep.server.targets.influxdb.influxdb3_session import ROOT, InfluxdbV3Session
from scale_sweep.server.targets.influxdb.influxdb_target import TYPES
from scale_sweep.server.targets.program import version_of

PROGRAM = "influxdb3"
_THREADS = "num_threads"
_DOUBTFUL = re.compile(r"panicked at|No space left|out of memory|failed to (write|persist|flush)", re.IGNORECASE)


class InfluxdbV3Target(Target):
    """One server for each trial."""

    doubtful = _DOUBTFUL

    def find(self, home: str) -> Installation | None:
        """influxdb3 in `home`, else on PATH."""
        folder, source = home_of(PROGRAM, home)
        if not folder:
            return None
        version = version_of((f"{folder}/bin/{PROGRAM}", "--version"), r"(\d+\.\d+\.\d+)")
        return Installation(home=folder, version=version, source=source)

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """Flags with underscores, and the threads of its pools."""
        own = {name: value for name, value in trial.knobs.items() if name != "connections"}
        return {_THREADS: str(max(2, math.ceil(trial.cores))), **own}

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """A finding for each column type that it does not have."""
        return series.refused_columns("InfluxDB", trial, TYPES)

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """influxdb3 on a folder of the trial."""
        root, settings = f"{site.data_dir}/{ROOT}", self.settings(trial, is_ours=True)
        flags = (f"--{k.replace('_', '-')}={v}" for k, v in settings.items() if k != _THREADS)
        return ServerSpec(
            folders=(root,),
            argv=(
                f"{site.home}/bin/{PROGRAM}",
                f"--num-io-threads={settings[_THREADS]}",
                "serve",
                "--node-id=scale",
                "--object-store=file",
                f"--data-dir={root}",
                f"--http-bind={site.bind_address}:{site.port}",
                "--without-auth",
                "--disable-telemetry-upload",
                *flags,
            ),
            env={"HOME": site.data_dir, "TZ": "UTC", "LC_ALL": "C.UTF-8"},
            ports=(site.port,),
            stop_timeout_s=30.0,
        )

    def session(self, trial: Trial, address: Address) -> InfluxdbV3Session:
        return InfluxdbV3Session(trial, address, self.settings(trial, is_ours=address.is_ours))
