"""Code that the sessions of both versions share: statements by POST /query, the count, answers, and the log on disk."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.base.input_file import below, sync
from scale_sweep.loadgen.content import Content
from scale_sweep.model import Cells, Drawn, Query, Trial
from scale_sweep.server.targets import Address, Counted, Session, series
from scale_sweep.server.targets.influxdb.queries import rows_of
from scale_sweep.server.targets.influxdb.sums import completed, figures_found, statements
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_LOG, ON_DISK, parsed
from scale_sweep.server.targets.web import Web

DATABASE = "scale"
WITHIN_S = 3600.0


class InfluxqlSession(Session):
    """Statements in InfluxQL, one connection for each. log_folder: of the write-ahead log, below the data directory."""

    log_folder = ""

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str], authorization: str = "") -> None:
        super().__init__(trial, address)
        self._settings = settings
        self._web = Web(who="InfluxDB", host=address.host, port=address.port, authorization=authorization)

    def _series(self, statement: str, epoch: str = "ms") -> Iterator[dict[str, Any]]:
        """The series of one statement's answer: each has a name, columns, values and possibly tags. epoch: the unit of
        its times."""
        self.asking = statement[:60]
        answer = self._web.post_json("/query", self.left_s(WITHIN_S), q=statement, db=DATABASE, epoch=epoch)
        yield from _series_of(statement, answer)

    def _run(self, statement: str) -> list[dict[str, Any]]:
        return list(self._series(statement))

    def _load_spec(self, write_path: str) -> dict[str, str]:
        spec = series.load_spec(self._trial, self._address, write_path)
        asking = {"query_path": f"/query?db={DATABASE}&epoch=ms&q=", "answer_rows": "values"}
        return {**spec, **asking} if self._trial.work.counts_requests else spec

    def flush(self) -> None:
        """Syncs the files of its log. With a delay of 0s the server does so itself before it answers."""
        logs = below(Path(self._address.data_dir, self.log_folder)) if self._address.data_dir else ()
        sync(path for path in logs if path.suffix == ".wal")  # a snapshot may become a file meanwhile

    def count(self) -> Counted | None:
        """The rows of each device by its first column, which must be consecutive from the first timestamp on."""
        column = next(iter(series.columns_of(self._trial.work.data)))
        rows = self._by_device(f'count("{column}")', 1)
        first, last = self._by_device(f'first("{column}")', 0), self._by_device(f'last("{column}")', 0)
        by_device = {device: (int(n), float(first[device]), float(last[device])) for device, n in rows.items()}
        return series.counted(by_device, self._trial.work.data, is_distinct=True)

    def _by_device(self, what: str, at: int) -> dict[str, Any]:
        """One value of each device's row: its time (at 0), or the requested value (at 1)."""
        statement = f'SELECT {what} FROM "{series.MEASUREMENT}" GROUP BY "{series.DEVICE}"'
        return {one["tags"][series.DEVICE]: one["values"][0][at] for one in self._series(statement)}

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """Some statements, each over all rows."""
        data = self._trial.work.data
        by_device: dict[str, dict[str, Any]] = {}
        for statement in statements(data, devices):
            for one in self._series(statement.text, epoch="ns"):
                device = one.get("tags", {}).get(series.DEVICE, "")
                by_device.setdefault(device, {}).update(figures_found(statement, one["values"][0], data))
        return {device: completed(figures, data) for device, figures in by_device.items()}

    def stored_tags(self, names: Sequence[str]) -> Mapping[str, Set[tuple[str, ...]]]:
        column, tags_of = next(iter(series.columns_of(self._trial.work.data))), collections.defaultdict(set)
        for one in self._series(f'SELECT first("{column}") FROM "{series.MEASUREMENT}" GROUP BY *'):
            tags_of[one["tags"][series.DEVICE]].add(tuple(str(one["tags"].get(name) or "") for name in names))
        return tags_of

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        return tuple(tuple(rows_of(text, self._series(filled(text, one, names, str)))) for text, one in questions)

    def rows_handed(
        self, query: Query, text: str, drawn: Drawn, names: Sequence[str], content: Content
    ) -> Sequence[Cells]:
        return rows_of(text, _series_of(text, parsed(content)))


def _series_of(statement: str, answer: Any) -> Iterator[dict[str, Any]]:
    for result in answer["results"]:
        if "error" in result:
            raise TargetError(f"InfluxDB refused {statement[:60]!r}: {result['error']}")
        yield from result.get("series", ())


def terms(fsync_delay: str | None) -> dict[str, str]:
    """Where rows are when they are acknowledged, and how they are stored. fsync_delay: of the log, as the server says;
    None: it does not."""
    return {
        ACKNOWLEDGED: ON_DISK if fsync_delay == "0s" else IN_LOG,
        COMPRESSION: "columns by series, compressed by type",
    }
