"""Prometheus as a database, loaded by its remote write receiver."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from scale_sweep.base.errors import TargetError
from scale_sweep.base.input_file import below, sync
from scale_sweep.experiment.work.sums import column_types
from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Counted, Installation, Target, series
from scale_sweep.server.targets.base import ENVIRONMENT, cores_of
from scale_sweep.server.targets.installations import packaged, refused_flags, run_program
from scale_sweep.server.targets.prometheus.prometheus_facts import WINDOW
from scale_sweep.server.targets.promql import EVER_MS, TYPES, PromqlSession, end_of_time, in_seconds, metric
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_LOG

Answer = TypeVar("Answer")
ROOT = "prometheus"
LOGS = ("wal", "wbl")  # of rows in the order of time, and of others
_COUNTERS = ("prometheus_tsdb_compactions_total", "prometheus_tsdb_head_truncations_total")
_LOST = ("prometheus_tsdb_wal_writes_failed_total", "prometheus_tsdb_out_of_order_wbl_writes_failed_total")
_ROLLUPS = {"values": "count", "sum": "sum", "least": "min", "greatest": "max"}
_ADDED = ("count", "sum")
_MOVED = "cannot populate chunk"  # which became part of a block meanwhile
_MOVED_S = 10.0
_DURATION = re.compile(rf"{WINDOW}: (\S+)")


class PrometheusSession(PromqlSession):
    who = "Prometheus"
    ready_path = "/-/ready"

    def version(self) -> str:
        return str(self._status("buildinfo")["version"])

    def effective(self) -> Mapping[str, str]:
        """An item of its file at its default is not reported."""
        flags = {name: str(value) for name, value in self._status("flags").items() if name in self._settings}
        window = _DURATION.search(self._status("config")["yaml"])
        threads = {"gomaxprocs": str(self._status("runtimeinfo")["GOMAXPROCS"])}
        terms = {ACKNOWLEDGED: IN_LOG, COMPRESSION: "columns by series, differences of times and XOR of values"}
        return {**flags, WINDOW: window.group(1) if window else "0s", **threads, **terms}

    def _status(self, name: str) -> Mapping[str, Any]:
        status: Mapping[str, Any] = self._get(f"/api/v1/status/{name}", within_s=60)["data"]
        return status

    def load_spec(self) -> Mapping[str, str]:
        return self._spec(series.SAMPLES_DRIVER, table=series.MEASUREMENT, write_path="/api/v1/write")

    def commit_cycles(self) -> int | None:
        """Blocks, and ends of the part in memory."""
        counters = self._metrics()
        return int(sum(counters.get(name, 0) for name in _COUNTERS))

    def flush(self) -> None:
        """Syncs its logs. Blocks are synced when they are made."""
        root = Path(self._address.data_dir, ROOT)
        if self._address.data_dir:
            sync(path for name in LOGS for path in below(root / name))  # one may become a block meanwhile

    def count(self) -> Counted | None:
        """By column and device: equal for all columns, and within the time of so many rows. A series has one sample at
        a time, so none is missing."""
        data = self._trial.work.data
        rows = {name: self._by_device("sum", "count", name, end_of_time(data), EVER_MS) for name in column_types(data)}
        column, of_first = next(iter(rows.items()))
        by_device: dict[str, tuple[int, float, float]] = {}
        for n in set(of_first.values()):
            span_ms = (int(n) - 1) * data.step_ms
            within = self._by_device("sum", "count", column, in_seconds(f"{data.start_ms + span_ms}e-3"), span_ms + 1)
            for device in (device for device, count in of_first.items() if count == n):
                is_whole = within.get(device) == n
                first = float(data.start_ms) if is_whole else float("inf")
                by_device[device] = (int(n), first, data.start_ms + span_ms if is_whole else float("inf"))
        counters = self._metrics()
        lost = {name: counters[name] for name in _LOST if counters.get(name)}
        gaps = (f"Prometheus could not write its log: {lost}",) if lost else ()
        return series.counted_by_column(by_device, rows, data, *gaps)

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        data = self._trial.work.data
        labels = f'{series.DEVICE}=~"{"|".join(some)}"' if (some := series.named(devices)) else ""
        figures_of: dict[str, dict[str, Any]] = {}
        end, columns = end_of_time(data), column_types(data)
        for name in columns:
            for figure, rollup in _ROLLUPS.items():
                outer = "sum" if rollup in _ADDED else rollup
                values = self._by_device(outer, rollup, name, end, EVER_MS, labels, all_at_once=not devices)
                for device, value in values.items():
                    figures_of.setdefault(device, {})[f"{name}.{figure}"] = value
        for figures in figures_of.values():
            figures["rows"] = max(figures.get(f"{name}.values", 0.0) for name in columns)
        return figures_of

    def _reply(self, statement: str, **more: Any) -> Any:
        return _until_still(lambda: super(PrometheusSession, self)._reply(statement))

    def _at(self, query: str, time: str) -> list[Mapping[str, Any]]:
        return _until_still(lambda: super(PrometheusSession, self)._at(query, time))

    def _by_device(
        self,
        outer: str,
        rollup: str,
        column: str,
        end: str,
        span_ms: int,
        labels: str = "",
        *,
        all_at_once: bool = False,
    ) -> dict[str, float]:
        """By device, or of all by "": of the samples of a column in a window that ends there."""
        by = "" if all_at_once else series.DEVICE
        selected = f"{metric(column)}{{{labels}}}[{span_ms}ms]"
        answer = self._at(f"{outer} by ({by}) ({rollup}_over_time({selected}))", end)
        return {one["metric"].get(series.DEVICE, ""): float(one["value"][1]) for one in answer}


def _until_still(ask: Callable[[], Answer]) -> Answer:
    """Again while the server moves samples that it was about to read. Raises TargetError."""
    deadline = time.monotonic() + _MOVED_S
    while True:
        try:
            return ask()
        except TargetError as error:
            if _MOVED not in error.message or time.monotonic() > deadline:
                raise
        time.sleep(0.2)


PROGRAM = "prometheus"
_NOT_FLAGS = {"connections", "gomaxprocs", WINDOW}
_REFUSED = "Error parsing"
_DOUBTFUL = re.compile(
    r"level=error|panic|fatal error|no space left|out of (order|bounds|memory)|compaction failed|corrupt", re.IGNORECASE
)


class PrometheusTarget(Target):
    doubtful = _DOUBTFUL
    types = TYPES
    session_type = PrometheusSession

    def find(self, home: str) -> Installation | None:
        server = packaged(self.facts.name, PROGRAM, home, "--version", r"version (\d+(?:\.\d+)*)")
        return server if server and server.version else None

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        knobs = {name: value for name, value in trial.knobs.items() if name != "connections"}
        return {"gomaxprocs": cores_of(trial), **knobs}

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """In its own words: it reads all flags before it misses its file."""
        flags = _flags(self.settings(trial, is_ours=True))
        done = run_program((f"{home}/bin/{PROGRAM}", *flags, "--config.file=/dev/null/none"))
        is_refused = done is not None and _REFUSED in done.stderr
        return refused_flags("Prometheus", done, line_begins=_REFUSED) if is_refused else ()

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        settings = self.settings(trial, is_ours=True)
        root = f"{site.data_dir}/{ROOT}"
        return ServerSpec(
            argv=(
                f"{site.home.rstrip('/')}/bin/{PROGRAM}",
                *_flags(settings),
                f"--config.file={site.data_dir}/prometheus.yml",
                f"--storage.tsdb.path={root}",
                f"--web.listen-address={site.bind_address}:{site.port}",
                "--web.enable-remote-write-receiver",
                "--log.level=warn",
            ),
            folders=(root,),
            files={f"{site.data_dir}/prometheus.yml": f"storage:\n  tsdb:\n    {WINDOW}: {settings[WINDOW]}\n"},
            env={"GOMAXPROCS": settings["gomaxprocs"], **ENVIRONMENT},
            ports=(site.port,),
            stop_timeout_s=30.0,
        )


def _flags(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"--{name}={value}" for name, value in settings.items() if name not in _NOT_FLAGS)
