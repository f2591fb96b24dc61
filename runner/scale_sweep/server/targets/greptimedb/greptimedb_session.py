"""A session with GreptimeDB over HTTP: settings, a flush, the count. The first line of a device makes its table.

Written from the documentation of its HTTP interface, and not tried on a server.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.base.files import below, sync
from scale_sweep.model import Trial
from scale_sweep.server.targets import Address, Counted, Session, series
from scale_sweep.server.targets.nouns import ACKNOWLEDGED, COMPRESSION, IN_LOG, ON_DISK
from scale_sweep.server.targets.web import Web

WITHIN_S = 3600.0
ROOT = "greptimedb"  # the folder of its files
_DATABASE = "public"
_TIME = "greptime_timestamp"  # the column of the times of lines
_PER_MS = {"TimestampMillisecond": 1, "TimestampMicrosecond": 1000, "TimestampNanosecond": 1_000_000}


class GreptimedbSession(Session):
    """Statements by POST /v1/sql, one connection for each."""

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address)
        self._settings = settings
        self._web = Web(who="GreptimeDB", host=address.host, port=address.port)

    def _records(self, sql: str) -> dict[str, Any]:
        """The schema and the rows of one statement's answer; empty for a statement without rows."""
        self.asking = sql[:60]
        answer = self._web.post_json(f"/v1/sql?db={_DATABASE}", self.left_s(WITHIN_S), sql=sql)
        if answer.get("code"):
            raise TargetError(f"GreptimeDB refused {sql[:60]!r}: {answer.get('error')}")
        records: dict[str, Any] = answer["output"][0].get("records", {})
        return records

    def not_ready(self) -> str:
        """The server's message while it starts."""
        self.asking = "/health"
        return self._web.refusal("/health", self.left_s(10))

    def version(self) -> str:
        self.asking = "/status"
        return str(self._web.get_json("/status", self.left_s(10))["version"])

    def expected(self) -> Mapping[str, str]:
        """Everything that was set for the trial."""
        return self._settings

    def effective(self) -> Mapping[str, str]:
        """The server's configuration, and the place and the form of the rows by its documentation."""
        self.asking = "/config"
        items = dict(_items(tomllib.loads(self._web.get("/config", self.left_s(10)))))
        answered = ON_DISK if items.get("wal.sync_write") == "true" else IN_LOG
        return {**items, ACKNOWLEDGED: answered, COMPRESSION: "columns by device and time, Parquet"}

    def load_spec(self) -> Mapping[str, str]:
        return series.load_spec(self._trial, self._address, f"/v1/influxdb/write?db={_DATABASE}&precision=ms")

    def flush(self) -> None:
        """Writes the rows in memory into files, and syncs all files."""
        self._records(f"ADMIN flush_table('{series.MEASUREMENT}')")
        if self._address.data_dir:
            self.asking = "an fsync of its files"
            sync(below(Path(self._address.data_dir, ROOT)))

    def count(self) -> Counted | None:
        """The rows of each device, which must be consecutive from the first timestamp on."""
        records = self._records(
            f'SELECT "{series.DEVICE}", count(*), min({_TIME}), max({_TIME})'
            f' FROM "{series.MEASUREMENT}" GROUP BY "{series.DEVICE}"'
        )
        unit = records["schema"]["column_schemas"][2]["data_type"]
        if unit not in _PER_MS:
            raise TargetError(f"GreptimeDB's times have the unknown type {unit}")
        per_ms = _PER_MS[unit]
        by_device = {str(d): (int(n), int(first) / per_ms, int(last) / per_ms) for d, n, first, last in records["rows"]}
        return series.counted(by_device, self._trial.work.data, is_distinct=True)

    def drop_schema(self) -> None:
        self._records(f'DROP TABLE IF EXISTS "{series.MEASUREMENT}"')


def _items(section: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Each item as section.name; lists are left out."""
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _items(value, f"{before}{name}.")
        elif not isinstance(value, list):
            yield f"{before}{name}", str(value).lower() if isinstance(value, bool) else str(value)
