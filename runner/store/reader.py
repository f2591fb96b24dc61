"""Reads runs for `resume`, `list`, `show` and `report`. Treats every file as untrusted and writes nothing."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from runner.connections_check import with_checks
from runner.errors import StoreError, UsageError
from runner.model import FOLDED, FitReport, Plan, StoredRun, Trial, TrialResult
from runner.store import upgrade
from runner.store.codec import SCHEMA, from_plain, parsed, unreadable

T = TypeVar("T")
Series = tuple[tuple[float, Mapping[str, float | None]], ...]


def find_run(results: Path, name: str) -> Path:
    """The directory of a run, from a path, a name, the end of one, or "last". Raises UsageError."""
    if not name.strip():
        raise UsageError("RUN is empty", remedy="scale list shows the runs; `last` is the newest")
    direct = Path(name)
    if os.path.isfile(direct / "manifest.json"):  # False also for a name that is too long
        return direct
    runs = run_paths(results)
    if name == "last" and runs:
        return runs[-1]
    found = [path for path in runs if name in path.name]
    if len(found) == 1:
        return found[0]
    raise UsageError(
        f"no run {name!r} in {results}"
        if not found
        else f"{name!r} fits {len(found)} runs in {results}: {', '.join(p.name for p in found[:5])}",
        remedy="scale list shows the runs; `last` is the newest",
    )


def run_paths(results: Path) -> list[Path]:
    """All runs, oldest first."""
    return sorted(p.parent for p in results.glob("*/manifest.json"))


def read_manifest(path: Path) -> Mapping[str, Any]:
    """manifest.json in today's format. Raises StoreError for a format that this version does not read."""
    return _upgraded(upgrade.manifest_now, path / "manifest.json", stored_manifest(path))


def stored_manifest(path: Path) -> Any:
    """manifest.json as it is stored. Raises StoreError."""
    try:
        return json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}/manifest.json cannot be read: {error}") from None


def stored_format(path: Path) -> int:
    """The number of the run's format. Raises StoreError as read_manifest does."""
    return _upgraded(upgrade.format_of_run, path / "manifest.json", stored_manifest(path))


def read_plan(path: Path) -> Plan:
    """plan.json. Raises StoreError, also if a trial's name is not a plain directory name."""
    plan = from_plain(upgraded_plan(path), Plan, path / "plan.json")
    odd = [t.trial_id for t in plan.trials if not re.fullmatch(r"[A-Za-z0-9][\w.,=+-]*", t.trial_id)]
    if odd:
        raise StoreError(f"{path}/plan.json names a trial {odd[0]!r}, which is not a valid name")
    return plan


def trial_counts(path: Path) -> tuple[int, int]:
    """The finished and the planned trials of a run, of every role. Raises StoreError as read_plan does."""
    planned = read_plan(path).trials
    return sum(_done(path, trial).is_file() for trial in planned), len(planned)


def _done(path: Path, trial: Trial) -> Path:
    return path / "trials" / trial.trial_id / "trial.json"


def upgraded_plan(path: Path) -> dict[str, Any]:
    """plan.json as a plain value of today's format. Raises StoreError."""
    file = path / "plan.json"
    return _upgraded(upgrade.plan_now, file, parsed(read_text(file), file))


def read_run(path: Path) -> StoredRun:
    """The run with every finished trial in plan order; its connections checks are applied to verdicts. Raises
    StoreError."""
    manifest = read_manifest(path)
    plan = read_plan(path)
    results, series = [], {}
    for trial in plan.trials:
        done = _done(path, trial)
        if done.is_file():
            results.append(read_result(done))
            series[trial.trial_id] = _series(done.with_name("series.csv"))
    return StoredRun(
        path=str(path),
        manifest=manifest,
        plan=plan,
        results=with_checks(plan, results),
        timeseries=series,
        fit=_fit(path / "fit.json"),
        profiles={name: read_text(file) for name in series if (file := path / "trials" / name / FOLDED).is_file()},
    )


def _fit(path: Path) -> FitReport | None:
    if not path.is_file():
        return None
    return from_plain(read_fit(path), FitReport, path)


def read_fit(path: Path) -> dict[str, Any]:
    """A fit.json as a plain value of today's format. Raises StoreError that names the file."""
    return _upgraded(upgrade.fit_now, path, parsed(read_text(path), path))


def read_result(path: Path) -> TrialResult:
    """The trial.json of a run. Raises StoreError that names the file."""
    return from_plain(upgraded_result(path), TrialResult, path)


def upgraded_result(path: Path) -> dict[str, Any]:
    """trial.json as a plain value of today's format. What an older one lacks is taken from the run's plan."""
    told = parsed(read_text(path), path)
    if _upgraded(upgrade.format_of, path, told) == SCHEMA:
        return dict(told)
    plan = path.parents[2] / "plan.json"
    return _upgraded(upgrade.result_now, path, told, parsed(read_text(plan), plan))


def _upgraded(step: Callable[..., T], path: Path, *documents: Any) -> T:
    """The result of an upgrade step. Raises StoreError that names the document."""
    try:
        return step(*documents)
    except upgrade.FormatUnknown as error:
        raise StoreError(f"{path} {error}", remedy="read it with the version that wrote it") from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise unreadable(path, error) from None


def read_text(path: Path) -> str:
    """A file of a run. Raises StoreError that names the file."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise StoreError(f"{path} cannot be read: {error}") from None


def _series(path: Path) -> Series:
    return series_from_text(read_text(path), path) if path.is_file() else ()


def series_from_text(text: str, path: Path = Path("series.csv")) -> Series:
    """The rows of a series.csv: t_s, then columns. Raises StoreError for a value that is not a number."""
    try:
        return tuple(
            (float(row.pop("t_s")), {k: float(v) if v else None for k, v in row.items()})
            for row in csv.DictReader(io.StringIO(upgrade.table_now(text)))
        )
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise StoreError(f"{path} cannot be read back: {error}", remedy="scale verify names what was changed") from None
