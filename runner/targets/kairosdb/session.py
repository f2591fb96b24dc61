"""A session with KairosDB over HTTP: the count by series, and a flush that watches the file of its H2 database."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.errors import TargetError
from runner.model import Cells, Drawn, Trial
from runner.targets import Address, Counted, Session, series
from runner.targets.java import effective as jvm
from runner.targets.kairosdb.queries import QUERY_PATH, rows_of
from runner.targets.marks import filled
from runner.targets.nouns import ACKNOWLEDGED, COMPRESSION, IN_MEMORY
from runner.targets.web import Web

WITHIN_S = 3600.0
DATABASE = "kairosdb/h2"  # in the trial's directory
FLUSHED = "scale_flush"  # the series for a flush's own point
_DAY_MS = 86_400_000


class KairosdbSession(Session):
    """One connection for each question."""

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address)
        self._settings = settings
        self._web = Web(who="KairosDB", host=address.host, port=address.port)

    def not_ready(self) -> str:
        """The server's message while it starts."""
        self.asking = "/api/v1/version"
        try:
            self._web.get("/api/v1/version", self.left_s(10))
        except TargetError as error:
            return error.message
        return ""

    def version(self) -> str:
        """The version as the server reports it, without its build time."""
        said = str(self._web.get_json("/api/v1/version", self.left_s(10))["version"])
        return said.removeprefix("KairosDB ").rpartition(".")[0]

    def expected(self) -> Mapping[str, str]:
        """Everything that was set. KairosDB does not report its own settings: the trial notes that they are not
        confirmed."""
        return self._settings

    def effective(self) -> Mapping[str, str]:
        """The JVM's resources."""
        terms = {ACKNOWLEDGED: IN_MEMORY, COMPRESSION: "rows of H2, not compressed"}
        return {**jvm(self._address.data_dir), **terms}

    def load_spec(self) -> Mapping[str, str]:
        spec = series.points_spec(self._trial, self._address.host, self._address.port, "/api/v1/datapoints")
        asking = {"query_path": QUERY_PATH, "query_posted": "1", "answer_rows": "values", "answer_column": "name"}
        return {**spec, **asking} if self._trial.work.counts_requests else spec

    def commit_cycles(self) -> int | None:
        """Chunks that H2 has written into its file, by the file's header, which may be some chunks behind."""
        files = self._files()
        if not files:
            return None
        with files[0].open("rb") as file:
            chunk = re.search(rb"\bchunk:([0-9a-f]+)", file.read(4096))
        return int(chunk.group(1), 16) if chunk else 0

    def _files(self) -> list[Path]:
        """The files of the database; none if the server is not ours."""
        return list(Path(self._address.data_dir, DATABASE).glob("*.mv.db")) if self._address.data_dir else []

    def flush(self) -> None:
        """Returns when every commit is in the database's file, and the file is fsynced.

        H2 writes commits every half second, and has no command for it over HTTP. So this writes a point and watches the
        file until it changes, twice: the first change may have started before the point, the second has not.
        """
        self.asking = "H2 to write its file"
        files = self._files()
        for _ in range(2 if files else 0):
            before = files[0].stat().st_mtime_ns
            point = [{"name": FLUSHED, "tags": {series.DEVICE: "d0"}, "datapoints": [[time.time_ns() // 1_000_000, 1]]}]
            self._web.post_text("/api/v1/datapoints", self.left_s(WITHIN_S), json.dumps(point))
            deadline = time.monotonic() + self.left_s(60)
            while files[0].stat().st_mtime_ns == before:
                if time.monotonic() > deadline:
                    raise TargetError("H2 did not write its file within a minute of a commit")
                time.sleep(0.02)
        for path in files:
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def count(self) -> Counted | None:
        """The points of each column of each device: equal for all columns, consecutive from the first timestamp on."""
        names = list(series.columns_of(self._trial.work.data))
        counts = [self._by_device(name, "count") for name in names]
        first, last = self._by_device(names[0], "first"), self._by_device(names[0], "last")
        found = {device: (int(n), first[device][0], last[device][0]) for device, (_, n) in counts[0].items()}
        counted = series.counted(found, self._trial.work.data)
        of_first = {device: n for device, (_, n) in counts[0].items()}
        unlike = [
            name
            for name, other in zip(names, counts, strict=True)
            if {device: n for device, (_, n) in other.items()} != of_first
        ]
        gaps = (f"columns {', '.join(unlike)} have other rows than {names[0]}",) if unlike else ()
        return Counted(rows=counted.rows, is_distinct=True, gaps=(*counted.gaps, *gaps))

    def _by_device(self, column: str, what: str) -> dict[str, tuple[float, float]]:
        """Time and value of an aggregate of each device, over all times from a day before its first one."""
        sampling = {"value": 1000, "unit": "years"}
        query = {
            "start_absolute": self._trial.work.data.start_ms - _DAY_MS,
            "cache_time": 0,
            "metrics": [
                {
                    "name": f"{series.MEASUREMENT}_{column}",
                    "group_by": [{"name": "tag", "tags": [series.DEVICE]}],
                    "aggregators": [{"name": what, "sampling": sampling}],
                }
            ],
        }
        self.asking = f"{what} of {column}"
        answer = self._web.ask_json(QUERY_PATH, self.left_s(WITHIN_S), json.dumps(query))
        found: dict[str, tuple[float, float]] = {}
        for one in answer["queries"][0]["results"]:
            if one["values"]:
                found[_device_of(one)] = (float(one["values"][0][0]), float(one["values"][0][1]))
        return found

    def answers(self, asked: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        return tuple(self._answer(filled(text, one, names, str)) for text, one in asked)

    def _answer(self, text: str) -> tuple[Cells, ...]:
        self.asking = text[:80]
        return rows_of(text, self._web.ask_json(QUERY_PATH, self.left_s(WITHIN_S), text)["queries"])


def _device_of(result: Mapping[str, Any]) -> str:
    (device,) = result["tags"][series.DEVICE]
    return str(device)
