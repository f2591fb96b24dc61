"""Reads runs, complete or while they grow. Treats every file as untrusted and writes nothing."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scale_sweep.analysis.later_trials import with_later_trials
from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.judge.figures.disturbed import DISTURBANCES
from scale_sweep.model.events import FOLDED, CeilingsMeasured, Event, PlanGrew, TrialFinished
from scale_sweep.model.fitted import FitReport, StoredRun
from scale_sweep.model.measured import TrialResult, VerdictKind
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.proof import Disturbance
from scale_sweep.model.samples import DiskCeiling, Sample
from scale_sweep.results.store.codec import document_of, from_json, from_plain, strict_loads
from scale_sweep.results.store.events import JOURNAL, read_line
from scale_sweep.results.store.stored import (
    FIT,
    MANIFEST,
    PLAN,
    TRIAL,
    Folder,
    is_run,
    is_there,
    lines_of,
    opened,
    read_text,
)

_JSON_KINDS = {dict: "an object", list: "a list", str: "a text"}
_MANIFEST_KINDS = {
    **dict.fromkeys(("sweep", "host", "tags", "server", "reported_by", "trial_ceilings"), dict),
    **dict.fromkeys(("disks", "data_disks", "findings", "confounds", "command", "disk_ceilings", "repetitions"), list),
    **dict.fromkeys(("status", "created_utc", "run", "data_dir"), str),
}
Series = tuple[tuple[float, Mapping[str, float | None]], ...]
NO_RUNS = "scale sweep makes one; --results names the folder of others"


def find_run(results: Path, name: str, opens: Callable[[Path], Folder] = Folder) -> Folder:
    """From a path, a name, the end of one, or "last". opens: `own_folder` to write into it. Raises UsageError."""
    if not name.strip():
        raise UsageError("RUN is empty", remedy="scale list shows the runs; `last` is the newest")
    if is_run(Path(name)):
        return opens(Path(name))
    runs = run_paths(results)
    if name == "last" and runs:
        return opens(runs[-1])
    if not runs:
        raise UsageError(f"no runs in {results}", remedy=NO_RUNS)
    matching = [path for path in runs if name in path.name]
    if len(matching) == 1:
        return opens(matching[0])
    raise UsageError(
        f"no run {name!r} in {results}"
        if not matching
        else f"{name!r} fits {len(matching)} runs in {results}: {', '.join(p.name for p in matching[:5])}",
        remedy="scale list shows the runs; `last` is the newest",
    )


def run_paths(results: Path) -> list[Path]:
    if not os.path.isdir(results):  # also a name that is too long
        return []
    return sorted(path for path in results.glob("*") if is_run(path))


def read_manifest(run: Folder) -> Mapping[str, Any]:
    """Raises StoreError, also for a run of another schema."""
    manifest = _document(run, MANIFEST)
    for key, kind in _MANIFEST_KINDS.items():
        if manifest.get(key) is not None and not isinstance(manifest[key], kind):
            raise StoreError(f"{run / MANIFEST} cannot be read back: {key} is not {_JSON_KINDS[kind]}")
    return manifest


def _document(run: Folder, name: str) -> dict[str, Any]:
    return document_of(read_text(run, name), run / name)


def read_plan(run: Folder) -> Plan:
    """Raises StoreError, also if a trial's name is no plain directory name."""
    plan = from_plain(_document(run, PLAN), Plan, run / PLAN)
    for trial in plan.trials:
        _refuse_odd(trial, run / PLAN)
    return plan


def _refuse_odd(trial: Trial, file: Path) -> None:
    """Raises StoreError."""
    if not re.fullmatch(r"[A-Za-z0-9][\w.,=+-]{0,254}", trial.trial_id):  # the most of a directory's name
        raise StoreError(f"{file} names a trial {trial.trial_id[:60]!r}, which is not a valid name")
    if trial.level <= 0:
        raise StoreError(f"{file}: the level of {trial.trial_id} is {trial.level:g}; a level is above 0")


def read_verdicts(run: Folder) -> tuple[list[VerdictKind], int]:
    """Verdicts of finished trials of every role, and the number of planned trials. Raises StoreError."""
    plan = read_plan(run)
    return [r.verdict.kind for r in with_later_trials(plan, read_results(run, plan))], len(plan.trials)


def folder_of(trial: Trial) -> str:
    return f"trials/{trial.trial_id}"


def done_of(trial: Trial) -> str:
    return f"{folder_of(trial)}/{TRIAL}"


def read_results(run: Folder, plan: Plan) -> tuple[TrialResult, ...]:
    """In plan order, each with the verdict of the trial by itself. Raises StoreError."""
    return tuple(read_result(run, done_of(trial)) for trial in plan.trials if is_there(run, done_of(trial)))


def read_run(run: Folder | Path) -> StoredRun:
    """Finished trials in plan order, with the verdicts that later trials give them. Raises StoreError."""
    run = run if isinstance(run, Folder) else Folder(run)
    manifest = read_manifest(run)
    plan = read_plan(run)
    results = read_results(run, plan)
    ended = [trial for trial in plan.trials if is_there(run, done_of(trial))]
    series = {trial.trial_id: _series(run, f"{folder_of(trial)}/series.csv") for trial in ended}
    profiles, disturbances = extra_files(run, ended)
    return StoredRun(
        path=str(run),
        manifest=manifest,
        plan=plan,
        results=with_later_trials(plan, results),
        timeseries=series,
        fit=from_plain(read_fit(run, FIT), FitReport, run / FIT) if is_there(run, FIT) else None,
        profiles=profiles,
        disturbances=disturbances,
    )


def extra_files(run: Folder, trials: Sequence[Trial]) -> tuple[dict[str, str], dict[str, tuple[Disturbance, ...]]]:
    """By trial: the stacks of the profiled ones, the disturbances of proofs. Raises StoreError."""
    profiles, disturbances = {}, {}
    for trial in trials:
        if is_there(run, name := f"{folder_of(trial)}/{FOLDED}"):
            profiles[trial.trial_id] = read_text(run, name)
        if is_there(run, name := f"{folder_of(trial)}/{DISTURBANCES}"):
            rows = (from_json(line, Disturbance, run / name) for line in lines_of(run, name))
            disturbances[trial.trial_id] = tuple(rows)
    return profiles, disturbances


def read_fit(run: Folder, name: str) -> dict[str, Any]:
    """Raises StoreError that names the file."""
    return _document(run, name)


def read_result(run: Folder, name: str) -> TrialResult:
    """Raises StoreError that names the file."""
    result = from_plain(_document(run, name), TrialResult, run / name)
    _refuse_odd(result.trial, run / name)
    return result


def read_samples(run: Folder, trial: Trial) -> tuple[Sample, ...]:
    """Raises StoreError that names the file."""
    name = f"{folder_of(trial)}/samples.jsonl"
    return tuple(from_json(line, Sample, run / name) for line in lines_of(run, name))


def _series(run: Folder, name: str) -> Series:
    return series_from_text(read_text(run, name), run / name) if is_there(run, name) else ()


def series_from_text(text: str, path: Path = Path("series.csv")) -> Series:
    """Raises StoreError for a value that is not a finite number."""
    try:
        return tuple(
            (_number("t_s", row.pop("t_s")), {k: _number(k, v) if v else None for k, v in row.items()})
            for row in csv.DictReader(io.StringIO(text))
        )
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise StoreError(
            f"{path} cannot be read back: {error}", remedy="scale verify names the changed files"
        ) from None


def _number(column: str, text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{column}: {text} is not a number of a run")
    return value


LINE_MAX = 1 << 20  # of a journal


def ceilings_of(run: Folder) -> CeilingsMeasured:
    manifest = read_manifest(run)
    rates, disks = manifest.get("trial_ceilings") or {}, manifest.get("disk_ceilings") or ()
    where = run / MANIFEST
    return CeilingsMeasured(
        rows_per_s=from_plain(rates, dict[str, float], where), disks=from_plain(disks, tuple[DiskCeiling, ...], where)
    )


class Follower:
    """Yields each event once."""

    def __init__(self, run: Folder) -> None:
        self._run = run
        self._finished: set[str] = set()
        self._current: Trial | None = None
        self._offset = 0
        self._ceilings_told = False
        self.plan: Plan = read_plan(run)

    def poll(self) -> Iterator[Event]:
        """Since the last call. Raises StoreError."""
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
        """Infinity if it has not been written yet."""
        try:
            with opened(self._run, f"{folder_of(trial)}/{JOURNAL}") as file:
                return float(strict_loads(file.readline(LINE_MAX).decode())["unix_s"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return math.inf

    def _tail(self, trial: Trial) -> Iterator[Event]:
        """New complete lines of a journal, which is shorter after the trial has ended or started again."""
        name = f"{folder_of(trial)}/{JOURNAL}"
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
