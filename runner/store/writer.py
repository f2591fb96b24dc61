"""Writes a run while it happens: a sink of events. Losing power loses at most the running trial."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from runner.errors import StoreError
from runner.model import (
    ArtifactMade,
    Event,
    FitReport,
    Interval,
    IntervalSeen,
    Measurement,
    PhaseEntered,
    Plan,
    Sample,
    SampleTaken,
    TrialFinished,
    TrialResult,
    TrialStarted,
)
from runner.store.codec import SCHEMA, to_json
from runner.sweep.vary import label
from runner.trial.series import SERIES_COLUMNS, time_series

_KNOB_COLUMNS = ("vgroups", "partitions", "write_threads", "commit_threads")
_MEASURED = tuple(Measurement.__dataclass_fields__)
POINT_COLUMNS = (
    "trial_id",
    "order",
    "point",
    "replicate",
    "target",
    "runtime",
    "method",
    "variant",
    "cores",
    "disks",
    *_KNOB_COLUMNS,
    *_MEASURED,
    "verdict",
    "reasons",
    "server_cpus",
    "client_cpus",
    "shared_cpus",
    "other_knobs",
    "started_utc",
    "wall_s",
)


class RunWriter:
    """One run's directory. Opened before the first trial, so that a full or read-only disk is known at once."""

    def __init__(
        self, path: Path, plan: Plan, manifest: Mapping[str, Any], results: Sequence[TrialResult] = ()
    ) -> None:
        self.path, self._plan = path, plan
        self._manifest: dict[str, Any] = dict(manifest)
        self._results = list(results)
        self._intervals: list[Interval] = []
        self._samples: list[Sample] = []
        self._window_start_ns = 0
        try:
            (path / "trials").mkdir(parents=True, exist_ok=True)
            self._write("plan.json", to_json(plan))
            self._write_manifest()
            self._write_points()
        except OSError as error:
            raise StoreError(
                f"results cannot be written to {path}: {error.strerror}",
                remedy="give a writable directory with --results DIR",
            ) from None

    @property
    def results(self) -> tuple[TrialResult, ...]:
        """What is done so far."""
        return tuple(self._results)

    def __call__(self, event: Event) -> None:
        """Takes an event of the campaign. Raises StoreError when the disk refuses."""
        try:
            self._take(event)
        except OSError as error:
            raise StoreError(
                f"results cannot be written to {self.path}: {error.strerror}",
                remedy=f"make room, then: scale resume {self.path.name}",
            ) from None

    def _take(self, event: Event) -> None:
        if isinstance(event, TrialStarted):
            self._intervals, self._samples = [], []
            shutil.rmtree(self._trial_dir(event.trial.trial_id), ignore_errors=True)
            self._trial_dir(event.trial.trial_id).mkdir(parents=True)
        elif isinstance(event, PhaseEntered) and event.phase == "measure":
            self._window_start_ns = event.monotonic_ns
        elif isinstance(event, IntervalSeen):
            self._intervals.append(event.interval)
        elif isinstance(event, SampleTaken):
            self._samples.append(event.sample)
        elif isinstance(event, ArtifactMade):
            self._write(f"trials/{event.trial_id}/{event.name}", event.text)
        elif isinstance(event, TrialFinished):
            self._finish_trial(event.result)

    def _trial_dir(self, trial_id: str) -> Path:
        return self.path / "trials" / trial_id

    def _finish_trial(self, result: TrialResult) -> None:
        prefix = f"trials/{result.trial.trial_id}"
        lines = (json.dumps(asdict(sample)) for sample in self._samples)
        self._write(f"{prefix}/samples.jsonl", "".join(line + "\n" for line in lines))
        self._write(f"{prefix}/series.csv", self._series_text())
        self._write(f"{prefix}/trial.json", to_json(result))
        self._results.append(result)
        self._write_points()
        self._write_timeseries()

    def _series_text(self) -> str:
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        out.writerow(("t_s", *SERIES_COLUMNS))
        for t_s, values in time_series(self._intervals, self._samples, self._window_start_ns):
            cells = (values.get(name) for name in SERIES_COLUMNS)
            out.writerow((f"{t_s:.3f}", *("" if v is None else f"{v:.6g}" for v in cells)))
        return text.getvalue()

    def _write_timeseries(self) -> None:
        parts = ["trial_id,t_s," + ",".join(SERIES_COLUMNS) + "\n"]
        for result in self._results:
            path = self._trial_dir(result.trial.trial_id) / "series.csv"
            if path.exists():
                rows = path.read_text(encoding="utf-8").splitlines()[1:]
                parts.append("".join(f"{result.trial.trial_id},{row}\n" for row in rows))
        self._write("timeseries.csv", "".join(parts))

    def _write_points(self) -> None:
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        out.writerow(POINT_COLUMNS)
        for result in sorted(self._results, key=lambda r: (r.trial.level, r.trial.replicate)):
            row = point_row(self._plan, result)
            out.writerow("" if row[c] is None else row[c] for c in POINT_COLUMNS)
        self._write("points.csv", text.getvalue())

    def update_manifest(self, **facts: Any) -> None:
        """Adds what became known later: the server's version, the sampler's cost, the end."""
        self._manifest.update(facts)
        self._write_manifest()

    def _write_manifest(self) -> None:
        self._write(
            "manifest.json", json.dumps({"schema": SCHEMA, **self._manifest}, indent=1, ensure_ascii=False, default=str)
        )

    def write_fit(self, fit: FitReport, name: str) -> None:
        """fit.json, or that of a variant."""
        self._write(name, to_json(fit))

    def write_report(self, name: str, text: str) -> Path:
        """report.md or report.html; returns its path."""
        self._write(name, text)
        return self.path / name

    def _write(self, name: str, text: str) -> None:
        """Replaces a file whole: a reader, or a run after a crash, sees the old or the new one, never half."""
        path = self.path / name
        partial = path.with_name(path.name + ".partial")
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)


def point_row(plan: Plan, result: TrialResult) -> dict[str, Any]:
    """One row of points.csv by column; None for what could not be measured."""
    trial, sweep = result.trial, plan.sweep
    other = {k: v for k, v in trial.knobs.items() if k not in _KNOB_COLUMNS}
    return {
        "trial_id": trial.trial_id,
        "order": trial.order,
        "point": trial.level,
        "replicate": trial.replicate,
        "target": sweep.target,
        "runtime": sweep.runtime,
        "method": trial.variant.get("method", sweep.load.method),
        "variant": label(trial.variant),
        "cores": trial.cores,
        "disks": trial.disks,
        **{k: trial.knobs.get(k) for k in _KNOB_COLUMNS},
        **asdict(result.measurement),
        "verdict": result.verdict.kind.value,
        "reasons": "; ".join(result.verdict.reasons),
        "server_cpus": " ".join(map(str, trial.placement.server_cpus)),
        "client_cpus": " ".join(map(str, trial.placement.client_cpus)),
        "shared_cpus": " ".join(map(str, trial.placement.shared)),
        "other_knobs": " ".join(f"{k}={v}" for k, v in other.items()),
        "started_utc": result.started_utc,
        "wall_s": round(result.wall_s, 3),
    }
