"""Follows a run from another process, during or after it: the events of its trials, read from its files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

from scale_sweep.model import CeilingsMeasured, DiskCeiling, Event, Plan, PlanGrew, Trial, TrialFinished
from scale_sweep.results.store import strict
from scale_sweep.results.store.codec import from_plain
from scale_sweep.results.store.journal import NAME, read_line
from scale_sweep.results.store.reader import done_of, folder_of, read_manifest, read_plan, read_result
from scale_sweep.results.store.stored import MANIFEST, Folder, is_there, opened

LINE_MAX = 1 << 20  # bytes of a line of a journal


def ceilings_of(run: Folder) -> CeilingsMeasured:
    manifest = read_manifest(run)
    rates, disks = manifest.get("trial_ceilings") or {}, manifest.get("disk_ceilings") or ()
    where = run / MANIFEST
    return CeilingsMeasured(
        rows_per_s=from_plain(rates, dict[str, float], where), disks=from_plain(disks, tuple[DiskCeiling, ...], where)
    )


class Follower:
    """Yields each event once. plan: the current plan, which may grow during the run."""

    def __init__(self, run: Folder) -> None:
        self._run = run
        self._finished: set[str] = set()
        self._current: Trial | None = None
        self._offset = 0
        self._ceilings_told = False
        self.plan: Plan = read_plan(run)

    def poll(self) -> Iterator[Event]:
        """The events since the last call. Raises StoreError for a file that cannot be read."""
        before, self.plan = self.plan, read_plan(self._run)
        if self.plan != before:
            yield PlanGrew(plan=self.plan)
        if not self._ceilings_told and (ceilings := ceilings_of(self._run)).rows_per_s:
            self._ceilings_told = True
            yield ceilings
        for trial in sorted(self._waiting(), key=self._started):
            yield from self._tail(trial)
            if is_there(self._run, done_of(trial)):
                self._finished.add(trial.trial_id)
                yield TrialFinished(result=read_result(self._run, done_of(trial)))
                self._current = None

    def _waiting(self) -> list[Trial]:
        open_trials = [trial for trial in self.plan.trials if trial.trial_id not in self._finished]
        return [trial for trial in open_trials if is_there(self._run, folder_of(trial))]

    def _started(self, trial: Trial) -> float:
        """The trial's start time; infinity if it has not been written yet."""
        try:
            with opened(self._run, f"{folder_of(trial)}/{NAME}") as file:
                return float(strict.loads(file.readline(LINE_MAX).decode())["unix_s"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return math.inf

    def _tail(self, trial: Trial) -> Iterator[Event]:
        """The new complete lines of the trial's journal. The journal is shorter after the trial has ended or started
        again."""
        name = f"{folder_of(trial)}/{NAME}"
        is_new = self._current is None or self._current.trial_id != trial.trial_id
        offset = 0 if is_new else self._offset
        try:
            with opened(self._run, name) as file:
                if os.fstat(file.fileno()).st_size < offset:
                    return
                file.seek(offset)
                content = file.read()
        except FileNotFoundError:
            return
        whole = content[: content.rfind(b"\n") + 1]
        self._current, self._offset = trial, offset + len(whole)
        for line in whole.decode(errors="replace").splitlines():
            yield read_line(line, trial, self._run / name)
