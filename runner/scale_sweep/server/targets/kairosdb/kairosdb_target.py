"""KairosDB: each column of a row is a point of a series."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.experiment.work.sums import column_types
from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.questions import Cells
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Address, Counted, Surroundings, series
from scale_sweep.server.targets.base import ENVIRONMENT, WITHIN_S
from scale_sweep.server.targets.cassandra_node import DOUBTFUL as DOUBTFUL_OF_CASSANDRA
from scale_sweep.server.targets.java import JavaTarget, java_settings, options
from scale_sweep.server.targets.java import effective as jvm
from scale_sweep.server.targets.kairosdb.kairosdb_queries import QUERY_PATH, rows_of
from scale_sweep.server.targets.kairosdb.kairosdb_stores import STORES, is_item, store_of
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, NOWHERE, first_of, lines_with, wrong_input
from scale_sweep.server.targets.web import WebSession

STEADY_S = 2.0  # the number of rows without answers stays so long when all are there
FLUSHED = "scale_flush"  # a series for a session's own points
_VERSION = "/api/v1/version"
_DAY_MS = 86_400_000
_OF_STORE = "cassandra_heap"
_NOT_ITEMS = {"connections", "heap", _OF_STORE}
_LOG = """<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%d %level %logger %msg%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="out"/></root></configuration>
"""
_DOUBTFUL = re.compile(
    r"ERROR .*|.*(OutOfMemoryError|No space left|JdbcSQL\w*Exception|MVStoreException|IllegalStateException).*"
)


class KairosdbSession(WebSession):
    who = "KairosDB"
    ready_path = _VERSION
    reading: Mapping[str, str] = {
        "query_path": QUERY_PATH,
        "query_posted": "1",
        "answer_rows": "values",
        "answer_column": "name",
    }

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address, settings)
        self._store = store_of(trial)
        self._is_answered = trial.subject.method != series.TELNET

    def _pending(self) -> str:
        self.asking = f"a first question to {self._store.name}"
        self._store.start_kairosdb(self._address, self.left_s(10))
        return super()._pending()

    def version(self) -> str:
        version = str(self._web.get_json(_VERSION, self.left_s(10))["version"])
        return version.removeprefix("KairosDB ").rpartition(".")[0]

    def effective(self) -> Mapping[str, str]:
        """KairosDB does not report its own, and the trial notes that."""
        reported = self._store.effective(self._address, self.left_s(WITHIN_S))
        return {
            **{name: value for name, value in reported.items() if name in self._settings or name.endswith("_version")},
            **jvm(self._address.data_dir),
            ACKNOWLEDGED: self._store.acknowledged if self._is_answered else NOWHERE,
            COMPRESSION: self._store.compression,
        }

    def load_spec(self) -> Mapping[str, str]:
        """Points in JSON, or as lines of telnet to another port. Times are milliseconds in both."""
        table = {"table": series.MEASUREMENT}
        if not self._is_answered:
            door = str(self._address.port + series.DOOR_OFFSET)
            return self.spec_of(series.POINTS_DRIVER, port=door, **table, write_path="")
        return self._spec(series.POINTS_DRIVER, **table, write_path="/api/v1/datapoints")

    def commit_cycles(self) -> int | None:
        return self._store.commit_cycles(self._address, self.left_s(WITHIN_S))

    def flush(self) -> None:
        """All that was acknowledged is stored, and on disk."""
        self._wait_for_queue()
        self.asking = f"{self._store.name} to write its rows to disk"
        self._store.flush(self._address, self._store_point, self.left_s(WITHIN_S))

    def _store_point(self) -> None:
        point = [{"name": FLUSHED, "tags": {series.DEVICE: "d0"}, "datapoints": [[time.time_ns() // 1_000_000, 1]]}]
        self._web.post("/api/v1/datapoints", self.left_s(WITHIN_S), json.dumps(point))

    def _wait_for_queue(self) -> None:
        """Its queue keeps the order, so a point of ours comes last; a second one when those beside the first are stored
        too."""
        self.asking = "a point behind all others"
        deadline = time.monotonic() + self.left_s(WITHIN_S)
        for _ in range(2 if self._store.is_queued else 0):
            before = self._points(FLUSHED)
            self._store_point()
            while self._points(FLUSHED) == before:
                if time.monotonic() > deadline:
                    raise TargetError("KairosDB did not store its queue in time")
                time.sleep(0.1)
        if not self._is_answered:
            self._wait_for_telnet()

    def _points(self, name: str) -> float:
        return sum(n for _, n in self._by_device(name, "count").values())

    def _wait_for_telnet(self) -> None:
        """KairosDB says nothing of lines that it still has to store, so the number of points must stay the same."""
        names = self._metrics_of_columns().values()
        deadline = time.monotonic() + self.left_s(WITHIN_S)
        before, since = -1.0, time.monotonic()
        while time.monotonic() < since + STEADY_S:
            points = sum(map(self._points, names))
            if points != before:
                before, since = points, time.monotonic()
            if time.monotonic() > deadline:
                raise TargetError(f"KairosDB still stores lines of telnet, {points:.0f} points by now")
            time.sleep(0.2)

    def count(self) -> Counted | None:
        self._wait_for_queue()
        metrics = self._metrics_of_columns()
        counts = {column: self._by_device(name, "count") for column, name in metrics.items()}
        rows = {column: {device: n for device, (_, n) in devices.items()} for column, devices in counts.items()}
        column, name = next(iter(metrics.items()))
        first, last = self._by_device(name, "first"), self._by_device(name, "last")
        by_device = {device: (int(n), first[device][0], last[device][0]) for device, n in rows[column].items()}
        return series.counted_by_column(by_device, rows, self._trial.work.data, is_distinct=True)

    def _metrics_of_columns(self) -> dict[str, str]:
        return {name: f"{series.MEASUREMENT}_{name}" for name in column_types(self._trial.work.data)}

    def _by_device(self, metric: str, what: str) -> dict[str, tuple[float, float]]:
        """Time and value of an aggregate of each device, over all times."""
        aggregator = {"name": what, "sampling": {"value": 1000, "unit": "years"}}
        group = {"name": "tag", "tags": [series.DEVICE]}
        query = {
            "start_absolute": self._trial.work.data.start_ms - _DAY_MS,
            "cache_time": 0,
            "metrics": [{"name": metric, "group_by": [group], "aggregators": [aggregator]}],
        }
        answer = self._posted(f"{what} of {metric}", QUERY_PATH, json.dumps(query))
        by_device: dict[str, tuple[float, float]] = {}
        for one in answer["queries"][0]["results"]:
            if one["values"]:
                (device,) = one["tags"][series.DEVICE]
                by_device[str(device)] = (float(one["values"][0][0]), float(one["values"][0][1]))
        return by_device

    def _reply(self, statement: str, **more: Any) -> Any:
        return self._posted(statement[:80], QUERY_PATH, statement)

    def _cells(self, statement: str, answer: Any) -> Sequence[Cells]:
        return rows_of(statement, answer["queries"])


class KairosdbTarget(JavaTarget):
    types = series.POINT_TYPES
    session_type = KairosdbSession
    jar = "kairosdb-"

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        return {
            **java_settings(trial),
            "datastore": store_of(trial).name,
            **store_of(trial).settings(trial),
            **{k: v for k, v in trial.knobs.items() if k not in _NOT_ITEMS},
        }

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """Also for an unknown datastore, and for items of another one."""
        findings, store = list(super().check(trial, around)), store_of(trial)
        name = trial.knobs.get("datastore", store.name)
        if name not in STORES:
            sentence = f"KairosDB has no datastore {name!r} here"
            findings.append(wrong_input("--knob datastore", sentence, f"--knob datastore={' or '.join(STORES)}"))
        for knob in trial.knobs:
            if knob not in store.settings(trial) and (is_item(knob) or knob == _OF_STORE):
                sentence = f"{knob} belongs to another datastore: this trial has {store.name}"
                findings.append(wrong_input("--knob", sentence, f"leave out {knob}, or --knob datastore=NAME"))
        return tuple(findings)

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        return store_of(trial).check()

    def programs(self, trial: Trial, home: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*super().programs(trial, home), *store_of(trial).programs())))

    def image_folders(self) -> Mapping[str, str]:
        return {path: folder for store in STORES.values() for path, folder in store.image_folders().items()}

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        root = f"{site.data_dir}/kairosdb"
        settings = self.settings(trial, is_ours=True)
        is_telnet = trial.subject.method == series.TELNET
        door = site.port + series.DOOR_OFFSET
        telnet = {"telnetserver.address": f'"{site.bind_address}"', "telnetserver.port": str(door)}
        own = {"datastore", *store_of(trial).settings(trial), *(name for name in settings if name.startswith("jvm_"))}
        items = {
            **{name: f'"{value}"' for name, value in settings.items() if name not in own and not is_item(name)},
            **(telnet if is_telnet else {"service.telnet": '"<disabled>"'}),
            "service.reporter": '"<disabled>"',
            "jetty.address": f'"{site.bind_address}"',
            "jetty.port": str(site.port),
            "queue_processor.queue_path": f'"{root}/queue"',
            "query_cache.cache_dir": f'"{root}/cache"',
        }
        kairosdb = (
            self.java(site),
            *options(site.data_dir, settings["jvm_processors"], settings["jvm_heap"]),
            *(f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in ("lang", "util")),
            f"-Dlogback.configurationFile={root}/log/logback.xml",
            *("-cp", f"{site.home}/lib/*", "org.kairosdb.core.Main"),
            *("-c", "run", "-p", f"{root}/kairosdb.conf"),
        )
        started = store_of(trial).started(site, root, kairosdb, settings)
        items |= started.items
        text = "".join(f"kairosdb.{name} = {value}\n" for name, value in items.items())
        return ServerSpec(
            folders=(f"{site.data_dir}/tmp", f"{root}/cache", *started.folders),
            argv=started.argv,
            env=ENVIRONMENT,
            files={f"{root}/kairosdb.conf": text, f"{root}/log/logback.xml": _LOG, **started.files},
            ports=(site.port, *((door,) if is_telnet else ()), *started.ports),
            stop_timeout_s=30.0,
        )

    def suspicious(self, log: str) -> tuple[str, ...]:
        errors = (match.group(0) for match in map(_DOUBTFUL.search, log.splitlines()) if match)
        return first_of((*errors, *lines_with(DOUBTFUL_OF_CASSANDRA, log)))
