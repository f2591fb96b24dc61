"""A session with OpenTSDB and its HBase."""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.base.input_file import below
from scale_sweep.experiment.work.sums import column_types
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import Cells
from scale_sweep.server.targets import Address, Counted, series
from scale_sweep.server.targets.base import WITHIN_S
from scale_sweep.server.targets.java import effective as jvm
from scale_sweep.server.targets.java import heap_bytes
from scale_sweep.server.targets.opentsdb import hbase
from scale_sweep.server.targets.opentsdb.opentsdb_queries import (
    ASKED,
    END_MS,
    FIRST_MS,
    NAME,
    POINTS,
    QUERY_PATH,
    metric,
    rows_of,
)
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_MEMORY, NOWHERE
from scale_sweep.server.targets.web import Web, WebSession

ROOT, HBASE, TSD = "opentsdb", "hbase", "tsd"  # folders: in the trial's directory, the others in it
MADE = "tables.made"  # in ROOT: the TSD starts when this file exists
FLUSH_LOG = "flush.log"  # in ROOT
JARS = "jars"  # in ROOT: the paths of those that run
# Ports, from that of the TSD on.
ZOOKEEPER, MASTER, REGIONS, INFO = 1, 2, 3, 4
FAMILY = {"VERSIONS": "1", "BLOOMFILTER": "ROW", "DATA_BLOCK_ENCODING": "DIFF"}
# As OpenTSDB's create_table.sh makes them, but for LZO, which no package registry has: table, then families.
TABLES = {"tsdb-uid": ("id", "name"), "tsdb": ("t",), "tsdb-tree": ("t",), "tsdb-meta": ("name",)}

FLUSHED = b"Finished flush of"  # a memstore became a file
NO_SUCH_NAME = "No such name"  # of a metric or a device that was never written
POINTS_AT_ONCE = 2_000_000  # with a heap of 1 GiB
NAMES_AT_ONCE = 500
GROUPS = tuple(str(group) for group in range(201))  # of tags
COLLECTED_S = 1.5  # rows of telnet wait so long in the TSD
_WAITING = ("pendingRPCs", "pendingBatchedRPCs", "rpcsInFlight")

Points = Mapping[str, float]  # by times in ms


class OpentsdbSession(WebSession):
    who = "OpenTSDB"
    ready_path = "/api/version"
    reading: Mapping[str, str] = {
        "query_path": QUERY_PATH,
        "query_posted": "1",
        "answer_rows": POINTS,
        "answer_column": NAME,
    }

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address, settings)
        self._info = Web(who="HBase", host=address.host, port=address.port + INFO)
        self._master = hbase.HBase(host=address.host, port=address.port + MASTER, service=hbase.MASTER)
        self._regions = hbase.HBase(host=address.host, port=address.port + REGIONS, service=hbase.REGIONS)
        self._making: tuple[int, ...] | None = None  # procedures of HBase

    def _pending(self) -> str:
        """Makes HBase's tables, without which no TSD starts."""
        return self._tables_pending() or super()._pending()

    def _tables_pending(self) -> str:
        made = Path(self._address.data_dir, ROOT, MADE)
        if not self._address.data_dir or made.exists():
            return ""
        self.asking = "HBase to make a table"
        if self._making is None:
            self._making = tuple(
                hbase.make_table(self._master, name, dict.fromkeys(families, FAMILY), self.left_s(20))
                for name, families in TABLES.items()
            )
        for procedure in filter(None, self._making):
            if not hbase.is_finished(self._master, procedure, self.left_s(20)):
                return "HBase makes its tables"
        made.touch()
        return "the TSD starts"

    def version(self) -> str:
        """That of its jar: the release has only a revision."""
        return self._version_of("opentsdb")

    def create_tables(self) -> None:
        """Names in HBase, for which the first rows would have to wait: metrics, devices, and for reads groups, because
        OpenTSDB refuses a query with a name that it has not."""
        data = self._trial.work.data
        metrics = [metric(name) for name in column_types(data)]
        devices = [f"d{i}" for i in range(data.tables)]
        self._assign({"metric": metrics, "tagk": [series.DEVICE]})
        for some in series.in_parts(devices, NAMES_AT_ONCE):
            self._assign({"tagv": some})
        if data.tags and self._trial.work.counts_requests:
            self._assign({"tagv": GROUPS})

    def _assign(self, names: Mapping[str, Sequence[str]]) -> None:
        self.asking = "/api/uid/assign"
        self._web.post("/api/uid/assign", self.left_s(WITHIN_S), json.dumps(names))

    def _version_of(self, program: str) -> str:
        """By the name of its jar; "" if there is none."""
        noted = Path(self._address.data_dir, ROOT, JARS)
        names = noted.read_text(encoding="utf-8") if self._address.data_dir and noted.is_file() else ""
        match = re.search(rf"/{program}-(\d[^\s/]*)\.jar\b", names)
        return match.group(1) if match else ""

    def effective(self) -> Mapping[str, str]:
        """Settings of both programs and both JVMs."""
        self.asking = "its settings"
        reported = {str(k): str(v) for k, v in self._web.get_json("/api/config", self.left_s(60)).items()}
        properties = self._info.get_json("/conf", self.left_s(60), format="json")["properties"]
        reported |= {str(one["key"]): str(one["value"]) for one in properties}
        root = f"{self._address.data_dir}/{ROOT}"
        is_answered = self._trial.subject.method != series.TELNET
        return {
            **{name: reported[name] for name in self._settings if name in reported},
            **jvm(f"{root}/{HBASE}"),
            **{f"tsd_{name}": value for name, value in jvm(f"{root}/{TSD}").items()},
            "hbase_version": self._version_of("hbase-server"),
            ACKNOWLEDGED: IN_MEMORY if is_answered else NOWHERE,
            COMPRESSION: "cells by series and hour, DIFF encoding, not compressed",
        }

    def load_spec(self) -> Mapping[str, str]:
        """By HTTP, answered when HBase has the points, or lines of telnet; both at the same port."""
        path = "" if self._trial.subject.method == series.TELNET else "/api/put?sync"
        return self._spec(series.POINTS_DRIVER, table=series.MEASUREMENT, write_path=path)

    def commit_cycles(self) -> int | None:
        """Memstores that became files, by HBase's log."""
        path = Path(self._address.data_dir, ROOT, FLUSH_LOG)
        return path.read_bytes().count(FLUSHED) if self._address.data_dir and path.exists() else None

    def flush(self) -> None:
        """Nothing waits in the TSD, memstores are files, and these are fsynced."""
        self._wait_for_tsd()
        self.asking = "a flush of every region"
        hbase.flush_regions(self._regions, self.left_s(WITHIN_S))
        if self._address.data_dir:
            self._sync(below(Path(self._address.data_dir, ROOT, HBASE)))

    def _wait_for_tsd(self) -> None:
        """Until HBase has every row of telnet. The TSD collects them for a second, so it must have none to send twice,
        more than a second apart."""
        if self._trial.subject.method != series.TELNET:
            return
        deadline = time.monotonic() + self.left_s(WITHIN_S)
        empty_since = math.inf
        while time.monotonic() < empty_since + COLLECTED_S:
            clients = self._get("/api/stats/region_clients", within_s=60)
            waiting = sum(int(client[name]) for client in clients for name in _WAITING)
            empty_since = math.inf if waiting else min(empty_since, time.monotonic())
            if time.monotonic() > deadline:
                raise TargetError(f"the TSD still has {waiting} calls of HBase under way")
            time.sleep(0.1)

    def count(self) -> Counted | None:
        self._wait_for_tsd()
        data = self._trial.work.data
        columns = list(column_types(data))
        groups = self._groups(columns[0])
        rows = {name: self._points_by_device(name, groups) for name in columns}
        by_device = {}
        if of_first := rows[columns[0]]:
            first, last = self._ends(columns[0], min(of_first.values()))
            by_device = {device: (n, first.get(device, 0.0), last.get(device, 0.0)) for device, n in of_first.items()}
        return series.counted_by_column(by_device, rows, data, is_distinct=True)

    def _groups(self, column: str) -> list[str]:
        """Filters of devices for one question each, "*" or "d0|d1": the TSD keeps all points of a question in its heap.
        How many there are is estimated by one device."""
        most = POINTS_AT_ONCE * heap_bytes(self._settings["tsd_jvm_heap"]) // 2**30
        tables = self._trial.work.data.tables
        of_one = sum(self._points_by_device(column, ["d0"]).values())
        size = max(1, most // max(1, of_one))
        if size >= tables:
            return ["*"]
        return ["|".join(f"d{i}" for i in part) for part in series.in_parts(range(tables), size)]

    def _points_by_device(self, column: str, groups: Sequence[str]) -> dict[str, int]:
        begin = self._trial.work.data.start_ms - FIRST_MS
        counts: Counter[str] = Counter()
        for group in groups:
            for device, points in self._ask(column, group, begin, END_MS, downsample="0all-count"):
                counts[device] += int(sum(points.values()))
        return dict(counts)

    def _ends(self, column: str, fewest: int) -> tuple[dict[str, float], dict[str, float]]:
        """First and last times in ms of devices with at least so many rows, from points before the second row and from
        the last row that each should have."""
        data = self._trial.work.data
        first: dict[str, float] = {}
        last: dict[str, float] = {}
        for device, points in self._ask(column, "*", data.start_ms - FIRST_MS, data.start_ms + data.step_ms - 1):
            first[device] = min(first.get(device, math.inf), *map(float, points))
        for device, points in self._ask(column, "*", data.start_ms + (fewest - 1) * data.step_ms, END_MS):
            last[device] = max(last.get(device, 0.0), *map(float, points))
        return first, last

    def _ask(self, column: str, group: str, first: int, last: int, **more: str) -> list[tuple[str, Points]]:
        """The points of each series; a device may have several, of other tags."""
        kind = "wildcard" if group == "*" else "literal_or"
        request = {
            "aggregator": "none",
            "metric": metric(column),
            "filters": [{"type": kind, "tagk": series.DEVICE, "filter": group, "groupBy": True}],
            **more,
        }
        question = json.dumps({"start": first, "end": last, "msResolution": True, "queries": [request]})
        try:
            answers: list[dict[str, Any]] = self._posted(f"the points of {column}", ASKED, question)
        except TargetError as error:
            if NO_SUCH_NAME in error.message:
                return []
            raise
        return [(str(one["tags"][series.DEVICE]), one[POINTS]) for one in answers if one[POINTS]]

    def _reply(self, statement: str, **more: Any) -> Any:
        return self._posted(statement[:80], QUERY_PATH, statement)

    def _cells(self, statement: str, answer: Any) -> Sequence[Cells]:
        return rows_of(statement, answer)
