"""Sessions: what both versions of InfluxDB share, and InfluxDB 1.x."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.base.input_file import below, sync
from scale_sweep.experiment.work.sums import column_types
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import Cells
from scale_sweep.server.targets import Address, Counted, series
from scale_sweep.server.targets.influxdb.influxdb_queries import completed, figures_found, rows_of, statements
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_LOG, ON_DISK
from scale_sweep.server.targets.web import BASIC, WebSession, basic

DATABASE = "scale"


class InfluxqlSession(WebSession):
    who = "InfluxDB"
    log_folder = ""  # below the data directory
    reading: Mapping[str, str] = {"query_path": f"/query?db={DATABASE}&epoch=ms&q=", "answer_rows": "values"}

    def _reply(self, statement: str, epoch: str = "ms", **more: Any) -> Any:
        """epoch: the unit of the times."""
        return self._posted(statement[:60], "/query", q=statement, db=DATABASE, epoch=epoch)

    def _series(self, statement: str, answer: Any) -> Iterator[dict[str, Any]]:
        """Each has a name, columns, values and possibly tags."""
        for result in answer["results"]:
            if "error" in result:
                raise TargetError(f"InfluxDB refused {statement[:60]!r}: {result['error']}")
            yield from result.get("series", ())

    def _run(self, statement: str, epoch: str = "ms") -> list[dict[str, Any]]:
        return list(self._series(statement, self._reply(statement, epoch)))

    def _cells(self, statement: str, answer: Any) -> Sequence[Cells]:
        return rows_of(statement, self._series(statement, answer))

    def _load_spec(self, write_path: str, **login: str) -> dict[str, str]:
        return self._spec(series.DRIVER, table=series.MEASUREMENT, write_path=write_path, **login)

    def flush(self) -> None:
        """Syncs its log. With a delay of 0s the server does so before it answers."""
        logs = below(Path(self._address.data_dir, self.log_folder)) if self._address.data_dir else ()
        sync(path for path in logs if path.suffix == ".wal")  # one may become a data file meanwhile

    def count(self) -> Counted | None:
        """By device and its first column, as `series.counted`."""
        column = next(iter(column_types(self._trial.work.data)))
        rows = self._by_device(f'count("{column}")', 1)
        first, last = self._by_device(f'first("{column}")', 0), self._by_device(f'last("{column}")', 0)
        by_device = {device: (int(n), float(first[device]), float(last[device])) for device, n in rows.items()}
        return series.counted(by_device, self._trial.work.data, is_distinct=True)

    def _by_device(self, what: str, at: int) -> dict[str, Any]:
        """at: 0 for the time of each device's row, 1 for the value."""
        statement = f'SELECT {what} FROM "{series.MEASUREMENT}" GROUP BY "{series.DEVICE}"'
        return {one["tags"][series.DEVICE]: one["values"][0][at] for one in self._run(statement)}

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        data = self._trial.work.data
        by_device: dict[str, dict[str, Any]] = {}
        for statement in statements(data, devices):
            for one in self._run(statement.text, epoch="ns"):
                device = one.get("tags", {}).get(series.DEVICE, "")
                by_device.setdefault(device, {}).update(figures_found(statement, one["values"][0], data))
        return {device: completed(figures, data) for device, figures in by_device.items()}

    def stored_tags(self, names: Sequence[str]) -> Mapping[str, Set[tuple[str, ...]]]:
        column, tags_of = next(iter(column_types(self._trial.work.data))), collections.defaultdict(set)
        for one in self._run(f'SELECT first("{column}") FROM "{series.MEASUREMENT}" GROUP BY *'):
            tags_of[one["tags"][series.DEVICE]].add(tuple(str(one["tags"].get(name) or "") for name in names))
        return tags_of


def terms(fsync_delay: str | None) -> dict[str, str]:
    """fsync_delay: as the server reports it; None: it does not."""
    acknowledged = ON_DISK if fsync_delay == "0s" else IN_LOG
    return {ACKNOWLEDGED: acknowledged, COMPRESSION: "columns by series, compressed by type"}


_DURATION = re.compile(r"(\d+)(ms|[smhdw])")
_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_BYTES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def spelled(name: str, text: str) -> str:
    """168h0m0s for 7d and 1.5s for 1500ms, as Go writes them; bytes for a size; others unchanged."""
    if name.endswith("_size"):
        number, unit = text[:-1], text[-1:].lower()
        return str(int(number) * _BYTES[unit]) if number.isdigit() and unit in _BYTES else text
    if not re.fullmatch(f"({_DURATION.pattern})+", text):
        return text
    return go_duration(sum(int(number) * _MS[unit] for number, unit in _DURATION.findall(text)))


def go_duration(ms: int) -> str:
    """As Go writes it."""
    if ms < 1000:
        return f"{ms}ms" if ms else "0s"
    minutes, rest = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest / 1000:g}s"
    return f"{hours}h{minutes}m{seconds}" if hours else f"{minutes}m{seconds}" if minutes else seconds


_OF_THIS_TRIAL = ("dir", "bind-address", "path")
_SECTIONS = {  # of SHOW DIAGNOSTICS, with the prefixes of items in the configuration
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
    ready_path = "/ping"
    log_folder = "influxdb/wal"

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        self._has_login = bool(address.secret) and not address.is_ours
        super().__init__(trial, address, settings, basic(address.user, address.secret) if self._has_login else "")

    def version(self) -> str:
        versions = {one["name"]: _first(one) for one in self._run("SHOW DIAGNOSTICS")}
        return str(versions["build"]["Version"])

    def in_the_way(self) -> str:
        names = [row[0] for one in self._run("SHOW DATABASES") for row in one.get("values", ())]
        return f"InfluxDB has a database {DATABASE}, which a trial would make and remove" if DATABASE in names else ""

    def create_schema(self) -> None:
        duration = self._trial.knobs["shard_duration"]
        self._run(f'CREATE DATABASE "{DATABASE}" WITH DURATION INF SHARD DURATION {duration} NAME "autogen"')

    def expected(self) -> Mapping[str, str]:
        """In the server's spelling."""
        return {name: spelled(name, text) for name, text in self._settings.items()}

    def effective(self) -> Mapping[str, str]:
        reported: dict[str, str] = {}
        for one in self._run("SHOW DIAGNOSTICS"):
            prefix = _SECTIONS.get(one["name"])
            for name, value in _first(one).items() if prefix is not None else ():
                if not name.endswith(_OF_THIS_TRIAL):
                    item = f"{prefix}_{name.replace('-', '_')}".strip("_").lower()
                    reported[item] = str(value).lower() if isinstance(value, bool) else str(value)
        first = _first(self._run(f'SHOW RETENTION POLICIES ON "{DATABASE}"')[0])
        delay = reported.get("data_wal_fsync_delay")
        return {**reported, "shard_duration": str(first["shardGroupDuration"]), **terms(delay)}

    def load_spec(self) -> Mapping[str, str]:
        login = {"user": self._address.user, "auth_scheme": BASIC} if self._has_login else {}
        return self._load_spec(f"/write?db={DATABASE}&precision=ms", **login)

    def commit_cycles(self) -> int | None:
        """Snapshots of the cache."""
        return sum(int(_first(one)["cacheCompactions"]) for one in self._run("SHOW STATS FOR 'tsm1_engine'"))

    def drop_schema(self) -> None:
        self._run(f'DROP DATABASE "{DATABASE}"')


def _first(one: Mapping[str, Any]) -> dict[str, Any]:
    """The first row, by column."""
    return dict(zip(one["columns"], one["values"][0], strict=True))
