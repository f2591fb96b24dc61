"""A session with InfluxDB 3 Core over HTTP: the database, the count. Statements are InfluxQL, as those of 1.x.

Written from the documentation of its HTTP interface, and not tried on a server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.base.files import below, sync
from scale_sweep.server.targets.influxdb.influxql import DATABASE, WITHIN_S, InfluxqlSession
from scale_sweep.server.targets.nouns import ACKNOWLEDGED, COMPRESSION, IN_LOG

ROOT = "influxdb3"
_DATABASES = "/api/v3/configure/database"


class InfluxdbV3Session(InfluxqlSession):
    """Settings are not read back: the server reports none."""

    def not_ready(self) -> str:
        """The server's message while it starts."""
        self.asking = "/health"
        return self._web.refusal("/health", self.left_s(10))

    def version(self) -> str:
        self.asking = "/ping"
        return str(self._web.get_json("/ping", self.left_s(10))["version"])

    def create_schema(self) -> None:
        """Creates the database, whose rows never expire."""
        self.asking = _DATABASES
        self._web.post_text(_DATABASES, self.left_s(WITHIN_S), json.dumps({"db": DATABASE}))

    def effective(self) -> Mapping[str, str]:
        """The place and the form of the rows, by its documentation."""
        return {ACKNOWLEDGED: IN_LOG, COMPRESSION: "columns by time, Parquet"}

    def load_spec(self) -> Mapping[str, str]:
        return self._load_spec(f"/api/v3/write_lp?db={DATABASE}&precision=millisecond&accept_partial=false")

    def flush(self) -> None:
        """Syncs all files: the log is written into new ones, and none of them is synced by the server."""
        if self._address.data_dir:
            self.asking = "an fsync of its files"
            sync(below(Path(self._address.data_dir, ROOT)))

    def drop_schema(self) -> None:
        self.asking = _DATABASES
        self._web.delete(f"{_DATABASES}?db={DATABASE}", self.left_s(WITHIN_S))
