"""A session with InfluxDB 1.x over HTTP: the database, settings, the count. Its log is synced from outside."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.errors import TargetError
from runner.files import below
from runner.model import Cells, Drawn, Trial
from runner.targets import Address, Counted, Session, series
from runner.targets.influxdb.queries import rows_of
from runner.targets.marks import filled
from runner.targets.nouns import ACKNOWLEDGED, COMPRESSION, IN_LOG, ON_DISK
from runner.targets.web import Web

DATABASE = "scale"
WITHIN_S = 3600.0
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
_DURATION = re.compile(r"(\d+)(ms|[smhdw])")
_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_BYTES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class InfluxdbSession(Session):
    """Statements by POST /query, one connection for each."""

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address)
        self._settings = settings
        self._web = Web(who="InfluxDB", host=address.host, port=address.port)

    def _series(self, statement: str) -> Iterator[dict[str, Any]]:
        """The series of one statement's answer: each has a name, columns, values and possibly tags."""
        self.asking = statement[:60]
        answer = self._web.post_json("/query", self.left_s(WITHIN_S), q=statement, db=DATABASE, epoch="ms")
        for result in answer["results"]:
            if "error" in result:
                raise TargetError(f"InfluxDB refused {statement[:60]!r}: {result['error']}")
            yield from result.get("series", ())

    def _run(self, statement: str) -> list[dict[str, Any]]:
        return list(self._series(statement))

    def not_ready(self) -> str:
        """The server's message while it starts."""
        self.asking = "ping"
        try:
            self._web.get("/ping", self.left_s(10))
        except TargetError as error:
            return error.message
        return ""

    def version(self) -> str:
        found = {
            one["name"]: dict(zip(one["columns"], one["values"][0], strict=True))
            for one in self._run("SHOW DIAGNOSTICS")
        }
        return str(found["build"]["Version"])

    def create_schema(self) -> None:
        """Creates one database whose rows never expire, with the given shard duration."""
        duration = self._trial.knobs["shard_duration"]
        self._run(f'CREATE DATABASE "{DATABASE}" WITH DURATION INF SHARD DURATION {duration} NAME "autogen"')

    def expected(self) -> Mapping[str, str]:
        """Everything that was set for the trial; durations and sizes in the server's spelling."""
        return {name: _spelled(name, text) for name, text in self._settings.items()}

    def effective(self) -> Mapping[str, str]:
        """Its configuration as section_name, Go's resources, and the duration of shards."""
        said: dict[str, str] = {}
        for one in self._run("SHOW DIAGNOSTICS"):
            prefix = _SECTIONS.get(one["name"])
            for name, value in zip(one["columns"], one["values"][0], strict=True) if prefix is not None else ():
                if not name.endswith(_OF_THIS_TRIAL):
                    item = f"{prefix}_{name.replace('-', '_')}".strip("_").lower()
                    said[item] = str(value).lower() if isinstance(value, bool) else str(value)
        policies = self._run(f'SHOW RETENTION POLICIES ON "{DATABASE}"')[0]
        first = dict(zip(policies["columns"], policies["values"][0], strict=True))
        terms = {
            ACKNOWLEDGED: ON_DISK if said.get("data_wal_fsync_delay") == "0s" else IN_LOG,
            COMPRESSION: "columns by series, compressed by type",
        }
        return {**said, "shard_duration": str(first["shardGroupDuration"]), **terms}

    def load_spec(self) -> Mapping[str, str]:
        spec = series.load_spec(self._trial, self._address, f"/write?db={DATABASE}&precision=ms")
        asking = {"query_path": f"/query?db={DATABASE}&epoch=ms&q=", "answer_rows": "values"}
        return {**spec, **asking} if self._trial.work.counts_requests else spec

    def commit_cycles(self) -> int | None:
        """Snapshots of the cache that became files."""
        found = self._run("SHOW STATS FOR 'tsm1_engine'")
        return sum(int(dict(zip(o["columns"], o["values"][0], strict=True))["cacheCompactions"]) for o in found)

    def flush(self) -> None:
        """Syncs the files of its log. With a delay of 0s the server does so itself before it answers."""
        folder = Path(self._address.data_dir, "influxdb", "wal")
        for path in below(folder) if self._address.data_dir else ():
            if path.suffix != ".wal":
                continue
            try:
                handle = os.open(path, os.O_RDONLY)
            except FileNotFoundError:  # a snapshot became a file meanwhile
                continue
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def count(self) -> Counted | None:
        """The rows of each device by its first column, which must be consecutive from the first timestamp on."""
        column = next(iter(series.columns_of(self._trial.work.data)))
        rows = self._by_device(f'count("{column}")', 1)
        first, last = self._by_device(f'first("{column}")', 0), self._by_device(f'last("{column}")', 0)
        found = {device: (int(n), float(first[device]), float(last[device])) for device, n in rows.items()}
        return series.counted(found, self._trial.work.data, is_distinct=True)

    def _by_device(self, what: str, at: int) -> dict[str, Any]:
        """One value of each device's row: its time (at 0), or the requested value (at 1)."""
        statement = f'SELECT {what} FROM "{series.MEASUREMENT}" GROUP BY "{series.DEVICE}"'
        return {one["tags"][series.DEVICE]: one["values"][0][at] for one in self._series(statement)}

    def answers(self, asked: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        return tuple(tuple(rows_of(text, self._series(filled(text, one, names, str)))) for text, one in asked)

    def drop_schema(self) -> None:
        self._run(f'DROP DATABASE "{DATABASE}"')


def _spelled(name: str, text: str) -> str:
    """168h0m0s for 7d and 1.5s for 1500ms, as Go writes durations; bytes for a size; other texts unchanged."""
    if name.endswith("_size"):
        number, unit = text[:-1], text[-1:].lower()
        return str(int(number) * _BYTES[unit]) if number.isdigit() and unit in _BYTES else text
    if not re.fullmatch(f"({_DURATION.pattern})+", text):
        return text
    ms = sum(int(number) * _MS[unit] for number, unit in _DURATION.findall(text))
    if ms < 1000:
        return f"{ms}ms" if ms else "0s"
    minutes, rest = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest / 1000:g}s"
    return f"{hours}h{minutes}m{seconds}" if hours else f"{minutes}m{seconds}" if minutes else seconds
