"""InfluxDB 2: one bucket, loaded with lines over HTTP."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from scale_sweep.model import Finding, ServerSpec, Site, Trial
from scale_sweep.server.targets import Address, Surroundings
from scale_sweep.server.targets.influxdb.influxdb2_session import ENGINE, ROOT, InfluxdbV2Session, shard_seconds
from scale_sweep.server.targets.influxdb.influxdb_target import InfluxdbTarget
from scale_sweep.server.targets.installations import refused_flags, run_program

_NOT_FLAGS = {"connections", "shard_duration", "gomaxprocs"}
_DOUBTFUL = re.compile(  # version 2 notes a failed write at the level info, which is its default
    r"write failed|error (writing|adding|compacting)|cache-max-memory-size exceeded|partial write|points? dropped"
    r"|no space left|panic:|fatal error:|out of memory|failed to (write|fsync|sync)",
    re.IGNORECASE,
)


class InfluxdbV2Target(InfluxdbTarget):
    """One server for each trial."""

    major = "2"
    doubtful = _DOUBTFUL

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """Flags with underscores, the threads that Go may use, and the shards' duration."""
        cores = max(1, math.ceil(trial.cores))
        if not is_ours:
            return {"shard_duration": trial.knobs["shard_duration"]}
        return {
            "gomaxprocs": str(cores),
            "storage_max_concurrent_compactions": str(max(1, cores // 2)),
            "storage_cache_max_memory_size": str(1 << 30),
            "storage_cache_snapshot_memory_size": str(25 << 20),
            **{k: v for k, v in trial.knobs.items() if k != "connections"},
        }

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """A finding for each column type that it does not have, and for a duration of shards that is none."""
        findings = super().check(trial, around)
        try:
            shard_seconds(trial.knobs["shard_duration"])
        except ValueError as error:
            sentence, remedy = f"shard_duration: {error}", "--knob shard_duration=7d"
            return (*findings, Finding(blocking=True, subject="--knob", sentence=sentence, remedy=remedy))
        return findings

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """Flags and values that it refuses, in its own words: it checks them before it prints its configuration."""
        flags = _flags(self.settings(trial, is_ours=True))
        done = run_program((f"{home}/bin/influxd", "print-config", *flags))
        return refused_flags("InfluxDB", done, line_begins="Error")

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """influxd, without the machine's configuration. The session makes the organisation and the token."""
        root = f"{site.data_dir}/{ROOT}"
        settings = self.settings(trial, is_ours=True)
        return ServerSpec(
            argv=(
                f"{site.home}/bin/influxd",
                *_flags(settings),
                f"--http-bind-address={site.bind_address}:{site.port}",
                f"--bolt-path={root}/influxd.bolt",
                f"--sqlite-path={root}/influxd.sqlite",
                f"--engine-path={site.data_dir}/{ENGINE}",
                "--reporting-disabled",
                "--ui-disabled",
                "--no-tasks",
            ),
            folders=(root,),
            env={
                "GOMAXPROCS": settings["gomaxprocs"],
                "INFLUXD_CONFIG_PATH": root,  # which has no configuration
                "HOME": site.data_dir,
                "TZ": "UTC",
                "LC_ALL": "C.UTF-8",
            },
            ports=(site.port,),
            stop_signal="SIGINT",  # SIGTERM ends it at once, without a handler
            stop_timeout_s=30.0,
        )

    def session(self, trial: Trial, address: Address) -> InfluxdbV2Session:
        return InfluxdbV2Session(trial, address, self.settings(trial, is_ours=address.is_ours))


def _flags(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"--{name.replace('_', '-')}={value}" for name, value in settings.items() if name not in _NOT_FLAGS)
