"""Writes a run during its trials: a sink of events. A power cut loses at most the running trial."""

from __future__ import annotations

import contextlib
import errno
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scale_sweep.analysis.later_trials import with_later_trials
from scale_sweep.base.errors import StoreError
from scale_sweep.judge.figures.counts_per_second import rated_intervals
from scale_sweep.model.events import (
    ArtifactMade,
    Event,
    IntervalSeen,
    IntervalsPlaced,
    PhaseEntered,
    PlanGrew,
    SampleTaken,
    TrialFinished,
    TrialStarted,
)
from scale_sweep.model.fitted import FitReport
from scale_sweep.model.loads import Interval
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.planned import Plan
from scale_sweep.model.samples import Sample
from scale_sweep.results.store.codec import SCHEMA, to_json
from scale_sweep.results.store.events import JOURNAL, Journal
from scale_sweep.results.store.files import RunFiles
from scale_sweep.results.store.run_lock import FIELD, RunLock, record
from scale_sweep.results.store.stored import MANIFEST, is_there, make_folder, new_file, read_text, remove_folder
from scale_sweep.results.store.texts import (
    OPERATIONS,
    TIMESERIES_HEADER,
    operations_text,
    points_text,
    samples_text,
    series_text,
    timeseries_part,
)

REWRITTEN_ON_OPENING = ("manifest.json", "plan.json")


class RunWriter:
    """Written before the first trial, so that a full or read-only disk is found at once."""

    def __init__(
        self, lock: RunLock, plan: Plan, manifest: Mapping[str, Any], results: Sequence[TrialResult] = ()
    ) -> None:
        self._lock, self.run, self.path, self._plan = lock, lock.run, lock.run.path, plan
        self._manifest: dict[str, Any] = {"run": self.path.name} | dict(manifest)  # the run's original name
        self._results = list(results)
        self._intervals: list[Interval] = []
        self._samples: list[Sample] = []
        self._window_start_ns = 0
        self._journal: Journal | None = None
        with self._refusals_told():
            make_folder(self.run, "trials")
            self._files = RunFiles(self.run)
            for name in REWRITTEN_ON_OPENING:
                self._files.heed(name)
            self._manifest[FIELD] = record()
            self._write("plan.json", to_json(plan))
            self._write_manifest()
            self._lock.settle()
            self._write_points()
            unlisted = [r for r in self._results if self._files.list_unlisted(f"trials/{r.trial.trial_id}")]
            if unlisted:  # a full disk or a kill came in between
                self._write_timeseries()
            self._files.write_sums()

    @property
    def original_name(self) -> str:
        return str(self._manifest["run"])

    @property
    def plan(self) -> Plan:
        """It may grow."""
        return self._plan

    @property
    def results(self) -> tuple[TrialResult, ...]:
        return tuple(self._results)

    def __call__(self, event: Event) -> None:
        """Raises StoreError if the disk refuses."""
        with self._refusals_told():
            self._take(event)

    @contextlib.contextmanager
    def _refusals_told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            is_begun = error.errno in (errno.ENOSPC, errno.EDQUOT) and is_there(self.run, MANIFEST)
            raise StoreError(
                f"results cannot be written to {self.path}: {error.strerror}",
                remedy=f"free some space, then: scale resume {shlex.quote(str(self.path))}"
                if is_begun
                else "give a writable directory with free space with --results DIR",
            ) from None

    def _take(self, event: Event) -> None:
        self._note(event)
        if isinstance(event, TrialStarted):
            self._intervals, self._samples, self._window_start_ns = [], [], 0
            folder = f"trials/{event.trial.trial_id}"
            self._files.forget(f"{folder}/")
            remove_folder(self.run, folder)
            make_folder(self.run, folder)
            self._journal = Journal(new_file(self.run, f"{folder}/{JOURNAL}"))
            self._journal.take(event)
        elif isinstance(event, PlanGrew):
            self._plan = event.plan
            self._write("plan.json", to_json(event.plan))
            self._files.write_sums()
        elif isinstance(event, PhaseEntered) and event.phase == "measure":
            self._window_start_ns = event.monotonic_ns
        elif isinstance(event, IntervalSeen):
            self._intervals.append(event.interval)
        elif isinstance(event, IntervalsPlaced):
            self._intervals = list(event.intervals)
        elif isinstance(event, SampleTaken):
            self._samples.append(event.sample)
        elif isinstance(event, ArtifactMade):
            content = event.text.encode() if event.content is None else event.content
            self._files.write_bytes(f"trials/{event.trial_id}/{event.name}", content)
        elif isinstance(event, TrialFinished):
            self._finish_trial(event.result)

    def _note(self, event: Event) -> None:
        if isinstance(event, TrialStarted):
            return
        if isinstance(event, TrialFinished) and self._journal is not None:
            self._write(f"trials/{event.result.trial.trial_id}/{JOURNAL}", self._journal.close())
            self._journal = None
        elif self._journal is not None:
            self._journal.take(event)

    def _finish_trial(self, result: TrialResult) -> None:
        prefix = f"trials/{result.trial.trial_id}"
        is_answered = result.measurement.rows_sent is None
        rated = rated_intervals(self._intervals, result.trial.work, is_answered=is_answered)
        self._write(f"{prefix}/samples.jsonl", samples_text(self._samples))
        self._write(f"{prefix}/series.csv", series_text(rated, self._samples, self._window_start_ns))
        self._write(f"{prefix}/trial.json", to_json(result))
        self._results.append(result)
        self._write_points()
        self._write_timeseries()
        self._files.write_sums()

    def _write_timeseries(self) -> None:
        parts = [TIMESERIES_HEADER]
        for result in self._results:
            name = f"trials/{result.trial.trial_id}/series.csv"
            if is_there(self.run, name):
                parts.append(timeseries_part(result.trial.trial_id, read_text(self.run, name)))
        self._write("timeseries.csv", "".join(parts))

    def _write_points(self) -> None:
        results = with_later_trials(self._plan, self._results)
        self._write("points.csv", points_text(self._plan, results))
        if self._plan.sweep.work.counts_requests:
            self._write(OPERATIONS, operations_text(results))

    def update_manifest(self, **facts: Any) -> None:
        """Adds facts that became known later. Raises StoreError."""
        self._manifest.update(facts)
        with self._refusals_told():
            self._write_manifest()
            self._files.write_sums()

    def _write_manifest(self) -> None:
        document = {"schema": SCHEMA} | self._manifest
        self._write("manifest.json", json.dumps(document, indent=1, ensure_ascii=False, default=str))

    def write_fit(self, fit: FitReport, name: str) -> None:
        """Also of a variant. Raises StoreError."""
        with self._refusals_told():
            self._write(name, to_json(fit))
            self._files.write_sums()

    def write_report(self, name: str, text: str) -> None:
        """Raises StoreError."""
        with self._refusals_told():
            self._write(name, text)
            self._files.write_sums()

    def _write(self, name: str, text: str) -> None:
        self._files.write(name, text, safely=name in REWRITTEN_ON_OPENING)
