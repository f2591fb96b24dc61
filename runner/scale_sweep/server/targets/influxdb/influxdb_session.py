"""A session with InfluxDB 1.x over HTTP: the database and its settings. The rest is in influxql.py."""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.model import Trial
from scale_sweep.server.targets import Address
from scale_sweep.server.targets.influxdb.influxql import DATABASE, InfluxqlSession, terms
from scale_sweep.server.targets.influxdb.spelling import spelled
from scale_sweep.server.targets.web import BASIC, basic

_OF_THIS_TRIAL = ("dir", "bind-address", "path")
_SECTIONS = {  # of SHOW DIAGNOSTICS, and what the items of each begin with in the configuration
    "config-data": "data",
    "config-coordinator": "coordinator",
    "config-httpd": "http",
    "config-monitor": "monitor",
    "config-precreator": "shard_precreation",
    "config-retention": "retention",
    "config-subscriber": "subscriber",
    "config-cqs": "continuous_queries",
    "runtime": "",
}


class InfluxdbSession(InfluxqlSession):
    """The database is made by a statement, and the settings are the server's diagnostics."""

    log_folder = "influxdb/wal"

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        self._has_login = bool(address.secret) and not address.is_ours
        super().__init__(trial, address, settings, basic(address.user, address.secret) if self._has_login else "")

    def not_ready(self) -> str:
        """The server's message while it starts."""
        self.asking = "ping"
        return self._web.refusal("/ping", self.left_s(10))

    def version(self) -> str:
        versions = {
            one["name"]: dict(zip(one["columns"], one["values"][0], strict=True))
            for one in self._run("SHOW DIAGNOSTICS")
        }
        return str(versions["build"]["Version"])

    def in_the_way(self) -> str:
        names = [row[0] for one in self._run("SHOW DATABASES") for row in one.get("values", ())]
        return f"InfluxDB has a database {DATABASE}, which a trial would make and remove" if DATABASE in names else ""

    def create_schema(self) -> None:
        """Creates one database whose rows never expire, with the given shard duration."""
        duration = self._trial.knobs["shard_duration"]
        self._run(f'CREATE DATABASE "{DATABASE}" WITH DURATION INF SHARD DURATION {duration} NAME "autogen"')

    def expected(self) -> Mapping[str, str]:
        """Everything that was set for the trial; durations and sizes in the server's spelling."""
        return {name: spelled(name, text) for name, text in self._settings.items()}

    def effective(self) -> Mapping[str, str]:
        """Its configuration as section_name, Go's resources, and the duration of shards."""
        reported: dict[str, str] = {}
        for one in self._run("SHOW DIAGNOSTICS"):
            prefix = _SECTIONS.get(one["name"])
            for name, value in zip(one["columns"], one["values"][0], strict=True) if prefix is not None else ():
                if not name.endswith(_OF_THIS_TRIAL):
                    item = f"{prefix}_{name.replace('-', '_')}".strip("_").lower()
                    reported[item] = str(value).lower() if isinstance(value, bool) else str(value)
        policies = self._run(f'SHOW RETENTION POLICIES ON "{DATABASE}"')[0]
        first = dict(zip(policies["columns"], policies["values"][0], strict=True))
        delay = reported.get("data_wal_fsync_delay")
        return {**reported, "shard_duration": str(first["shardGroupDuration"]), **terms(delay)}

    def load_spec(self) -> Mapping[str, str]:
        spec = self._load_spec(f"/write?db={DATABASE}&precision=ms")
        return {**spec, "user": self._address.user, "auth_scheme": BASIC} if self._has_login else spec

    def commit_cycles(self) -> int | None:
        """Snapshots of the cache that became files."""
        series = self._run("SHOW STATS FOR 'tsm1_engine'")
        return sum(int(dict(zip(o["columns"], o["values"][0], strict=True))["cacheCompactions"]) for o in series)

    def drop_schema(self) -> None:
        self._run(f'DROP DATABASE "{DATABASE}"')
