"""InfluxDB 1.x: one database, loaded with lines."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Installation, Target, series
from scale_sweep.server.targets.base import ENVIRONMENT, cores_of
from scale_sweep.server.targets.influxdb.influxdb_session import InfluxdbSession, InfluxqlSession
from scale_sweep.server.targets.installations import packaged

_NOT_ITEMS = {"connections", "shard_duration", "gomaxprocs"}
_DOUBTFUL = re.compile(
    r"cache-max-memory-size exceeded|partial write|points? dropped|no space left|panic:|fatal error:|out of memory"
    r"|failed to (write|fsync|sync)|compaction.*(error|failed)",
    re.IGNORECASE,
)


class InfluxdbTarget(Target):
    major = "1"  # of its versions
    doubtful = _DOUBTFUL
    types = ("bool", *series.WHOLE, "float", "double", "timestamp", "binary", "nchar")
    session_type: type[InfluxqlSession] = InfluxdbSession

    def find(self, home: str) -> Installation | None:
        """One without a version is taken for 1.x."""
        server = packaged(self.facts.name, "influxd", home, "version", r"v(\d+(?:\.\d+)*)")
        return server if server and (server.version or "1").partition(".")[0] == self.major else None

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        if not is_ours:
            return {"shard_duration": trial.knobs["shard_duration"]}
        return {
            "gomaxprocs": cores_of(trial),
            "data_max_concurrent_compactions": str(max(1, int(cores_of(trial)) // 2)),
            "data_cache_max_memory_size": str(1 << 30),
            "data_cache_snapshot_memory_size": str(25 << 20),
            "data_max_series_per_database": "0",
            "data_max_values_per_tag": "0",
            **{k: v for k, v in trial.knobs.items() if k != "connections"},
        }

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        root = f"{site.data_dir}/influxdb"
        settings = self.settings(trial, is_ours=True)
        items = {
            **{k: v for k, v in settings.items() if k not in _NOT_ITEMS},
            "reporting_disabled": "true",
            "bind_address": f"{site.bind_address}:0",  # for backups, which are not used here
            "http_bind_address": f"{site.bind_address}:{site.port}",
            "http_log_enabled": "false",
            "monitor_store_enabled": "false",
            "continuous_queries_enabled": "false",
            "retention_enabled": "false",
            "logging_level": "warn",
            "data_query_log_enabled": "false",
            "meta_dir": f"{root}/meta",
            "data_dir": f"{root}/data",
            "data_wal_dir": f"{root}/wal",
        }
        return ServerSpec(
            argv=(f"{site.home}/bin/influxd", "run", "-config", "/dev/null"),
            env={
                **{f"INFLUXDB_{name.upper()}": value for name, value in items.items()},
                "GOMAXPROCS": settings["gomaxprocs"],
                **ENVIRONMENT,
            },
            ports=(site.port,),
            stop_timeout_s=30.0,
        )
