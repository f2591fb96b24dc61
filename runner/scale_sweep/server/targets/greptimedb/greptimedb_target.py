"""GreptimeDB: one table, loaded with lines over HTTP. A write is in the log, not fsynced, when it is acknowledged.

Refuses the protocols of MySQL, PostgreSQL and OpenTSDB, and telemetry. Written from its documentation, and not tried.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from scale_sweep.model import Finding, ServerSpec, Site, Trial
from scale_sweep.server.targets import Address, Surroundings, Target, series
from scale_sweep.server.targets.greptimedb.greptimedb_session import ROOT, GreptimedbSession

PROGRAM = "bin/greptime"
TYPES = ("bool", "tinyint", "smallint", "int", "bigint", "float", "double", "binary", "nchar")
_DOUBTFUL = re.compile(r"panicked at|No space left|out of memory|[Ff]ailed to (write|flush|sync)")


class GreptimedbTarget(Target):
    """One server for each trial."""

    doubtful = _DOUBTFUL

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """Items of its configuration as section.name, and the threads of its pools."""
        cores = max(1, math.ceil(trial.cores))
        own = {name: value for name, value in trial.knobs.items() if name != "connections"}
        return {"runtime.global_rt_size": str(cores), "runtime.compact_rt_size": str(max(1, cores // 2)), **own}

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """A finding for each column type that it does not have."""
        return series.refused_columns("GreptimeDB", trial, TYPES)

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """greptime on a folder of the trial. Its configuration is in the environment."""
        root = f"{site.data_dir}/{ROOT}"
        items = {
            **self.settings(trial, is_ours=True),
            "enable_telemetry": "false",
            "http.addr": f"{site.bind_address}:{site.port}",
            "grpc.bind_addr": f"{site.bind_address}:0",  # cannot be closed, and is not used here
            "mysql.enable": "false",
            "postgres.enable": "false",
            "opentsdb.enable": "false",
            "storage.data_home": root,
            "logging.dir": f"{root}/logs",
        }
        names = {name: f"GREPTIMEDB_STANDALONE__{name.upper().replace('.', '__')}" for name in items}
        return ServerSpec(
            folders=(root,),
            argv=(f"{site.home}/{PROGRAM}", "standalone", "start"),
            env={**{names[name]: value for name, value in items.items()}, "TZ": "UTC", "LC_ALL": "C.UTF-8"},
            ports=(site.port,),
            stop_timeout_s=30.0,
        )

    def session(self, trial: Trial, address: Address) -> GreptimedbSession:
        return GreptimedbSession(trial, address, self.settings(trial, is_ours=address.is_ours))
