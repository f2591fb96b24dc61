"""A session with InfluxDB 2 over HTTP: organisation, token, bucket, settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from scale_sweep.base.errors import TargetError
from scale_sweep.model import Trial
from scale_sweep.server.targets import Address
from scale_sweep.server.targets.influxdb.influxql import DATABASE, WITHIN_S, InfluxqlSession, terms
from scale_sweep.server.targets.influxdb.spelling import go_duration, spelled
from scale_sweep.server.targets.web import metrics

ROOT = "influxdb2"
ENGINE = f"{ROOT}/engine"
ORGANISATION = "scale"
SCHEME = "Token"
_SNAPSHOTS = "storage_compactions_duration_seconds_count{"
_OF_THIS_TRIAL = ("_path", "http_bind_address", "vault_token")
_TIMES = ("_timeout", "_delay", "_duration", "_interval", "_period")
_SECONDS = {"h": 3600, "d": 86400, "w": 604800}


class InfluxdbV2Session(InfluxqlSession):
    """The trial's secret is the token, which the set-up of the empty server makes known to it."""

    log_folder = f"{ENGINE}/wal"

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address, settings, f"{SCHEME} {address.secret}" if address.secret else "")
        self._organisation: Mapping[str, Any] = {}

    def _get(self, path: str, **query: str) -> Any:
        self.asking = path
        return self._web.get_json(path, self.left_s(WITHIN_S), **query)

    def _post(self, path: str, **content: Any) -> Any:
        self.asking = path
        return self._web.ask_json(path, self.left_s(WITHIN_S), json.dumps(content))

    def not_ready(self) -> str:
        """The server's message while it starts."""
        self.asking = "/health"
        return self._web.refusal("/health", self.left_s(10))

    def version(self) -> str:
        """The version in the server's report of its health, which needs no token."""
        return str(self._get("/health")["version"]).removeprefix("v")

    def create_schema(self) -> None:
        """Sets a server of ours up, and creates one bucket whose rows never expire, with the given shard duration. The
        bucket is a database for statements: by itself, or by a mapping in versions that need one."""
        if self._address.is_ours:
            secret, names = self._address.secret, {"username": ORGANISATION, "org": ORGANISATION, "bucket": "first"}
            self._post("/api/v2/setup", **names, password=secret, token=secret)
        duration = shard_seconds(self._trial.knobs["shard_duration"])
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
        """The trial's bucket. Raises TargetError if there is none."""
        buckets = self._get("/api/v2/buckets", orgID=self._owner()["id"], name=DATABASE)["buckets"]
        if not buckets:
            raise TargetError(f"InfluxDB has no bucket {DATABASE}")
        bucket: Mapping[str, Any] = buckets[0]
        return bucket

    def expected(self) -> Mapping[str, str]:
        """Everything that was set for the trial, but Go's threads: the server does not report them. Durations are in
        its spelling; sizes are not changed, because its units are of 1000."""
        return {name: spelled("", text) for name, text in self._settings.items() if name != "gomaxprocs"}

    def effective(self) -> Mapping[str, str]:
        """Its flags with underscores, and the duration of shards. A token of the user's may not be allowed to read the
        flags."""
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
        return {**self._load_spec(f"/api/v2/write?{where}"), "auth_scheme": SCHEME}

    def commit_cycles(self) -> int | None:
        """Snapshots of the cache that became files."""
        self.asking = "/metrics"
        counters = metrics(self._web.get("/metrics", self.left_s(WITHIN_S)))
        cached = [name for name in counters if name.startswith(_SNAPSHOTS) and 'level="cache"' in name]
        return int(sum(counters[name] for name in cached))

    def drop_schema(self) -> None:
        self.asking = "/api/v2/buckets"
        self._web.delete(f"/api/v2/buckets/{self._bucket()['id']}", self.left_s(WITHIN_S))


def _text(name: str, value: object) -> str:
    """A value of its configuration as its flag is written. Some durations come as nanoseconds."""
    if isinstance(value, int) and name.endswith(_TIMES):
        return go_duration(value // 1_000_000)
    return value if isinstance(value, str) else json.dumps(value)


def shard_seconds(duration: str) -> int:
    """Seconds of "7d", "12h". Raises ValueError for what is not such a time above 0."""
    number, unit = duration[:-1], duration[-1:]
    if not number.isdigit() or not int(number) or unit not in _SECONDS:
        raise ValueError(f"{duration!r} is not a time such as 7d or 12h")
    return int(number) * _SECONDS[unit]
