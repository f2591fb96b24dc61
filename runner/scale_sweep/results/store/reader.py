"""Reads runs for `resume`, `list`, `show` and `report`. Treats every file as untrusted and writes nothing."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scale_sweep.analysis.later_trials import with_later_trials
from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.model import FOLDED, FitReport, Plan, Sample, StoredRun, Trial, TrialResult, VerdictKind
from scale_sweep.results.store.codec import document_of, from_json, from_plain
from scale_sweep.results.store.stored import FIT, MANIFEST, PLAN, TRIAL, Folder, is_run, is_there, lines_of, read_text

_JSON_KINDS = {dict: "an object", list: "a list", str: "a text"}
_MANIFEST_KINDS = {
    **dict.fromkeys(("sweep", "host", "tags", "server", "reported_by", "trial_ceilings"), dict),
    **dict.fromkeys(("disks", "data_disks", "findings", "confounds", "command", "disk_ceilings", "repetitions"), list),
    **dict.fromkeys(("status", "created_utc", "run", "data_dir"), str),
}
Series = tuple[tuple[float, Mapping[str, float | None]], ...]
NO_RUNS = "scale sweep makes one; --results names the folder of others"


def find_run(results: Path, name: str, opens: Callable[[Path], Folder] = Folder) -> Folder:
    """The directory of a run, from a path, a name, the end of one, or "last". opens: `own_folder` to write into it.
    Raises UsageError, and what it raises."""
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
    """manifest.json. Raises StoreError, also for a run of another schema."""
    manifest = _document(run, MANIFEST)
    for key, kind in _MANIFEST_KINDS.items():
        if manifest.get(key) is not None and not isinstance(manifest[key], kind):
            raise StoreError(f"{run / MANIFEST} cannot be read back: {key} is not {_JSON_KINDS[kind]}")
    return manifest


def _document(run: Folder, name: str) -> dict[str, Any]:
    """A document of the run as a plain value. Raises StoreError that names the file."""
    return document_of(read_text(run, name), run / name)


def read_plan(run: Folder) -> Plan:
    """plan.json. Raises StoreError, also if a trial's name is not a plain directory name."""
    plan = from_plain(_document(run, PLAN), Plan, run / PLAN)
    for trial in plan.trials:
        _refuse_odd(trial, run / PLAN)
    return plan


def _refuse_odd(trial: Trial, file: Path) -> None:
    """Raises StoreError for a trial whose name is not a plain directory name, or whose level is not above 0."""
    if not re.fullmatch(r"[A-Za-z0-9][\w.,=+-]{0,254}", trial.trial_id):  # the most that a directory's name has
        raise StoreError(f"{file} names a trial {trial.trial_id[:60]!r}, which is not a valid name")
    if trial.level <= 0:
        raise StoreError(f"{file}: the level of {trial.trial_id} is {trial.level:g}; a level is above 0")


def read_verdicts(run: Folder) -> tuple[list[VerdictKind], int]:
    """The verdicts of the finished trials of a run, of every role, and the number of the planned trials. Raises
    StoreError."""
    plan = read_plan(run)
    return [r.verdict.kind for r in with_later_trials(plan, read_results(run, plan))], len(plan.trials)


def folder_of(trial: Trial) -> str:
    return f"trials/{trial.trial_id}"


def done_of(trial: Trial) -> str:
    """The name of a trial's result in its run."""
    return f"{folder_of(trial)}/{TRIAL}"


def read_results(run: Folder, plan: Plan) -> tuple[TrialResult, ...]:
    """The finished trials in plan order, each with the verdict of the trial by itself. Raises StoreError."""
    return tuple(read_result(run, done_of(trial)) for trial in plan.trials if is_there(run, done_of(trial)))


def read_run(run: Folder | Path) -> StoredRun:
    """The run with every finished trial in plan order; connections checks and confirming trials are applied to the
    trials before them. run: open, or its path. Raises StoreError."""
    run = run if isinstance(run, Folder) else Folder(run)
    manifest = read_manifest(run)
    plan = read_plan(run)
    results = read_results(run, plan)
    ended = [trial for trial in plan.trials if is_there(run, done_of(trial))]
    series = {trial.trial_id: _series(run, f"{folder_of(trial)}/series.csv") for trial in ended}
    return StoredRun(
        path=str(run),
        manifest=manifest,
        plan=plan,
        results=with_later_trials(plan, results),
        timeseries=series,
        fit=_fit(run),
        profiles={name: read_text(run, file) for name in series if is_there(run, file := f"trials/{name}/{FOLDED}")},
    )


def _fit(run: Folder) -> FitReport | None:
    return from_plain(read_fit(run, FIT), FitReport, run / FIT) if is_there(run, FIT) else None


def read_fit(run: Folder, name: str) -> dict[str, Any]:
    """A fit of the run as a plain value. Raises StoreError that names the file."""
    return _document(run, name)


def read_result(run: Folder, name: str) -> TrialResult:
    """A trial.json of the run. Raises StoreError that names the file."""
    result = from_plain(_document(run, name), TrialResult, run / name)
    _refuse_odd(result.trial, run / name)
    return result


def read_samples(run: Folder, trial: Trial) -> tuple[Sample, ...]:
    """The samples of a trial. Raises StoreError that names the file."""
    name = f"{folder_of(trial)}/samples.jsonl"
    return tuple(from_json(line, Sample, run / name) for line in lines_of(run, name))


def _series(run: Folder, name: str) -> Series:
    return series_from_text(read_text(run, name), run / name) if is_there(run, name) else ()


def series_from_text(text: str, path: Path = Path("series.csv")) -> Series:
    """The rows of a series.csv: t_s, then columns. Raises StoreError for a value that is not a finite number."""
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
