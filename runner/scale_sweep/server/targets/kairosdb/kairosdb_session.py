"""A session with KairosDB over HTTP: the count by series, and what waits until its queue is stored."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.loadgen.content import Content
from scale_sweep.model import Cells, Drawn, Query, Trial
from scale_sweep.server.targets import Address, Counted, Session, series
from scale_sweep.server.targets.java import effective as jvm
from scale_sweep.server.targets.kairosdb.kairosdb_queries import QUERY_PATH, rows_of
from scale_sweep.server.targets.kairosdb.kairosdb_stores import store_of
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, NOWHERE, parsed
from scale_sweep.server.targets.web import Web

WITHIN_S = 3600.0
STEADY_S = 2.0  # rows that come without being answered are all there when their number stays for so long
FLUSHED = "scale_flush"  # the series for a session's own points
_DAY_MS = 86_400_000


class KairosdbSession(Session):
    """One connection for each question."""

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address)
        self._settings = settings
        self._store = store_of(trial)
        self._web = Web(who="KairosDB", host=address.host, port=address.port)

    def not_ready(self) -> str:
        """The server's message while it starts."""
        self.asking = f"a first question to {self._store.name}"
        if why := self._store.not_ready(self._address, self.left_s(10)):
            return why
        self.asking = "/api/v1/version"
        return self._web.refusal("/api/v1/version", self.left_s(10))

    def version(self) -> str:
        """The version as the server reports it, without its build time."""
        version = str(self._web.get_json("/api/v1/version", self.left_s(10))["version"])
        return version.removeprefix("KairosDB ").rpartition(".")[0]

    def expected(self) -> Mapping[str, str]:
        """Everything that was set. KairosDB does not report its own settings: the trial notes that they are not
        confirmed."""
        return self._settings

    def effective(self) -> Mapping[str, str]:
        """The JVM's resources, and what the datastore reports."""
        reported = self._store.effective(self._address, self.left_s(WITHIN_S))
        return {
            **{name: value for name, value in reported.items() if name in self._settings or name.endswith("_version")},
            **jvm(self._address.data_dir),
            ACKNOWLEDGED: self._store.acknowledged if self._is_answered else NOWHERE,
            COMPRESSION: self._store.compression,
        }

    @property
    def _is_answered(self) -> bool:
        return self._trial.subject.method != series.TELNET

    def load_spec(self) -> Mapping[str, str]:
        """Points in JSON, or as lines of telnet to a port of their own. Times are milliseconds in both."""
        if not self._is_answered:
            return series.points_spec(self._trial, self._address.host, self._address.port + series.DOOR_OFFSET, "")
        spec = series.points_spec(self._trial, self._address.host, self._address.port, "/api/v1/datapoints")
        asking = {"query_path": QUERY_PATH, "query_posted": "1", "answer_rows": "values", "answer_column": "name"}
        return {**spec, **asking} if self._trial.work.counts_requests else spec

    def commit_cycles(self) -> int | None:
        """Chunks of H2's file, or memtables of Cassandra that became files."""
        return self._store.commit_cycles(self._address, self.left_s(WITHIN_S))

    def flush(self) -> None:
        """Returns when all that was acknowledged is stored, and is on disk."""
        self._wait_for_queue()
        self.asking = f"{self._store.name} to write its rows to disk"
        self._store.flush(self._address, self._store_point, self.left_s(WITHIN_S))

    def _store_point(self) -> None:
        point = [{"name": FLUSHED, "tags": {series.DEVICE: "d0"}, "datapoints": [[time.time_ns() // 1_000_000, 1]]}]
        self._web.post_text("/api/v1/datapoints", self.left_s(WITHIN_S), json.dumps(point))

    def _wait_for_queue(self) -> None:
        """Until KairosDB has stored what it acknowledged: its queue keeps the order, so a point of ours comes last. A
        second one comes when those that were stored beside the first have had their time."""
        self.asking = "a point behind all others"
        deadline = time.monotonic() + self.left_s(WITHIN_S)
        for _ in range(2 if self._store.is_queued else 0):
            before = self._points(FLUSHED)
            self._store_point()
            while self._points(FLUSHED) == before:
                if time.monotonic() > deadline:
                    raise TargetError("KairosDB did not store its queue in time")
                time.sleep(0.1)
        self._wait_for_telnet()

    def _points(self, name: str) -> float:
        return sum(n for _, n in self._by_device(name, "count").values())

    def _wait_for_telnet(self) -> None:
        """Until KairosDB has stored every line that came without being answered. It says nothing of those that it still
        has to store, so the number of points must stay the same for a while."""
        if self._is_answered:
            return
        names = self._metrics()
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
        """The points of each column of each device: equal for all columns, consecutive from the first timestamp on."""
        self._wait_for_queue()
        columns, names = series.columns_of(self._trial.work.data), self._metrics()
        counts = [self._by_device(name, "count") for name in names]
        first, last = self._by_device(names[0], "first"), self._by_device(names[0], "last")
        by_device = {device: (int(n), first[device][0], last[device][0]) for device, (_, n) in counts[0].items()}
        counted = series.counted(by_device, self._trial.work.data)
        of_first = {device: n for device, (_, n) in counts[0].items()}
        unlike = [
            column
            for column, other in zip(columns, counts, strict=True)
            if {device: n for device, (_, n) in other.items()} != of_first
        ]
        gaps = (f"columns {', '.join(unlike)} have other rows than {next(iter(columns))}",) if unlike else ()
        return Counted(rows=counted.rows, is_distinct=True, gaps=(*counted.gaps, *gaps))

    def _metrics(self) -> list[str]:
        return [f"{series.MEASUREMENT}_{name}" for name in series.columns_of(self._trial.work.data)]

    def _by_device(self, metric: str, what: str) -> dict[str, tuple[float, float]]:
        """Time and value of an aggregate of each device, over all times from a day before its first one."""
        sampling = {"value": 1000, "unit": "years"}
        query = {
            "start_absolute": self._trial.work.data.start_ms - _DAY_MS,
            "cache_time": 0,
            "metrics": [
                {
                    "name": metric,
                    "group_by": [{"name": "tag", "tags": [series.DEVICE]}],
                    "aggregators": [{"name": what, "sampling": sampling}],
                }
            ],
        }
        self.asking = f"{what} of {metric}"
        answer = self._web.ask_json(QUERY_PATH, self.left_s(WITHIN_S), json.dumps(query))
        by_device: dict[str, tuple[float, float]] = {}
        for one in answer["queries"][0]["results"]:
            if one["values"]:
                by_device[_device_of(one)] = (float(one["values"][0][0]), float(one["values"][0][1]))
        return by_device

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        return tuple(self._answer(filled(text, one, names, str)) for text, one in questions)

    def rows_handed(
        self, query: Query, text: str, drawn: Drawn, names: Sequence[str], content: Content
    ) -> Sequence[Cells]:
        return rows_of(filled(text, drawn, names, str), parsed(content)["queries"])

    def _answer(self, text: str) -> tuple[Cells, ...]:
        self.asking = text[:80]
        return rows_of(text, self._web.ask_json(QUERY_PATH, self.left_s(WITHIN_S), text)["queries"])


def _device_of(result: Mapping[str, Any]) -> str:
    (device,) = result["tags"][series.DEVICE]
    return str(device)
