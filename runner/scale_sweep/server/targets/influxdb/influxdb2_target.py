"""InfluxDB 2: one bucket, loaded with lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from scale_sweep.base.errors import TargetError
from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Address, Surroundings
from scale_sweep.server.targets.base import ENVIRONMENT, WITHIN_S, cores_of
from scale_sweep.server.targets.influxdb.influxdb_session import DATABASE, InfluxqlSession, go_duration, spelled, terms
from scale_sweep.server.targets.influxdb.influxdb_target import InfluxdbTarget
from scale_sweep.server.targets.installations import refused_flags, run_program
from scale_sweep.server.targets.records import seconds_of, wrong_input

ROOT = "influxdb2"
ENGINE = f"{ROOT}/engine"
ORGANISATION = "scale"
SCHEME = "Token"
_SNAPSHOTS = "storage_compactions_duration_seconds_count{"
_OF_THIS_TRIAL = ("_path", "http_bind_address", "vault_token")
_TIMES = ("_timeout", "_delay", "_duration", "_interval", "_period")
UNITS = "hdw"  # of the duration of shards


class InfluxdbV2Session(InfluxqlSession):
    """The secret is the token, which the set-up of an empty server makes known to it."""

    log_folder = f"{ENGINE}/wal"
    ready_path = "/health"

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address, settings, f"{SCHEME} {address.secret}" if address.secret else "")
        self._organisation: Mapping[str, Any] = {}

    def _post(self, path: str, **content: Any) -> Any:
        return self._posted(path, path, json.dumps(content))

    def version(self) -> str:
        return str(self._get("/health")["version"]).removeprefix("v")

    def create_schema(self) -> None:
        """Sets a server of ours up, and creates a bucket whose rows never expire. It is a database for statements, in
        some versions by a mapping."""
        if self._address.is_ours:
            secret, names = self._address.secret, {"username": ORGANISATION, "org": ORGANISATION, "bucket": "first"}
            self._post("/api/v2/setup", **names, password=secret, token=secret)
        duration = seconds_of(self._trial.knobs["shard_duration"], UNITS)
        rule = {"type": "expire", "everySeconds": 0, "shardGroupDurationSeconds": duration}
        organisation = self._owner()["id"]
        made = self._post("/api/v2/buckets", orgID=organisation, name=DATABASE, retentionRules=[rule])
        if not self._get("/api/v2/dbrps", orgID=organisation, db=DATABASE)["content"]:
            named = {"database": DATABASE, "retention_policy": "autogen", "default": True}
            self._post("/api/v2/dbrps", orgID=organisation, bucketID=made["id"], **named)

    def _owner(self) -> Mapping[str, Any]:
        if not self._organisation:
            organisations = self._get("/api/v2/orgs")["orgs"]
            if not organisations:
                raise TargetError("InfluxDB has no organisation for this token", remedy="give a token that can write")
            self._organisation = organisations[0]
        return self._organisation

    def _bucket(self) -> Mapping[str, Any]:
        buckets = self._get("/api/v2/buckets", orgID=self._owner()["id"], name=DATABASE)["buckets"]
        if not buckets:
            raise TargetError(f"InfluxDB has no bucket {DATABASE}")
        bucket: Mapping[str, Any] = buckets[0]
        return bucket

    def expected(self) -> Mapping[str, str]:
        """Without Go's threads, which the server does not report. Durations are in its spelling; its units of sizes
        are of 1000."""
        return {name: spelled("", text) for name, text in self._settings.items() if name != "gomaxprocs"}

    def effective(self) -> Mapping[str, str]:
        """Flags with underscores, and the duration of shards. A user's token may not read the flags."""
        try:
            config = self._get("/api/v2/config")["config"]
        except TargetError:
            if self._address.is_ours:
                raise
            config = {}
        reported = {name.replace("-", "_"): value for name, value in config.items()}
        texts = {name: _text(name, value) for name, value in reported.items() if not name.endswith(_OF_THIS_TRIAL)}
        duration = go_duration(1000 * self._bucket()["retentionRules"][0]["shardGroupDurationSeconds"])
        return {**texts, "shard_duration": duration, **terms(texts.get("storage_wal_fsync_delay"))}

    def load_spec(self) -> Mapping[str, str]:
        organisation = ORGANISATION if self._address.is_ours else self._owner()["id"]
        where = urlencode({"org": organisation, "bucket": DATABASE, "precision": "ms"})
        return self._load_spec(f"/api/v2/write?{where}", auth_scheme=SCHEME)

    def commit_cycles(self) -> int | None:
        """Snapshots of the cache."""
        counters = self._metrics()
        cached = [name for name in counters if name.startswith(_SNAPSHOTS) and 'level="cache"' in name]
        return int(sum(counters[name] for name in cached))

    def drop_schema(self) -> None:
        self.asking = "/api/v2/buckets"
        self._web.ask("DELETE", f"/api/v2/buckets/{self._bucket()['id']}", self.left_s(WITHIN_S))


def _text(name: str, value: object) -> str:
    """As its flag is written. Some durations come as nanoseconds."""
    if isinstance(value, int) and name.endswith(_TIMES):
        return go_duration(value // 1_000_000)
    return value if isinstance(value, str) else json.dumps(value)


_NOT_FLAGS = {"connections", "shard_duration", "gomaxprocs"}
_DOUBTFUL = re.compile(  # a failed write has the level info, which is the default
    r"write failed|error (writing|adding|compacting)|cache-max-memory-size exceeded|partial write|points? dropped"
    r"|no space left|panic:|fatal error:|out of memory|failed to (write|fsync|sync)",
    re.IGNORECASE,
)


class InfluxdbV2Target(InfluxdbTarget):
    major = "2"
    doubtful = _DOUBTFUL
    session_type = InfluxdbV2Session

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        if not is_ours:
            return {"shard_duration": trial.knobs["shard_duration"]}
        return {
            "gomaxprocs": cores_of(trial),
            "storage_max_concurrent_compactions": str(max(1, int(cores_of(trial)) // 2)),
            "storage_cache_max_memory_size": str(1 << 30),
            "storage_cache_snapshot_memory_size": str(25 << 20),
            **{k: v for k, v in trial.knobs.items() if k != "connections"},
        }

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        findings = super().check(trial, around)
        try:
            seconds_of(trial.knobs["shard_duration"], UNITS)
        except ValueError as error:
            return (*findings, wrong_input("--knob", f"shard_duration: {error}", "--knob shard_duration=7d"))
        return findings

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """In its own words: it checks flags before it prints its configuration."""
        flags = _flags(self.settings(trial, is_ours=True))
        done = run_program((f"{home}/bin/influxd", "print-config", *flags))
        return refused_flags("InfluxDB", done, line_begins="Error")

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
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
                **ENVIRONMENT,
            },
            ports=(site.port,),
            stop_signal="SIGINT",  # SIGTERM ends it at once, without a handler
            stop_timeout_s=30.0,
        )


def _flags(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"--{name.replace('_', '-')}={value}" for name, value in settings.items() if name not in _NOT_FLAGS)
